extension SignalProtocol where Element: SignalProtocol, Element.Error == Error {
  /// Emits the elements of the newest inner signal, and disposes the previous one.
  ///
  /// It completes when the outer signal and the newest inner signal have.
  @inlinable
  public func switchToLatest() -> Signal<Element.Element, Error> {
    Signal { observer in
      let current = SerialDisposable(otherDisposable: nil)
      var newest = 0
      var isInnerRunning = false
      var isOuterComplete = false
      let outer = observe { event in
        switch event {
        case .next(let inner):
          newest += 1
          let number = newest
          isInnerRunning = true
          current.otherDisposable?.dispose()
          // The disposal may have re-entered with a newer signal.
          guard number == newest, !observer.isDisposed else { return }
          current.otherDisposable = nil
          let run = inner.observe { event in
            guard number == newest else { return }
            switch event {
            case .next(let element): observer.receive(element)
            case .failed(let error): observer.fail(error)
            case .completed:
              isInnerRunning = false
              if isOuterComplete { observer.complete() }
            }
          }
          // A signal that triggers a switch while it starts has already been replaced.
          if number == newest { current.otherDisposable = run } else { run.dispose() }
        case .failed(let error): observer.fail(error)
        case .completed:
          isOuterComplete = true
          if !isInnerRunning { observer.complete() }
        }
      }
      return CompositeDisposable([outer, current])
    }
  }
}

extension SignalProtocol where Element: SignalProtocol, Error == Never {
  /// Emits the elements of the newest inner signal, and disposes the previous one.
  @inlinable
  @_disfavoredOverload
  public func switchToLatest() -> Signal<Element.Element, Element.Error> {
    flatten(.latest)
  }
}
