/// Whatever can be made empty.
@usableFromInline
package protocol Instantiatable {
  init()
}

extension Array: Instantiatable {}
extension ContiguousArray: Instantiatable {}
extension ArraySlice: Instantiatable {}
extension Set: Instantiatable {}
extension Dictionary: Instantiatable {}

/// A change described at once.
@usableFromInline
package protocol CollectionDiffProtocol: Instantiatable {
  /// Whether it describes no change.
  var isEmpty: Bool { get }
}
