extension RangeReplaceableTreeProtocol {
  /// Adds a tree after the children of the root.
  package mutating func append(_ newNode: Children.Element) {
    insert(newNode, at: [children.count])
  }

  /// Inserts a tree at a path.
  package mutating func insert(_ newNode: Children.Element, at index: IndexPath) {
    replaceSubrange(index..<index, with: CollectionOfOne(newNode))
  }

  /// Inserts trees at a path, as siblings.
  package mutating func insert(contentsOf newNodes: [Children.Element], at index: IndexPath) {
    replaceSubrange(index..<index, with: newNodes)
  }

  /// Puts another tree in the place of the one at a path, and returns that.
  @discardableResult
  package mutating func update(at index: IndexPath, newNode: Children.Element) -> Children.Element {
    let old = self[childAt: index]
    replaceSubrange(index..<index.advanced(by: 1), with: CollectionOfOne(newNode))
    return old
  }

  /// Removes and returns the tree at a path.
  @discardableResult
  package mutating func remove(at index: IndexPath) -> Children.Element {
    let old = self[childAt: index]
    replaceSubrange(index..<index.advanced(by: 1), with: [])
    return old
  }

  /// Removes and returns the trees at paths, in the order of the paths in the tree.
  @discardableResult
  package mutating func remove(at indexes: [IndexPath]) -> [Children.Element] {
    indexes.sorted(by: >).map { remove(at: $0) }.reversed()
  }

  /// Removes all but the root.
  package mutating func removeAll() {
    replaceSubrange([0]..<[children.count], with: [])
  }

  /// Takes the tree at `fromIndex` out and inserts it at `toIndex` in what is left.
  package mutating func move(from fromIndex: IndexPath, to toIndex: IndexPath) {
    insert(remove(at: fromIndex), at: toIndex)
  }

  /// Takes the trees at `fromIndices` out and inserts them at `toIndex` in what is left, in the
  /// order of the tree.
  package mutating func move(from fromIndices: [IndexPath], to toIndex: IndexPath) {
    insert(contentsOf: remove(at: fromIndices), at: toIndex)
  }

  /// Takes a step.
  package mutating func apply(
    _ operation: OrderedCollectionOperation<Children.Element, IndexPath>
  ) {
    switch operation {
    case .insert(let node, let index): insert(node, at: index)
    case .delete(let index): remove(at: index)
    case .update(let index, let node): update(at: index, newNode: node)
    case .move(let from, let to): move(from: from, to: to)
    }
  }

  /// Takes steps, one after another.
  package mutating func apply(
    _ patch: [OrderedCollectionOperation<Children.Element, IndexPath>]
  ) {
    for operation in patch { apply(operation) }
  }
}
