extension SignalProtocol {
  /// Emits the newest element every `interval` seconds, if one has arrived since the last time.
  public func sample(interval: Double, on scheduler: any Scheduler) -> Signal<Element, Error> {
    Signal { observer in
      let timer = SerialDisposable(otherDisposable: nil)
      var newest: Element?
      func wait() {
        timer.otherDisposable = scheduler.schedule(after: interval) {
          if let element = newest {
            newest = nil
            observer.receive(element)
          }
          if !observer.isDisposed { wait() }
        }
      }
      wait()
      let run = observe { event in
        guard case .next(let element) = event else { return observer.on(event) }
        newest = element
      }
      return CompositeDisposable([run, timer])
    }
  }
}
