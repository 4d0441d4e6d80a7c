extension SignalProtocol {
  /// Emits at most one element per interval of `seconds`: the first, then the newest of each
  /// interval.
  ///
  /// - Parameter latest: Whether the newest element of an interval is emitted at its end or at
  ///   completion. If `false`, elements within an interval are dropped.
  public func throttle(
    for seconds: Double, queue scheduler: any Scheduler, latest: Bool = true
  ) -> Signal<Element, Error> {
    Signal { observer in
      let timer = SerialDisposable(otherDisposable: nil)
      var isClosed = false
      var held: Element?
      func emit(_ element: Element) {
        isClosed = true
        timer.otherDisposable = scheduler.schedule(after: seconds) {
          isClosed = false
          guard let element = held else { return }
          held = nil
          emit(element)
        }
        observer.receive(element)
      }
      let run = observe { event in
        switch event {
        case .next(let element):
          if !isClosed { emit(element) } else if latest { held = element }
        case .failed(let error): observer.fail(error)
        case .completed:
          if let held { observer.receive(held) }
          observer.complete()
        }
      }
      return CompositeDisposable([run, timer])
    }
  }
}
