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

extension MutableChangesetContainerProtocol where Changeset: TreeChangesetProtocol {
  /// Replaces the tree.
  ///
  /// With `performDiff`, sends the differences, or nothing if there are none.
  public func replace(
    with newCollection: Collection, performDiff: Bool,
    areEqual: (Collection.Children.Element, Collection.Children.Element) -> Bool
  ) {
    replace(
      with: newCollection, performDiff: performDiff,
      generateDiff: { $0.diff($1, areEqual: areEqual) })
  }
}

extension MutableChangesetContainerProtocol
where Changeset: TreeChangesetProtocol, Changeset.Collection.Children.Element: RootEquatable {
  /// Replaces the tree.
  ///
  /// With `performDiff`, sends the differences, or nothing if there are none.
  public func replace(with newCollection: Collection, performDiff: Bool) {
    replace(with: newCollection, performDiff: performDiff, areEqual: { $0.hasEqualRoot(to: $1) })
  }
}

extension MutableChangesetContainerProtocol
where
  Changeset: TreeChangesetProtocol, Changeset.Collection: Array2DProtocol,
  Changeset.Collection.Item: Equatable
{
  /// Replaces the items of a section.
  ///
  /// With `performDiff`, sends the differences, or nothing if there are none.
  public func replaceItems(
    ofSectionAt sectionIndex: Int, with newItems: [Item], performDiff: Bool
  ) {
    guard performDiff else { return replaceItems(ofSectionAt: sectionIndex, with: newItems) }
    change {
      let diff = $0.asArray2D.sections[sectionIndex].items.diff(newItems)
      $0.asArray2D.sections[sectionIndex].items = newItems
      return (
        diff.isEmpty ? nil : .diff(diff.map { IndexPath(item: $0, section: sectionIndex) }), ()
      )
    }
  }
}

extension SignalProtocol where Element: TreeProtocol {
  /// Emits each tree with its difference to the previous one, as `generateDiff` returns it.
  ///
  /// A tree without differences is not emitted.
  public func diff(
    generateDiff: @escaping (Element, Element) -> OrderedCollectionDiff<IndexPath>
  ) -> Signal<TreeChangeset<Element>, Error> {
    changesets(generateDiff: generateDiff)
  }

  /// Emits each tree with its difference to the previous one.
  ///
  /// A tree without differences is not emitted.
  public func diff(
    _ areEqual: @escaping (Element.Children.Element, Element.Children.Element) -> Bool
  ) -> Signal<TreeChangeset<Element>, Error> {
    diff(generateDiff: { $0.diff($1, areEqual: areEqual) })
  }
}

extension SignalProtocol where Element: TreeProtocol, Element.Children.Element: RootEquatable {
  /// Emits each tree with its difference to the previous one.
  ///
  /// A tree without differences is not emitted.
  public func diff() -> Signal<TreeChangeset<Element>, Error> {
    diff({ $0.hasEqualRoot(to: $1) })
  }
}
