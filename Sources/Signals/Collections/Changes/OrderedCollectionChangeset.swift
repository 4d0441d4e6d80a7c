/// A list with its changes.
@usableFromInline
package protocol OrderedCollectionChangesetProtocol: ChangesetProtocol
where
  Collection: Swift.Collection, Collection.Index == Int,
  Operation == OrderedCollectionOperation<Collection.Element, Int>,
  Diff == OrderedCollectionDiff<Int>
{
  /// The changeset as its concrete type.
  var asOrderedCollectionChangeset: OrderedCollectionChangeset<Collection> { get }
}

/// A list with its changes.
@usableFromInline
package struct OrderedCollectionChangeset<Collection: Swift.Collection>:
  OrderedCollectionChangesetProtocol
where Collection.Index == Int {
  @usableFromInline
  package typealias Operation = OrderedCollectionOperation<Collection.Element, Int>
  @usableFromInline
  package typealias Diff = OrderedCollectionDiff<Int>

  @usableFromInline
  package let collection: Collection
  @usableFromInline
  package let changes: Changes<Operation, Diff>

  @inlinable
  package init(collection: Collection, changes: Changes<Operation, Diff>) {
    self.collection = collection
    self.changes = changes
  }

  @usableFromInline
  package static func diff(of patch: [Operation]) -> Diff {
    Diff(from: patch)
  }

  @usableFromInline
  package static func patch(of diff: Diff, to collection: Collection) -> [Operation] {
    diff.generatePatch(to: collection)
  }

  @usableFromInline
  package var asOrderedCollectionChangeset: OrderedCollectionChangeset { self }
}
