/// An optional, for extensions that need to know that something is one.
@usableFromInline
package protocol OptionalProtocol<Wrapped> {
  associatedtype Wrapped

  /// The optional itself.
  var _unbox: Wrapped? { get }
}

extension Optional: OptionalProtocol {
  @inlinable
  package var _unbox: Wrapped? { self }
}

extension SignalProtocol where Element: OptionalProtocol {
  /// Emits what `transform` makes of what is in each element.
  @inlinable
  package func mapWrapped<Output>(
    _ transform: @escaping (Element.Wrapped) -> Output
  ) -> Signal<Output?, Error> {
    map { $0._unbox.map(transform) }
  }

  /// Emits `replacement` in place of `nil`.
  @inlinable
  package func replaceNils(with replacement: Element.Wrapped) -> Signal<Element.Wrapped, Error> {
    map { $0._unbox ?? replacement }
  }

  /// Drops `nil`.
  @inlinable
  package func ignoreNils() -> Signal<Element.Wrapped, Error> {
    compactMap(\._unbox)
  }
}
