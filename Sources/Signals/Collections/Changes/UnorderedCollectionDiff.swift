/// A change of a set or a dictionary, described at once; no key is named twice.
package struct UnorderedCollectionDiff<Key>: CollectionDiffProtocol {
  /// The keys that are new.
  package var inserts: [Key]
  /// The keys that are gone.
  package var deletes: [Key]
  /// The keys whose elements are others.
  package var updates: [Key]

  /// No change.
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

  /// How many changes it describes.
  package var count: Int { inserts.count + deletes.count + updates.count }

  /// The same with what `transform` makes of each key.
  package func map<Output>(_ transform: (Key) -> Output) -> UnorderedCollectionDiff<Output> {
    UnorderedCollectionDiff<Output>(
      inserts: inserts.map(transform), deletes: deletes.map(transform),
      updates: updates.map(transform))
  }
}

extension UnorderedCollectionDiff: Equatable where Key: Equatable {}
