public import Signals

/// A set or a dictionary with its changes.
public protocol UnorderedCollectionChangesetProtocol: ChangesetProtocol
where
  Collection: KeyedCollection,
  Operation == UnorderedCollectionOperation<Collection.Element, Collection.ElementKey>,
  Diff == UnorderedCollectionDiff<Collection.ElementKey>
{
  /// The changeset as its concrete type.
  var asUnorderedCollectionChangeset: UnorderedCollectionChangeset<Collection> { get }
}

/// A set or a dictionary with its changes.
public struct UnorderedCollectionChangeset<Collection: KeyedCollection>:
  UnorderedCollectionChangesetProtocol
{
  /// The type of the operations on the set or dictionary.
  public typealias Operation = UnorderedCollectionOperation<
    Collection.Element, Collection.ElementKey
  >
  /// The type of the net change.
  public typealias Diff = UnorderedCollectionDiff<Collection.ElementKey>

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
  public var asUnorderedCollectionChangeset: UnorderedCollectionChangeset { self }
}
