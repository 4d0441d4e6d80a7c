// The misspelled associated type is ReactiveKit's.
/// A type with a readable value.
public protocol PropertyProtocol {
  associatedtype ProperyElement

  /// The current value.
  var value: ProperyElement { get }
}
