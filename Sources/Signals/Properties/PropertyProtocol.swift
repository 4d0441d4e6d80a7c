/// A type with a readable value.
// The misspelled associated type is ReactiveKit's.
public protocol PropertyProtocol {
  associatedtype ProperyElement

  /// The current value.
  var value: ProperyElement { get }
}
