extension SignalProtocol {
  /// Emits each event, including the terminal one, `interval` seconds later.
  public func delay(interval: Double, on scheduler: any Scheduler) -> Signal<Element, Error> {
    Signal { observer in
      let events = TimedEvents(observer, on: scheduler)
      let run = observe { events.add($0, after: interval) }
      return CompositeDisposable([run, events])
    }
  }

  /// Emits each event, including the terminal one, in a separate call from the scheduler.
  public func receive(on scheduler: any Scheduler) -> Signal<Element, Error> {
    delay(interval: 0, on: scheduler)
  }

  /// Starts each run in a call from the scheduler.
  public func subscribe(on scheduler: any Scheduler) -> Signal<Element, Error> {
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
