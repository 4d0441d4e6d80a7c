/// A change of a list or a tree, described at once.
///
/// Whatever is neither deleted nor moved keeps its order. No index is named twice, except that an
/// updated element can also be moved. In a tree nothing is named inside of what is inserted,
/// and nothing inside of what is deleted or updated, except where it moves from (deleted only).
@usableFromInline
package struct OrderedCollectionDiff<Index>: CollectionDiffProtocol {
  /// Where the inserted elements are in the final collection.
  package var inserts: [Index]
  /// Where the deleted elements were in the source collection.
  package var deletes: [Index]
  /// Where the updated elements were in the source collection.
  package var updates: [Index]
  /// Where the moved elements were in the source collection and are in the final one.
  package var moves: [(from: Index, to: Index)]

  /// No change.
  @usableFromInline
  package init() {
    self.init(inserts: [])
  }

  package init(
    inserts: [Index] = [], deletes: [Index] = [], updates: [Index] = [],
    moves: [(from: Index, to: Index)] = []
  ) {
    self.inserts = inserts
    self.deletes = deletes
    self.updates = updates
    self.moves = moves
  }

  /// Whether it describes no change.
  @usableFromInline
  package var isEmpty: Bool { count == 0 }

  /// How many changes it describes.
  package var count: Int { inserts.count + deletes.count + updates.count + moves.count }

  /// The same with what `transform` makes of each index.
  package func map<Output>(_ transform: (Index) -> Output) -> OrderedCollectionDiff<Output> {
    OrderedCollectionDiff<Output>(
      inserts: inserts.map(transform), deletes: deletes.map(transform),
      updates: updates.map(transform),
      moves: moves.map { (from: transform($0.from), to: transform($0.to)) })
  }

  /// Adds the changes of another.
  package mutating func merge(_ other: OrderedCollectionDiff) {
    inserts += other.inserts
    deletes += other.deletes
    updates += other.updates
    moves += other.moves
  }
}

extension OrderedCollectionDiff: Equatable where Index: Equatable {
  @usableFromInline
  package static func == (a: OrderedCollectionDiff, b: OrderedCollectionDiff) -> Bool {
    a.inserts == b.inserts && a.deletes == b.deletes && a.updates == b.updates
      && a.moves.elementsEqual(b.moves, by: ==)
  }
}

extension OrderedCollectionDiff: CustomDebugStringConvertible {
  @usableFromInline
  package var debugDescription: String {
    "Inserts: \(inserts), Deletes: \(deletes), Updates: \(updates), Moves: \(moves)"
  }
}
