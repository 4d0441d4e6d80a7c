public import Signals

/// A value-typed tree without a value at its root.
public struct TreeArray<Value>: RangeReplaceableTreeProtocol, Instantiatable {
  /// The trees below the root.
  public var children: [TreeNode<Value>]

  /// Creates an empty tree.
  public init() {
    children = []
  }

  /// Creates a tree from the trees below its root.
  public init(_ children: [TreeNode<Value>]) {
    self.children = children
  }

  /// Creates a tree of leaves.
  public init(childrenValues: [Value]) {
    children = childrenValues.map { TreeNode($0) }
  }

  /// The tree at a path that is not empty.
  public subscript(indexPath: IndexPath) -> TreeNode<Value> {
    get { self[childAt: indexPath] }
    set { self[childAt: indexPath] = newValue }
  }

  /// A reference-typed copy of this tree.
  public var asObject: ObjectTreeArray<Value> {
    ObjectTreeArray(children.map(\.asObject))
  }
}

extension TreeArray: Equatable where Value: Equatable {}
extension TreeArray: Hashable where Value: Hashable {}

extension TreeArray: CustomDebugStringConvertible {
  /// The children as text: `[(1: -), (2: -)]`.
  public var debugDescription: String {
    "[\(children.map(\.debugDescription).joined(separator: ", "))]"
  }
}

/// A reference-typed tree without a value at its root; all owners see its changes.
public final class ObjectTreeArray<Value>: RangeReplaceableTreeProtocol, Instantiatable {
  /// The trees below the root.
  public var children: [ObjectTreeNode<Value>]

  /// Creates an empty tree.
  public init() {
    children = []
  }

  /// Creates a tree from the trees below its root.
  public init(_ children: [ObjectTreeNode<Value>]) {
    self.children = children
  }

  /// The tree at a path that is not empty.
  public subscript(indexPath: IndexPath) -> ObjectTreeNode<Value> {
    self[childAt: indexPath]
  }

  /// A value-typed copy of this tree.
  public var asTreeArray: TreeArray<Value> {
    TreeArray(children.map(\.asTreeNode))
  }
}

extension ObjectTreeArray: CustomDebugStringConvertible {
  /// The children as text: `[(1: -), (2: -)]`.
  public var debugDescription: String { asTreeArray.debugDescription }
}
