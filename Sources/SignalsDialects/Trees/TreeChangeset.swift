public import Signals

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
  /// The type of the operations on the tree.
  public typealias Operation = OrderedCollectionOperation<Collection.Children.Element, IndexPath>
  /// The type of the net change.
  public typealias Diff = OrderedCollectionDiff<IndexPath>

  /// The collection after the changes.
  public let collection: Collection
  /// The changes, in the form in which they were made.
  public let changes: Changes<Operation, Diff>

  /// Creates a changeset from a collection and the changes that led to it.
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
  public var asTreeChangeset: TreeChangeset { self }
}
