public import Signals

/// The net change of a set or a dictionary; each key occurs at most once.
public struct UnorderedCollectionDiff<Key>: CollectionDiffProtocol {
  /// The inserted keys.
  public var inserts: [Key]
  /// The deleted keys.
  public var deletes: [Key]
  /// The keys whose elements were replaced.
  public var updates: [Key]

  /// Creates an empty diff.
  public init() {
    self.init(inserts: [])
  }

  /// Creates a diff from the keys of its changes.
  public init(inserts: [Key] = [], deletes: [Key] = [], updates: [Key] = []) {
    self.inserts = inserts
    self.deletes = deletes
    self.updates = updates
  }

  /// Whether it describes no change.
  public var isEmpty: Bool { count == 0 }

  /// The number of changes.
  public var count: Int { inserts.count + deletes.count + updates.count }

  /// Returns a diff with each key transformed.
  public func map<Output>(_ transform: (Key) -> Output) -> UnorderedCollectionDiff<Output> {
    UnorderedCollectionDiff<Output>(
      inserts: inserts.map(transform), deletes: deletes.map(transform),
      updates: updates.map(transform))
  }
}

extension UnorderedCollectionDiff: Equatable where Key: Equatable {}
