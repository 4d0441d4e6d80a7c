extension SignalProtocol {
  /// Emits the elements of both signals in the order of arrival; fails with the first failure.
  @inlinable
  public func merge<Other: SignalProtocol>(
    with other: Other
  ) -> Signal<Element, Error> where Other.Element == Element, Other.Error == Error {
    Signal { observer in
      let runs = CompositeDisposable()
      var open = 2
      let forward: Observer<Element, Error> = { event in
        guard event.isCompleted else { return observer.on(event) }
        open -= 1
        if open == 0 { observer.complete() }
      }
      runs.add(disposable: observe(with: forward))
      guard !observer.isDisposed else { return runs }
      runs.add(disposable: other.observe(with: forward))
      return runs
    }
  }

  /// Emits the elements of both signals in the order of arrival; fails with the first failure.
  @inlinable
  @_disfavoredOverload
  public func merge<Other: SignalProtocol>(
    with other: Other
  ) -> Signal<Element, Error> where Other.Element == Element, Other.Error == Never {
    merge(with: other.castError() as Signal<Element, Error>)
  }
}

extension SignalProtocol where Error == Never {
  /// Emits the elements of both signals in the order of arrival; fails with the first failure.
  @inlinable
  @_disfavoredOverload
  public func merge<Other: SignalProtocol>(
    with other: Other
  ) -> Signal<Element, Other.Error> where Other.Element == Element {
    (castError() as Signal<Element, Other.Error>).merge(with: other)
  }
}
