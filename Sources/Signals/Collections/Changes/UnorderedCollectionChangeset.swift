/// A set or a dictionary with its changes.
package protocol UnorderedCollectionChangesetProtocol: ChangesetProtocol
where
  Collection: KeyedCollection,
  Operation == UnorderedCollectionOperation<Collection.Element, Collection.ElementKey>,
  Diff == UnorderedCollectionDiff<Collection.ElementKey>
{
  /// The changeset as its concrete type.
  var asUnorderedCollectionChangeset: UnorderedCollectionChangeset<Collection> { get }
}

/// A set or a dictionary with its changes.
package struct UnorderedCollectionChangeset<Collection: KeyedCollection>:
  UnorderedCollectionChangesetProtocol
{
  package typealias Operation = UnorderedCollectionOperation<
    Collection.Element, Collection.ElementKey
  >
  package typealias Diff = UnorderedCollectionDiff<Collection.ElementKey>

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

  package var asUnorderedCollectionChangeset: UnorderedCollectionChangeset { self }
}
