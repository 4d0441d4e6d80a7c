extension SignalProtocol {
  /// Emits what `transform` makes of each element.
  @inlinable
  package func map<Output>(
    _ transform: @escaping (Element) -> Output
  ) -> Signal<Output, Error> {
    Signal.passing { observer in
      observe { event in
        switch event {
        case .next(let element): observer(.next(transform(element)))
        case .failed(let error): observer(.failed(error))
        case .completed: observer(.completed)
        }
      }
    }
  }

  /// Emits the same element in place of each.
  @inlinable
  package func replaceElements<Replacement>(
    with replacement: Replacement
  ) -> Signal<Replacement, Error> {
    map { _ in replacement }
  }

  /// Emits that there was an element, and not which.
  @inlinable
  package func eraseType() -> Signal<Void, Error> {
    map { _ in }
  }
}

extension SignalProtocol where Error == any Swift.Error {
  /// Emits what `transform` makes of each element; fails with what it throws.
  @inlinable
  @_disfavoredOverload
  package func map<Output>(
    _ transform: @escaping (Element) throws -> Output
  ) -> Signal<Output, Error> {
    tryMap { element in Result { try transform(element) } }
  }
}
