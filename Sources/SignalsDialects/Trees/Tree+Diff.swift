public import Signals

/// A tree whose root can be compared without the nodes below it.
public protocol RootEquatable {
  /// Returns whether the root is equal to the root of another tree.
  func hasEqualRoot(to other: Self) -> Bool
}

extension TreeNode: RootEquatable where Value: Equatable {
  /// Returns whether the values of both roots are equal.
  public func hasEqualRoot(to other: TreeNode) -> Bool { value == other.value }
}

extension ObjectTreeNode: RootEquatable where Value: Equatable {
  /// Returns whether the values of both roots are equal.
  public func hasEqualRoot(to other: ObjectTreeNode) -> Bool { value == other.value }
}

extension Array2D.Node: RootEquatable where SectionMetadata: Equatable, Item: Equatable {
  /// Returns whether both are sections with equal metadata, or both are equal items.
  public func hasEqualRoot(to other: Array2D.Node) -> Bool {
    switch (self, other) {
    case (.section(let a), .section(let b)): a.metadata == b.metadata
    case (.item(let a), .item(let b)): a == b
    default: false
    }
  }
}

extension TreeProtocol {
  /// Returns the difference to another tree, level by level.
  ///
  /// The comparison continues below equal nodes, so `areEqual` need not compare their children.
  /// Equal nodes at different positions below the same parent count as moved.
  public func diff(
    _ other: Self, areEqual: (Children.Element, Children.Element) -> Bool
  ) -> OrderedCollectionDiff<IndexPath> {
    var diff = OrderedCollectionDiff<IndexPath>()
    compare(children, other.children, at: [], [], areEqual, &diff)
    return diff
  }
}

private func compare<Children: Collection>(
  _ old: Children, _ new: Children, at oldPath: IndexPath, _ newPath: IndexPath,
  _ areEqual: (Children.Element, Children.Element) -> Bool,
  _ diff: inout OrderedCollectionDiff<IndexPath>
)
where Children.Index == Int, Children.Element: TreeProtocol, Children.Element.Children == Children {
  let level = old.diff(new, areEqual: areEqual)
  diff.inserts += level.inserts.map(newPath.appending)
  diff.deletes += level.deletes.map(oldPath.appending)
  diff.moves += level.moves.map { (from: oldPath.appending($0.from), to: newPath.appending($0.to)) }
  for (index, origin) in level.origins(of: old.count, in: new.count).enumerated() {
    guard let origin else { continue }
    compare(
      old[origin].children, new[index].children, at: oldPath.appending(origin),
      newPath.appending(index), areEqual, &diff)
  }
}
