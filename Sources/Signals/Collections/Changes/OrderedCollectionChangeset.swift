/// A list with its changes.
public protocol OrderedCollectionChangesetProtocol: ChangesetProtocol
where
  Collection: Swift.Collection, Collection.Index == Int,
  Operation == OrderedCollectionOperation<Collection.Element, Int>,
  Diff == OrderedCollectionDiff<Int>
{
  /// The changeset as its concrete type.
  var asOrderedCollectionChangeset: OrderedCollectionChangeset<Collection> { get }
}

/// A list with its changes.
public struct OrderedCollectionChangeset<Collection: Swift.Collection>:
  OrderedCollectionChangesetProtocol
where Collection.Index == Int {
  /// The type of the operations on the list.
  public typealias Operation = OrderedCollectionOperation<Collection.Element, Int>
  /// The type of the net change.
  public typealias Diff = OrderedCollectionDiff<Int>

  /// The collection after the changes.
  public let collection: Collection
  /// The changes, in the form in which they were made.
  public let changes: Changes<Operation, Diff>

  /// Creates a changeset from a collection and the changes that led to it.
  @inlinable
  public init(collection: Collection, changes: Changes<Operation, Diff>) {
    self.collection = collection
    self.changes = changes
  }

  /// Returns the net change of `patch`.
  public static func diff(of patch: [Operation]) -> Diff {
    Diff(from: patch)
  }

  /// Returns the operations for a diff that leads to `collection`.
  public static func patch(of diff: Diff, to collection: Collection) -> [Operation] {
    diff.generatePatch(to: collection)
  }

  /// The changeset itself.
  public var asOrderedCollectionChangeset: OrderedCollectionChangeset { self }
}
