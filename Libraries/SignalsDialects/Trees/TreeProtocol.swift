public import Signals

/// A tree: a collection of subtrees.
public protocol TreeProtocol {
  associatedtype Children: Collection
  where
    Children.Element: TreeProtocol, Children.Element.Children == Children, Children.Index == Int

  /// The direct subtrees.
  var children: Children { get }

  /// The tree at a path that is not empty.
  subscript(childAt indexPath: IndexPath) -> Children.Element { get }
}

/// A tree whose nodes can be replaced.
public protocol MutableTreeProtocol: TreeProtocol
where Children: MutableCollection, Children.Element: MutableTreeProtocol {
  var children: Children { get set }

  subscript(childAt indexPath: IndexPath) -> Children.Element { get set }
}

/// A tree in which a range of siblings can be replaced by any number of nodes.
public protocol RangeReplaceableTreeProtocol: MutableTreeProtocol {
  /// Replaces a range of siblings.
  ///
  /// - Parameter subrange: From the path of the first sibling up to, but not including, the upper
  ///   bound. Both bounds have the same parent.
  mutating func replaceSubrange(
    _ subrange: Range<IndexPath>, with newChildren: some Collection<Children.Element>)
}

extension TreeProtocol {
  /// The tree at a path that is not empty.
  public subscript(childAt indexPath: IndexPath) -> Children.Element {
    precondition(!indexPath.isEmpty, "the path of the root is no path of a child")
    let child = children[indexPath[0]]
    return indexPath.count == 1 ? child : child[childAt: indexPath.dropFirst()]
  }
}

extension MutableTreeProtocol {
  /// The tree at a path that is not empty.
  public subscript(childAt indexPath: IndexPath) -> Children.Element {
    get {
      precondition(!indexPath.isEmpty, "the path of the root is no path of a child")
      let child = children[indexPath[0]]
      return indexPath.count == 1 ? child : child[childAt: indexPath.dropFirst()]
    }
    set {
      precondition(!indexPath.isEmpty, "the path of the root is no path of a child")
      if indexPath.count == 1 {
        children[indexPath[0]] = newValue
      } else {
        children[indexPath[0]][childAt: indexPath.dropFirst()] = newValue
      }
    }
  }
}

extension RangeReplaceableTreeProtocol
where Children: RangeReplaceableCollection, Children.Element: RangeReplaceableTreeProtocol {
  /// Replaces a range of siblings.
  public mutating func replaceSubrange(
    _ subrange: Range<IndexPath>, with newChildren: some Collection<Children.Element>
  ) {
    let (from, to) = (subrange.lowerBound, subrange.upperBound)
    precondition(
      !from.isEmpty && from.dropLast() == to.dropLast(), "a range of paths has one parent")
    if from.count == 1 {
      children.replaceSubrange(from[0]..<to[0], with: newChildren)
    } else {
      children[from[0]].replaceSubrange(from.dropFirst()..<to.dropFirst(), with: newChildren)
    }
  }
}

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
