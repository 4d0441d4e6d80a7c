/// A tree with its changes.
public protocol TreeChangesetProtocol: ChangesetProtocol
where
  Collection: TreeProtocol,
  Operation == OrderedCollectionOperation<Collection.Children.Element, IndexPath>,
  Diff == OrderedCollectionDiff<IndexPath>
{
  /// The changeset as its concrete type.
  var asTreeChangeset: TreeChangeset<Collection> { get }
}

/// A tree with its changes.
public struct TreeChangeset<Collection: TreeProtocol>: TreeChangesetProtocol {
  public typealias Operation = OrderedCollectionOperation<Collection.Children.Element, IndexPath>
  public typealias Diff = OrderedCollectionDiff<IndexPath>

  public let collection: Collection
  public let changes: Changes<Operation, Diff>

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

  public var asTreeChangeset: TreeChangeset { self }
}
