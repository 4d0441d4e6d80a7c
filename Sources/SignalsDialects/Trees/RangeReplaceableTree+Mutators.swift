public import Signals

extension RangeReplaceableTreeProtocol {
  /// Appends a tree to the children of the root.
  public mutating func append(_ newNode: Children.Element) {
    insert(newNode, at: [children.count])
  }

  /// Inserts a tree at a path.
  public mutating func insert(_ newNode: Children.Element, at index: IndexPath) {
    replaceSubrange(index..<index, with: CollectionOfOne(newNode))
  }

  /// Inserts trees as siblings, the first one at `index`.
  public mutating func insert(contentsOf newNodes: [Children.Element], at index: IndexPath) {
    replaceSubrange(index..<index, with: newNodes)
  }

  /// Replaces the tree at a path and returns the old one.
  @discardableResult
  public mutating func update(at index: IndexPath, newNode: Children.Element) -> Children.Element {
    let old = self[childAt: index]
    replaceSubrange(index..<index.advanced(by: 1), with: CollectionOfOne(newNode))
    return old
  }

  /// Removes and returns the tree at a path.
  @discardableResult
  public mutating func remove(at index: IndexPath) -> Children.Element {
    let old = self[childAt: index]
    replaceSubrange(index..<index.advanced(by: 1), with: [])
    return old
  }

  /// Removes the trees at several paths and returns them in tree order.
  @discardableResult
  public mutating func remove(at indexes: [IndexPath]) -> [Children.Element] {
    indexes.sorted(by: >).map { remove(at: $0) }.reversed()
  }

  /// Removes all nodes except the root.
  public mutating func removeAll() {
    replaceSubrange([0]..<[children.count], with: [])
  }

  /// Removes the tree at `fromIndex`, then inserts it at `toIndex` in the rest.
  public mutating func move(from fromIndex: IndexPath, to toIndex: IndexPath) {
    insert(remove(at: fromIndex), at: toIndex)
  }

  /// Removes the trees at `fromIndices`, then inserts them at `toIndex` in the rest, in tree order.
  public mutating func move(from fromIndices: [IndexPath], to toIndex: IndexPath) {
    insert(contentsOf: remove(at: fromIndices), at: toIndex)
  }

  /// Applies an operation.
  public mutating func apply(
    _ operation: OrderedCollectionOperation<Children.Element, IndexPath>
  ) {
    switch operation {
    case .insert(let node, let index): insert(node, at: index)
    case .delete(let index): remove(at: index)
    case .update(let index, let node): update(at: index, newNode: node)
    case .move(let from, let to): move(from: from, to: to)
    }
  }

  /// Applies operations in order.
  public mutating func apply(
    _ patch: [OrderedCollectionOperation<Children.Element, IndexPath>]
  ) {
    for operation in patch { apply(operation) }
  }
}
