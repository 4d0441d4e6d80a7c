extension SignalProtocol {
  /// Fails with `error` if no event arrives for `interval` seconds.
  public func timeout(
    after interval: Double, with error: Error, on scheduler: any Scheduler
  ) -> Signal<Element, Error> {
    Signal { observer in
      let timer = SerialDisposable(otherDisposable: nil)
      func wait() {
        timer.otherDisposable?.dispose()
        timer.otherDisposable = scheduler.schedule(after: interval) { observer.fail(error) }
      }
      wait()
      let run = observe { event in
        if event.isTerminal { timer.dispose() } else { wait() }
        observer.on(event)
      }
      return CompositeDisposable([run, timer])
    }
  }
}
