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
  public typealias Operation = OrderedCollectionOperation<Collection.Element, Int>
  public typealias Diff = OrderedCollectionDiff<Int>

  public let collection: Collection
  public let changes: Changes<Operation, Diff>

  @inlinable
  public init(collection: Collection, changes: Changes<Operation, Diff>) {
    self.collection = collection
    self.changes = changes
  }

  public static func diff(of patch: [Operation]) -> Diff {
    Diff(from: patch)
  }

  public static func patch(of diff: Diff, to collection: Collection) -> [Operation] {
    diff.generatePatch(to: collection)
  }

  public var asOrderedCollectionChangeset: OrderedCollectionChangeset { self }
}
