/// A way to turn a signal of signals into one signal.
public enum FlattenStrategy: Sendable {
  /// Runs one inner signal after another, in the order of arrival.
  case concat

  /// Runs only the newest inner signal, and disposes the previous one.
  case latest

  /// Runs all inner signals at once.
  case merge
}

extension SignalProtocol where Element: SignalProtocol, Element.Error == Error {
  public typealias InnerElement = Element.Element

  /// Emits the elements of the inner signals; fails with the first failure.
  @inlinable
  public func flatten(_ strategy: FlattenStrategy) -> Signal<InnerElement, Error> {
    switch strategy {
    case .concat: concat()
    case .latest: switchToLatest()
    case .merge: merge()
    }
  }
}

extension SignalProtocol where Element: SignalProtocol, Error == Never {
  /// Emits the elements of the inner signals; fails with the first failure.
  @inlinable
  @_disfavoredOverload
  public func flatten(_ strategy: FlattenStrategy) -> Signal<Element.Element, Element.Error> {
    (castError() as Signal<Element, Element.Error>).flatten(strategy)
  }
}

extension SignalProtocol where Element: SignalProtocol, Element.Error == Never {
  /// Emits the elements of the inner signals, which cannot fail.
  @inlinable
  @_disfavoredOverload
  public func flatten(_ strategy: FlattenStrategy) -> Signal<Element.Element, Error> {
    map { $0.castError() as Signal<Element.Element, Error> }.flatten(strategy)
  }
}
