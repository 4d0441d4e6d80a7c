extension SignalProtocol {
  /// Emits the elements of the signals that `transform` makes of each element.
  @inlinable
  package func flatMap<Inner: SignalProtocol>(
    _ strategy: FlattenStrategy, _ transform: @escaping (Element) -> Inner
  ) -> Signal<Inner.Element, Error> where Inner.Error == Error {
    map(transform).flatten(strategy)
  }

  /// Emits the elements of the signals that `transform` makes of each element, one after the other.
  @inlinable
  package func flatMapConcat<Inner: SignalProtocol>(
    _ transform: @escaping (Element) -> Inner
  ) -> Signal<Inner.Element, Error> where Inner.Error == Error {
    flatMap(.concat, transform)
  }

  /// Emits the elements of the signals that `transform` makes of each element, of the newest only.
  @inlinable
  package func flatMapLatest<Inner: SignalProtocol>(
    _ transform: @escaping (Element) -> Inner
  ) -> Signal<Inner.Element, Error> where Inner.Error == Error {
    flatMap(.latest, transform)
  }

  /// Emits the elements of the signals that `transform` makes of each element, all at once.
  @inlinable
  package func flatMapMerge<Inner: SignalProtocol>(
    _ transform: @escaping (Element) -> Inner
  ) -> Signal<Inner.Element, Error> where Inner.Error == Error {
    flatMap(.merge, transform)
  }
}

extension SignalProtocol where Error == Never {
  /// Emits the elements of the signals that `transform` makes of each element.
  @inlinable
  @_disfavoredOverload
  package func flatMap<Inner: SignalProtocol>(
    _ strategy: FlattenStrategy, _ transform: @escaping (Element) -> Inner
  ) -> Signal<Inner.Element, Inner.Error> {
    map(transform).flatten(strategy)
  }

  /// Emits the elements of the signals that `transform` makes of each element, one after the other.
  @inlinable
  @_disfavoredOverload
  package func flatMapConcat<Inner: SignalProtocol>(
    _ transform: @escaping (Element) -> Inner
  ) -> Signal<Inner.Element, Inner.Error> {
    flatMap(.concat, transform)
  }

  /// Emits the elements of the signals that `transform` makes of each element, of the newest only.
  @inlinable
  @_disfavoredOverload
  package func flatMapLatest<Inner: SignalProtocol>(
    _ transform: @escaping (Element) -> Inner
  ) -> Signal<Inner.Element, Inner.Error> {
    flatMap(.latest, transform)
  }

  /// Emits the elements of the signals that `transform` makes of each element, all at once.
  @inlinable
  @_disfavoredOverload
  package func flatMapMerge<Inner: SignalProtocol>(
    _ transform: @escaping (Element) -> Inner
  ) -> Signal<Inner.Element, Inner.Error> {
    flatMap(.merge, transform)
  }
}
