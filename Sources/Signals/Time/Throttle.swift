extension SignalProtocol {
  /// Emits at most one element in so many seconds: the first, and then the newest of each interval.
  ///
  /// - Parameter latest: Whether the newest of an interval is emitted at its end, or at the end of
  ///   the signal; otherwise what comes in an interval is dropped.
  package func throttle(
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
