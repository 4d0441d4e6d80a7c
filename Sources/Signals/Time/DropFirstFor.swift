extension SignalProtocol {
  /// Drops the elements that arrive within `seconds` of the start of a run.
  public func dropFirst(for seconds: Double, on scheduler: any Scheduler)
    -> Signal<Element, Error>
  {
    Signal { observer in
      var isOpen = false
      let timer = scheduler.schedule(after: seconds) { isOpen = true }
      let run = observe { event in
        if isOpen || event.isTerminal { observer.on(event) }
      }
      return CompositeDisposable([run, timer])
    }
  }
}
