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
  public typealias Operation = UnorderedCollectionOperation<
    Collection.Element, Collection.ElementKey
  >
  public typealias Diff = UnorderedCollectionDiff<Collection.ElementKey>

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

  public var asUnorderedCollectionChangeset: UnorderedCollectionChangeset { self }
}
