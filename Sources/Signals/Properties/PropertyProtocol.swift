/// A state that can be read.
// The spelling of the associated type is ReactiveKit's.
@usableFromInline
package protocol PropertyProtocol {
  associatedtype ProperyElement

  /// The state.
  var value: ProperyElement { get }
}
