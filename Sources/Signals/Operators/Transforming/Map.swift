extension SignalProtocol {
  /// Emits `transform` of each element.
  @inlinable
  public func map<Output>(
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

  /// Emits `replacement` for each element.
  @inlinable
  public func replaceElements<Replacement>(
    with replacement: Replacement
  ) -> Signal<Replacement, Error> {
    map { _ in replacement }
  }

  /// Emits an empty value for each element.
  @inlinable
  public func eraseType() -> Signal<Void, Error> {
    map { _ in }
  }
}

extension SignalProtocol where Error == any Swift.Error {
  /// Emits `transform` of each element; fails with the error that it throws.
  @inlinable
  @_disfavoredOverload
  public func map<Output>(
    _ transform: @escaping (Element) throws -> Output
  ) -> Signal<Output, Error> {
    tryMap { element in Result { try transform(element) } }
  }
}
