/// A protocol that only `Optional` adopts, for constraints in extensions.
public protocol OptionalProtocol<Wrapped> {
  associatedtype Wrapped

  /// This value as an optional.
  var _unbox: Wrapped? { get }
}

extension Optional: OptionalProtocol {
  @inlinable
  public var _unbox: Wrapped? { self }
}

extension SignalProtocol where Element: OptionalProtocol {
  /// Emits `transform` of each wrapped value; `nil` stays `nil`.
  @inlinable
  public func mapWrapped<Output>(
    _ transform: @escaping (Element.Wrapped) -> Output
  ) -> Signal<Output?, Error> {
    map { $0._unbox.map(transform) }
  }

  /// Emits `replacement` instead of `nil`.
  @inlinable
  public func replaceNils(with replacement: Element.Wrapped) -> Signal<Element.Wrapped, Error> {
    map { $0._unbox ?? replacement }
  }

  /// Drops `nil` elements.
  @inlinable
  public func ignoreNils() -> Signal<Element.Wrapped, Error> {
    compactMap(\._unbox)
  }
}
