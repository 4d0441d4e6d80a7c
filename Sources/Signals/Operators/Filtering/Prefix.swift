extension SignalProtocol {
  /// Emits the first `maxLength` elements and completes with the last of them.
  @inlinable
  public func prefix(maxLength: Int) -> Signal<Element, Error> {
    guard maxLength > 0 else { return .completed() }
    return Signal { observer in
      var taken = 0
      return observe { event in
        guard case .next(let element) = event else { return observer.on(event) }
        taken += 1  // before the call, which may re-enter
        if taken < maxLength {
          observer.receive(element)
        } else if taken == maxLength {
          observer.receive(lastElement: element)
        }
      }
    }
  }

  /// Emits the first element and completes.
  @inlinable
  public func first() -> Signal<Element, Error> {
    prefix(maxLength: 1)
  }

  /// Emits the element at `index`, if there is one, and completes.
  @inlinable
  public func output(at index: Int) -> Signal<Element, Error> {
    prefix(maxLength: index + 1).dropFirst(index)
  }

  /// Emits elements until `shouldContinue` returns `false`, and completes.
  ///
  /// - Parameter inclusive: Whether to emit the element that stops the signal.
  @inlinable
  public func prefix(
    while shouldContinue: @escaping (Element) -> Bool, inclusive: Bool = false
  ) -> Signal<Element, Error> {
    Signal { observer in
      observe { event in
        guard case .next(let element) = event else { return observer.on(event) }
        let isWanted = shouldContinue(element)
        if isWanted || inclusive { observer.receive(element) }
        if !isWanted { observer.complete() }
      }
    }
  }

  /// Emits elements until the other signal sends any event, and completes.
  @inlinable
  public func prefix(untilOutputFrom other: some SignalProtocol) -> Signal<Element, Error> {
    Signal { observer in
      let runs = CompositeDisposable()
      runs.add(disposable: other.observe { _ in observer.complete() })
      guard !observer.isDisposed else { return runs }
      runs.add(disposable: observe(with: observer.on))
      return runs
    }
  }
}
