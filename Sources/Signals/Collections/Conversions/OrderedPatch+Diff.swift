extension OrderedCollectionDiff where Index == Int {
  /// Returns operations that lead to `collection`: updates, deletes, moves, inserts; O(n log n) in
  /// the size of the diff.
  public func generatePatch<Collection: Swift.Collection>(
    to collection: Collection
  ) -> [OrderedCollectionOperation<Collection.Element, Int>] where Collection.Index == Int {
    var plan = SiblingPlan(
      leaving: deletes + moves.map(\.from), arriving: moves.map(\.to), inserted: inserts)
    let destinations = Dictionary(moves.map { ($0.from, $0.to) }) { first, _ in first }
    var patch: [OrderedCollectionOperation<Collection.Element, Int>] = []
    patch.reserveCapacity(count)
    for index in updates {
      let final = destinations[index] ?? plan.finalIndex(ofSource: index)
      patch.append(.update(at: index, newElement: collection[final]))
    }
    for index in deletes.sorted(by: >) {
      patch.append(.delete(at: index))
      plan.leave(index)
    }
    for move in moves.sorted(by: { $0.to < $1.to }) {
      let from = plan.position(ofSource: move.from)
      plan.leave(move.from)
      let to = plan.position(ofArriving: move.to)
      plan.arrive(move.to)
      if from != to { patch.append(.move(from: from, to: to)) }
    }
    for index in inserts.sorted() { patch.append(.insert(collection[index], at: index)) }
    return patch
  }
}
