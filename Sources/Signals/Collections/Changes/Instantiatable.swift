/// A type that can be created empty.
public protocol Instantiatable {
  init()
}

extension Array: Instantiatable {}
extension ContiguousArray: Instantiatable {}
extension ArraySlice: Instantiatable {}
extension Set: Instantiatable {}
extension Dictionary: Instantiatable {}

/// The net change of a collection.
public protocol CollectionDiffProtocol: Instantiatable {
  /// Whether it describes no change.
  var isEmpty: Bool { get }
}
