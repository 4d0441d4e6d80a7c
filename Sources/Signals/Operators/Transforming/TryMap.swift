extension SignalProtocol {
  /// Emits the success that `transform` returns for each element; fails with the first failure.
  @inlinable
  public func tryMap<Output>(
    _ transform: @escaping (Element) -> Result<Output, Error>
  ) -> Signal<Output, Error> {
    map(transform).getValues()
  }
}

extension SignalProtocol where Error == Never {
  /// Emits the success that `transform` returns for each element; fails with the first failure.
  @inlinable
  @_disfavoredOverload
  public func tryMap<Output, Failure>(
    _ transform: @escaping (Element) -> Result<Output, Failure>
  ) -> Signal<Output, Failure> {
    map(transform).getValues()
  }
}
