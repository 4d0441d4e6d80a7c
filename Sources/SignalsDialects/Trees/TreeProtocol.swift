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
