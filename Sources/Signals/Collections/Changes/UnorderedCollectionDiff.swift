/// The net change of a set or a dictionary; each key occurs at most once.
package struct UnorderedCollectionDiff<Key>: CollectionDiffProtocol {
  /// The inserted keys.
  package var inserts: [Key]
  /// The deleted keys.
  package var deletes: [Key]
  /// The keys whose elements were replaced.
  package var updates: [Key]

  /// Creates an empty diff.
  package init() {
    self.init(inserts: [])
  }

  package init(inserts: [Key] = [], deletes: [Key] = [], updates: [Key] = []) {
    self.inserts = inserts
    self.deletes = deletes
    self.updates = updates
  }

  /// Whether it describes no change.
  package var isEmpty: Bool { count == 0 }

  /// The number of changes.
  package var count: Int { inserts.count + deletes.count + updates.count }

  /// Returns a diff with each key transformed.
  package func map<Output>(_ transform: (Key) -> Output) -> UnorderedCollectionDiff<Output> {
    UnorderedCollectionDiff<Output>(
      inserts: inserts.map(transform), deletes: deletes.map(transform),
      updates: updates.map(transform))
  }
}

extension UnorderedCollectionDiff: Equatable where Key: Equatable {}
