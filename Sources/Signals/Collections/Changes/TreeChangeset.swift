/// A tree with its changes.
package protocol TreeChangesetProtocol: ChangesetProtocol
where
  Collection: TreeProtocol,
  Operation == OrderedCollectionOperation<Collection.Children.Element, IndexPath>,
  Diff == OrderedCollectionDiff<IndexPath>
{
  /// The changeset as its concrete type.
  var asTreeChangeset: TreeChangeset<Collection> { get }
}

/// A tree with its changes.
package struct TreeChangeset<Collection: TreeProtocol>: TreeChangesetProtocol {
  package typealias Operation = OrderedCollectionOperation<Collection.Children.Element, IndexPath>
  package typealias Diff = OrderedCollectionDiff<IndexPath>

  package let collection: Collection
  package let changes: Changes<Operation, Diff>

  package init(collection: Collection, changes: Changes<Operation, Diff>) {
    self.collection = collection
    self.changes = changes
  }

  package static func diff(of patch: [Operation]) -> Diff {
    Diff(from: patch)
  }

  package static func patch(of diff: Diff, to collection: Collection) -> [Operation] {
    diff.generatePatch(to: collection)
  }

  package var asTreeChangeset: TreeChangeset { self }
}
