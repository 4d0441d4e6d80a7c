/// How a signal of signals becomes one signal.
@usableFromInline
package enum FlattenStrategy: Sendable {
  /// One signal after the other, in the order in which they came.
  case concat

  /// The newest signal only: the one before is disposed when another comes.
  case latest

  /// All signals at once.
  case merge
}

extension SignalProtocol where Element: SignalProtocol, Element.Error == Error {
  @usableFromInline
  package typealias InnerElement = Element.Element

  /// Emits the elements of the signals that are emitted; fails with the first that fails.
  @inlinable
  package func flatten(_ strategy: FlattenStrategy) -> Signal<InnerElement, Error> {
    switch strategy {
    case .concat: concat()
    case .latest: switchToLatest()
    case .merge: merge()
    }
  }
}

extension SignalProtocol where Element: SignalProtocol, Error == Never {
  /// Emits the elements of the signals that are emitted; fails with the first that fails.
  @inlinable
  @_disfavoredOverload
  package func flatten(_ strategy: FlattenStrategy) -> Signal<Element.Element, Element.Error> {
    (castError() as Signal<Element, Element.Error>).flatten(strategy)
  }
}

extension SignalProtocol where Element: SignalProtocol, Element.Error == Never {
  /// Emits the elements of the signals that are emitted.
  @inlinable
  @_disfavoredOverload
  package func flatten(_ strategy: FlattenStrategy) -> Signal<Element.Element, Error> {
    map { $0.castError() as Signal<Element.Element, Error> }.flatten(strategy)
  }
}
