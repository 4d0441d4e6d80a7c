/// The net change of a list or a tree.
///
/// Elements that are neither deleted nor moved keep their order. Each index occurs at most once,
/// except that an updated element can also move. In a tree, no index lies inside an inserted,
/// deleted or updated subtree. The one exception: a node can move out of a deleted subtree.
public struct OrderedCollectionDiff<Index>: CollectionDiffProtocol {
  /// Indices of inserted elements, in the final collection.
  public var inserts: [Index]
  /// Indices of deleted elements, in the source collection.
  public var deletes: [Index]
  /// Indices of updated elements, in the source collection.
  public var updates: [Index]
  /// Indices of moved elements: `from` in the source collection, `to` in the final one.
  public var moves: [(from: Index, to: Index)]

  /// Creates an empty diff.
  public init() {
    self.init(inserts: [])
  }

  public init(
    inserts: [Index] = [], deletes: [Index] = [], updates: [Index] = [],
    moves: [(from: Index, to: Index)] = []
  ) {
    self.inserts = inserts
    self.deletes = deletes
    self.updates = updates
    self.moves = moves
  }

  /// Whether it describes no change.
  public var isEmpty: Bool { count == 0 }

  /// The number of changes.
  public var count: Int { inserts.count + deletes.count + updates.count + moves.count }

  /// Returns a diff with each index transformed.
  public func map<Output>(_ transform: (Index) -> Output) -> OrderedCollectionDiff<Output> {
    OrderedCollectionDiff<Output>(
      inserts: inserts.map(transform), deletes: deletes.map(transform),
      updates: updates.map(transform),
      moves: moves.map { (from: transform($0.from), to: transform($0.to)) })
  }

  /// Adds the changes of another diff.
  public mutating func merge(_ other: OrderedCollectionDiff) {
    inserts += other.inserts
    deletes += other.deletes
    updates += other.updates
    moves += other.moves
  }
}

extension OrderedCollectionDiff: Equatable where Index: Equatable {
  public static func == (a: OrderedCollectionDiff, b: OrderedCollectionDiff) -> Bool {
    a.inserts == b.inserts && a.deletes == b.deletes && a.updates == b.updates
      && a.moves.elementsEqual(b.moves, by: ==)
  }
}

extension OrderedCollectionDiff: CustomDebugStringConvertible {
  public var debugDescription: String {
    "Inserts: \(inserts), Deletes: \(deletes), Updates: \(updates), Moves: \(moves)"
  }
}
