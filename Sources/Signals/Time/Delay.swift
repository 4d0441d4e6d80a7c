extension SignalProtocol {
  /// Tells each event so many seconds later, the terminal one too.
  package func delay(interval: Double, on scheduler: any Scheduler) -> Signal<Element, Error> {
    Signal { observer in
      let events = TimedEvents(observer, on: scheduler)
      let run = observe { events.add($0, after: interval) }
      return CompositeDisposable([run, events])
    }
  }

  /// Tells each event, the terminal one too, in a call of its own of the scheduler.
  package func receive(on scheduler: any Scheduler) -> Signal<Element, Error> {
    delay(interval: 0, on: scheduler)
  }

  /// Starts each run in a call of the scheduler.
  package func subscribe(on scheduler: any Scheduler) -> Signal<Element, Error> {
    Signal { observer in
      let current = SerialDisposable(otherDisposable: nil)
      current.otherDisposable = scheduler.schedule {
        guard !observer.isDisposed else { return }
        current.otherDisposable = observe(with: observer.on)
      }
      return current
    }
  }
}
