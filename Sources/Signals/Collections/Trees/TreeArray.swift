/// A value-typed tree without a value at its root.
package struct TreeArray<Value>: RangeReplaceableTreeProtocol, Instantiatable {
  package var children: [TreeNode<Value>]

  package init() {
    children = []
  }

  package init(_ children: [TreeNode<Value>]) {
    self.children = children
  }

  /// Creates a tree of leaves.
  package init(childrenValues: [Value]) {
    children = childrenValues.map { TreeNode($0) }
  }

  /// The tree at a path that is not empty.
  package subscript(indexPath: IndexPath) -> TreeNode<Value> {
    get { self[childAt: indexPath] }
    set { self[childAt: indexPath] = newValue }
  }

  /// A reference-typed copy of this tree.
  package var asObject: ObjectTreeArray<Value> {
    ObjectTreeArray(children.map(\.asObject))
  }
}

extension TreeArray: Equatable where Value: Equatable {}
extension TreeArray: Hashable where Value: Hashable {}

extension TreeArray: CustomDebugStringConvertible {
  package var debugDescription: String {
    "[\(children.map(\.debugDescription).joined(separator: ", "))]"
  }
}

/// A reference-typed tree without a value at its root; all owners see its changes.
package final class ObjectTreeArray<Value>: RangeReplaceableTreeProtocol, Instantiatable {
  package var children: [ObjectTreeNode<Value>]

  package init() {
    children = []
  }

  package init(_ children: [ObjectTreeNode<Value>]) {
    self.children = children
  }

  /// The tree at a path that is not empty.
  package subscript(indexPath: IndexPath) -> ObjectTreeNode<Value> {
    self[childAt: indexPath]
  }

  /// A value-typed copy of this tree.
  package var asTreeArray: TreeArray<Value> {
    TreeArray(children.map(\.asTreeNode))
  }
}

extension ObjectTreeArray: CustomDebugStringConvertible {
  package var debugDescription: String { asTreeArray.debugDescription }
}
