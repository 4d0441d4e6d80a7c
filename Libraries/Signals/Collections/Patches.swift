extension OrderedCollectionDiff where Index == Int {
  /// Creates the net change of `patch`; O(n log n) in the number of operations.
  public init<Element>(from patch: [OrderedCollectionOperation<Element, Int>]) {
    self.init(from: patch.lazy.map(\.asAnyOrderedCollectionOperation))
  }

  /// Creates the net change of `patch`; O(n log n) in the number of operations.
  public init(from patch: [AnyOrderedCollectionOperation<Int>]) {
    self.init(from: patch.lazy.map { $0 })
  }

  private init(from patch: some Sequence<AnyOrderedCollectionOperation<Int>>) {
    self.init()
    let list = TrackedNode(isRoot: true)
    defer { list.dismantle() }
    for operation in patch { list.apply(operation) }
    var index = 0
    for piece in list.finishMoves() {
      if let node = piece.node { add(node, at: index) }
      index += piece.count
    }
    addGone(list)
  }

  private mutating func add(_ node: TrackedNode, at index: Int) {
    node.finalPath = []
    guard let source = node.sourceIndex else { return inserts.append(index) }
    switch (node.isDetached, node.isUpdated) {
    case (true, true):
      deletes.append(source)
      inserts.append(index)
    case (true, false): moves.append((from: source, to: index))
    case (false, true): updates.append(source)
    case (false, false): break
    }
  }

  private mutating func addGone(_ list: TrackedNode) {
    deletes += list.touched.lazy.filter { $0.finalPath == nil }.compactMap(\.sourceIndex)
    deletes.sort()
    updates.sort()
  }
}

extension TrackedNode {
  /// Applies an operation.
  fileprivate func apply(_ operation: AnyOrderedCollectionOperation<Int>) {
    switch operation {
    case .insert(let index): place(TrackedNode(), at: index)
    case .delete(let index): _ = remove(at: index)
    case .update(let index): child(at: index).update()
    case .move(let from, let to): place(remove(at: from), at: to)
    }
  }
}

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

/// Positions in one list while elements leave it and others arrive, in any order.
///
/// The list itself is not needed.
///
/// Staying elements keep their order. Each leaving or arriving element has a fixed place between
/// two staying ones, arriving elements before leaving ones. A position is the number of staying
/// elements and taken places before it.
package struct SiblingPlan {
  /// Source indices of leaving elements, ascending.
  private let leaving: [Int]
  /// Final indices of arriving elements, ascending.
  private let arriving: [Int]
  /// Final indices of arriving and inserted elements, ascending.
  private let new: [Int]
  /// The places of `leaving` and `arriving`, in the same order.
  private let leavingPlaces: [Int]
  private let arrivingPlaces: [Int]
  /// Number of staying elements before each place, ascending.
  private let stayingBefore: [Int]
  /// Counts 1 for each taken place.
  private var taken: Fenwick

  package init(leaving: [Int], arriving: [Int], inserted: [Int]) {
    self.leaving = leaving.sorted()
    self.arriving = arriving.sorted()
    new = (arriving + inserted).sorted()
    let stayingBeforeLeaving = self.leaving.indices.map { [leaving = self.leaving] in
      leaving[$0] - $0
    }
    let stayingBeforeArriving = self.arriving.map { [new] in $0 - new.count(below: $0) }
    var (leavingPlaces, arrivingPlaces, stayingBefore) = ([Int](), [Int](), [Int]())
    var (i, j) = (0, 0)
    while i < self.leaving.count || j < self.arriving.count {
      let place = i + j
      if j < self.arriving.count,
        i == self.leaving.count || stayingBeforeArriving[j] <= stayingBeforeLeaving[i]
      {
        arrivingPlaces.append(place)
        stayingBefore.append(stayingBeforeArriving[j])
        j += 1
      } else {
        leavingPlaces.append(place)
        stayingBefore.append(stayingBeforeLeaving[i])
        i += 1
      }
    }
    self.leavingPlaces = leavingPlaces
    self.arrivingPlaces = arrivingPlaces
    self.stayingBefore = stayingBefore
    taken = Fenwick(count: stayingBefore.count)
    for place in leavingPlaces { taken.add(1, at: place) }
  }

  /// Returns the current position of the element with a source index, which has not left.
  package func position(ofSource index: Int) -> Int {
    let i = leaving.count(below: index)
    guard i < leaving.count, leaving[i] == index else {
      let staying = index - i
      return staying + taken.sum(below: stayingBefore.count(below: staying + 1))
    }
    return position(ofPlace: leavingPlaces[i])
  }

  /// Returns the current or future position of the arriving element with a final index.
  package func position(ofArriving index: Int) -> Int {
    position(ofPlace: arrivingPlaces[arriving.count(below: index)])
  }

  /// Marks the element with a source index as removed.
  package mutating func leave(_ index: Int) {
    taken.add(-1, at: leavingPlaces[leaving.count(below: index)])
  }

  /// Marks the element with a final index as arrived.
  package mutating func arrive(_ index: Int) {
    taken.add(1, at: arrivingPlaces[arriving.count(below: index)])
  }

  /// Returns the final index of the staying element with a source index.
  package func finalIndex(ofSource index: Int) -> Int {
    new.free(index - leaving.count(below: index))
  }

  /// Returns the source index of the staying element with a final index.
  package func sourceIndex(ofFinal index: Int) -> Int {
    leaving.free(index - new.count(below: index))
  }

  private func position(ofPlace place: Int) -> Int {
    stayingBefore[place] + taken.sum(below: place)
  }
}

/// An array of counts with prefix sums in O(log n) (a Fenwick tree).
struct Fenwick {
  private var sums: [Int]

  init(count: Int) {
    sums = Array(repeating: 0, count: count + 1)
  }

  /// Adds to the count at an index.
  mutating func add(_ change: Int, at index: Int) {
    var i = index + 1
    while i < sums.count {
      sums[i] += change
      i += i & -i
    }
  }

  /// Returns the sum of the counts below an index.
  func sum(below index: Int) -> Int {
    var (i, sum) = (index, 0)
    while i > 0 {
      sum += sums[i]
      i -= i & -i
    }
    return sum
  }
}

extension [Int] {
  /// Returns the number of elements less than `number` in this ascending array.
  func count(below number: Int) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self[middle] < number { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Returns the number at position `rank`, from 0, among those not in this ascending array.
  func free(_ rank: Int) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self[middle] - middle <= rank { low = middle + 1 } else { high = middle }
    }
    return rank + low
  }
}
