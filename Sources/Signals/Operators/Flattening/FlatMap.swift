extension SignalProtocol {
  /// Flattens the signals that `transform` returns for each element.
  @inlinable
  public func flatMap<Inner: SignalProtocol>(
    _ strategy: FlattenStrategy, _ transform: @escaping (Element) -> Inner
  ) -> Signal<Inner.Element, Error> where Inner.Error == Error {
    map(transform).flatten(strategy)
  }

  /// Flattens the signals that `transform` returns for each element, one after another.
  @inlinable
  public func flatMapConcat<Inner: SignalProtocol>(
    _ transform: @escaping (Element) -> Inner
  ) -> Signal<Inner.Element, Error> where Inner.Error == Error {
    flatMap(.concat, transform)
  }

  /// Flattens the signals that `transform` returns for each element, always following the newest.
  @inlinable
  public func flatMapLatest<Inner: SignalProtocol>(
    _ transform: @escaping (Element) -> Inner
  ) -> Signal<Inner.Element, Error> where Inner.Error == Error {
    flatMap(.latest, transform)
  }

  /// Flattens the signals that `transform` returns for each element, all at once.
  @inlinable
  public func flatMapMerge<Inner: SignalProtocol>(
    _ transform: @escaping (Element) -> Inner
  ) -> Signal<Inner.Element, Error> where Inner.Error == Error {
    flatMap(.merge, transform)
  }
}

extension SignalProtocol where Error == Never {
  /// Flattens the signals that `transform` returns for each element.
  @inlinable
  @_disfavoredOverload
  public func flatMap<Inner: SignalProtocol>(
    _ strategy: FlattenStrategy, _ transform: @escaping (Element) -> Inner
  ) -> Signal<Inner.Element, Inner.Error> {
    map(transform).flatten(strategy)
  }

  /// Flattens the signals that `transform` returns for each element, one after another.
  @inlinable
  @_disfavoredOverload
  public func flatMapConcat<Inner: SignalProtocol>(
    _ transform: @escaping (Element) -> Inner
  ) -> Signal<Inner.Element, Inner.Error> {
    flatMap(.concat, transform)
  }

  /// Flattens the signals that `transform` returns for each element, always following the newest.
  @inlinable
  @_disfavoredOverload
  public func flatMapLatest<Inner: SignalProtocol>(
    _ transform: @escaping (Element) -> Inner
  ) -> Signal<Inner.Element, Inner.Error> {
    flatMap(.latest, transform)
  }

  /// Flattens the signals that `transform` returns for each element, all at once.
  @inlinable
  @_disfavoredOverload
  public func flatMapMerge<Inner: SignalProtocol>(
    _ transform: @escaping (Element) -> Inner
  ) -> Signal<Inner.Element, Inner.Error> {
    flatMap(.merge, transform)
  }
}
