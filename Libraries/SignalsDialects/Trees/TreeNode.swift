public import Signals

/// A tree with a value at its root.
public protocol TreeNodeWithValueProtocol<Value>: TreeProtocol {
  associatedtype Value

  /// The value of the root.
  var value: Value { get set }

  /// Creates a leaf.
  init(_ value: Value)
}

/// A value-typed tree of values.
public struct TreeNode<Value>: TreeNodeWithValueProtocol, RangeReplaceableTreeProtocol {
  /// The value of the root.
  public var value: Value
  /// The trees below the root.
  public var children: [TreeNode]

  /// Creates a leaf.
  public init(_ value: Value) {
    self.init(value, [])
  }

  /// Creates a tree from the value of its root and the trees below the root.
  public init(_ value: Value, _ children: [TreeNode]) {
    self.value = value
    self.children = children
  }

  /// The tree at a path; the empty path is this tree.
  public subscript(indexPath: IndexPath) -> TreeNode {
    get { indexPath.isEmpty ? self : self[childAt: indexPath] }
    set { if indexPath.isEmpty { self = newValue } else { self[childAt: indexPath] = newValue } }
  }

  /// A reference-typed copy of this tree.
  public var asObject: ObjectTreeNode<Value> {
    ObjectTreeNode(value, children.map(\.asObject))
  }
}

extension TreeNode: Equatable where Value: Equatable {}
extension TreeNode: Hashable where Value: Hashable {}

extension TreeNode: CustomDebugStringConvertible {
  /// The value and the children as text: `(1: (2: -))`.
  public var debugDescription: String {
    "(\(value): \(children.isEmpty ? "-" : children.map(\.debugDescription).joined(separator: ", ")))"
  }
}

/// A reference-typed tree of values; all owners see its changes.
public final class ObjectTreeNode<Value>: TreeNodeWithValueProtocol, RangeReplaceableTreeProtocol {
  /// The value of the root.
  public var value: Value
  /// The trees below the root.
  public var children: [ObjectTreeNode]

  /// Creates a leaf.
  public init(_ value: Value) {
    self.value = value
    children = []
  }

  /// Creates a tree from the value of its root and the trees below the root.
  public init(_ value: Value, _ children: [ObjectTreeNode]) {
    self.value = value
    self.children = children
  }

  /// The tree at a path; the empty path is this tree.
  public subscript(indexPath: IndexPath) -> ObjectTreeNode {
    indexPath.isEmpty ? self : self[childAt: indexPath]
  }

  /// A value-typed copy of this tree.
  public var asTreeNode: TreeNode<Value> {
    TreeNode(value, children.map(\.asTreeNode))
  }
}

extension ObjectTreeNode: CustomDebugStringConvertible {
  /// The value and the children as text: `(1: (2: -))`.
  public var debugDescription: String { asTreeNode.debugDescription }
}

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
