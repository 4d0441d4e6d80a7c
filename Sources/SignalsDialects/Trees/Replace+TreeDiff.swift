public import Signals

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
