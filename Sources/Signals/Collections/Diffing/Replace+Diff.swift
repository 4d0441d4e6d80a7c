extension MutableChangesetContainerProtocol where Changeset: OrderedCollectionChangesetProtocol {
  /// Replaces the collection.
  ///
  /// With `performDiff`, sends the differences, or nothing if there are none.
  public func replace(
    with newCollection: Collection, performDiff: Bool,
    areEqual: (Collection.Element, Collection.Element) -> Bool
  ) {
    replace(
      with: newCollection, performDiff: performDiff,
      generateDiff: { $0.diff($1, areEqual: areEqual) })
  }
}

extension MutableChangesetContainerProtocol
where Changeset: OrderedCollectionChangesetProtocol, Changeset.Collection.Element: Equatable {
  /// Replaces the collection.
  ///
  /// With `performDiff`, sends the differences, or nothing if there are none.
  public func replace(with newCollection: Collection, performDiff: Bool) {
    replace(with: newCollection, performDiff: performDiff, generateDiff: { $0.diff($1) })
  }
}

extension MutableChangesetContainerProtocol
where Changeset: OrderedCollectionChangesetProtocol, Changeset.Collection.Element: Hashable {
  /// Replaces the collection.
  ///
  /// With `performDiff`, sends the differences, or nothing if there are none.
  public func replace(with newCollection: Collection, performDiff: Bool) {
    replace(with: newCollection, performDiff: performDiff, generateDiff: { $0.diff($1) })
  }
}
