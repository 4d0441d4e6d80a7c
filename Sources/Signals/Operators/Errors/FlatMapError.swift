extension SignalProtocol {
  /// Continues after a failure with the signal that `recover` returns for the error.
  @inlinable
  public func flatMapError<Other: SignalProtocol>(
    _ recover: @escaping (Error) -> Other
  ) -> Signal<Element, Other.Error> where Other.Element == Element {
    Signal<Element, Other.Error> { observer in
      let current = SerialDisposable(otherDisposable: nil)
      var isFirstRunning = true
      let first = observe { event in
        switch event {
        case .next(let element): observer.receive(element)
        case .failed(let error):
          isFirstRunning = false
          current.otherDisposable = nil
          current.otherDisposable = recover(error).observe(with: observer.on)
        case .completed: observer.complete()
        }
      }
      if isFirstRunning { current.otherDisposable = first }
      return current
    }
  }

  /// Emits `element` instead of a failure and completes.
  @inlinable
  public func replaceError(with element: Element) -> Signal<Element, Never> {
    Signal<Element, Never> { observer in
      observe { event in
        switch event {
        case .next(let element): observer.receive(element)
        case .failed: observer.receive(lastElement: element)
        case .completed: observer.complete()
        }
      }
    }
  }
}
