extension Collection where Index == Int {
  /// Returns the difference to another collection.
  ///
  /// Equal elements at different positions count as moved.
  ///
  /// Finding the moves takes O(n²) in the number of differences. Hashable elements take O(n).
  public func diff(
    _ other: Self, areEqual: (Element, Element) -> Bool
  ) -> OrderedCollectionDiff<Int> {
    withoutActuallyEscaping(areEqual) { areEqual in
      let (old, new) = (Array(self), Array(other))
      let found = Myers(old.count, new.count) { areEqual(old[$0], new[$1]) }
      var (inserts, deletes) = (found.inserts, [Int]())
      var moves: [(from: Int, to: Int)] = []
      for index in found.deletes {
        if let i = inserts.firstIndex(where: { areEqual(old[index], new[$0]) }) {
          moves.append((from: index, to: inserts.remove(at: i)))
        } else {
          deletes.append(index)
        }
      }
      return OrderedCollectionDiff(inserts: inserts, deletes: deletes, moves: moves)
        .map { $0 + startIndex }
    }
  }
}

extension Collection where Index == Int, Element: Equatable {
  /// Returns the difference to another collection.
  ///
  /// Equal elements at different positions count as moved.
  public func diff(_ other: Self) -> OrderedCollectionDiff<Int> {
    diff(other, areEqual: ==)
  }
}

extension Collection where Index == Int, Element: Hashable {
  /// Returns the difference to another collection.
  ///
  /// Equal elements at different positions count as moved.
  public func diff(_ other: Self) -> OrderedCollectionDiff<Int> {
    var numbers: [Element: Int] = [:]
    func number(_ element: Element) -> Int {
      let number = numbers[element] ?? numbers.count
      numbers[element] = number
      return number
    }
    return HashedDiff(map(number), other.map(number)).diff.map { $0 + startIndex }
  }
}

/// A diff of two lists of numbers; equal numbers stand for equal elements.
private struct HashedDiff {
  private(set) var diff: OrderedCollectionDiff<Int>

  init(_ old: [Int], _ new: [Int]) {
    diff = OrderedCollectionDiff()
    let common = Set(old).intersection(new)
    // Elements that only one list contains differ in any case. Without them the search is faster.
    let oldIndices = old.indices.filter { common.contains(old[$0]) }
    let newIndices = new.indices.filter { common.contains(new[$0]) }
    let found = Myers(oldIndices.count, newIndices.count) {
      old[oldIndices[$0]] == new[newIndices[$1]]
    }
    diff.deletes = old.indices.filter { !common.contains(old[$0]) }
    diff.inserts = new.indices.filter { !common.contains(new[$0]) }
    addMoves(
      from: found.deletes.map { oldIndices[$0] }, to: found.inserts.map { newIndices[$0] },
      old, new)
    diff.deletes.sort()
    diff.inserts.sort()
  }

  private mutating func addMoves(from deletes: [Int], to inserts: [Int], _ old: [Int], _ new: [Int])
  {
    var waiting: [Int: Queue<Int>] = [:]
    for index in inserts { waiting[new[index], default: Queue()].append(index) }
    for index in deletes {
      if let to = waiting[old[index]]?.popFirst() {
        diff.moves.append((from: index, to: to))
      } else {
        diff.deletes.append(index)
      }
    }
    for var left in waiting.values {
      while let index = left.popFirst() { diff.inserts.append(index) }
    }
  }
}

extension OrderedCollectionDiff where Index == Int {
  /// Returns the source index of each element of the final collection; `nil` for inserted elements;
  /// O(n), plus O(k log k) in the size of the diff.
  package func origins(of sourceCount: Int, in finalCount: Int) -> [Int?] {
    let leaving = (deletes + moves.map(\.from)).sorted()
    let arriving =
      (inserts.map { (to: $0, from: Int?.none) } + moves.map { (to: $0.to, from: $0.from) })
      .sorted { $0.to < $1.to }
    var origins: [Int?] = []
    origins.reserveCapacity(finalCount)
    var (source, left, arrived) = (0, 0, 0)
    for index in 0..<finalCount {
      if arrived < arriving.count, arriving[arrived].to == index {
        origins.append(arriving[arrived].from)
        arrived += 1
        continue
      }
      while left < leaving.count, leaving[left] == source {
        (left, source) = (left + 1, source + 1)
      }
      precondition(source < sourceCount, "a diff does not fit its collection")
      origins.append(source)
      source += 1
    }
    return origins
  }
}

extension SignalProtocol {
  /// Emits each element with its difference to the previous one, as `generateDiff` returns it.
  ///
  /// The first element has unknown changes. An element without differences is not emitted.
  package func changesets<Changeset: ChangesetProtocol>(
    generateDiff: @escaping (Element, Element) -> Changeset.Diff
  ) -> Signal<Changeset, Error> where Changeset.Collection == Element {
    Signal { observer in
      var last: Element?
      return observe { event in
        switch event {
        case .next(let collection):
          let diff = last.map { generateDiff($0, collection) }
          last = collection
          if diff?.isEmpty == true { return }
          let changes: Changes<Changeset.Operation, Changeset.Diff> =
            if let diff { .diff(diff) } else { .whole }
          observer.receive(Changeset(collection: collection, changes: changes))
        case .failed(let error): observer.fail(error)
        case .completed: observer.complete()
        }
      }
    }
  }
}

extension SignalProtocol where Element: Collection, Element.Index == Int {
  /// Emits each collection with its difference to the previous one, as `generateDiff` returns it.
  ///
  /// A collection without differences is not emitted.
  public func diff(
    generateDiff: @escaping (Element, Element) -> OrderedCollectionDiff<Int>
  ) -> Signal<OrderedCollectionChangeset<Element>, Error> {
    changesets(generateDiff: generateDiff)
  }

  /// Emits each collection with its difference to the previous one.
  ///
  /// A collection without differences is not emitted.
  public func diff(
    _ areEqual: @escaping (Element.Element, Element.Element) -> Bool
  ) -> Signal<OrderedCollectionChangeset<Element>, Error> {
    diff(generateDiff: { $0.diff($1, areEqual: areEqual) })
  }
}

extension SignalProtocol
where Element: Collection, Element.Index == Int, Element.Element: Equatable {
  /// Emits each collection with its difference to the previous one.
  ///
  /// A collection without differences is not emitted.
  public func diff() -> Signal<OrderedCollectionChangeset<Element>, Error> {
    diff(generateDiff: { $0.diff($1) })
  }
}

extension SignalProtocol
where Element: Collection, Element.Index == Int, Element.Element: Hashable {
  /// Emits each collection with its difference to the previous one.
  ///
  /// A collection without differences is not emitted.
  public func diff() -> Signal<OrderedCollectionChangeset<Element>, Error> {
    diff(generateDiff: { $0.diff($1) })
  }
}

/// The elements in which two lists differ: indices to delete from the old list, and indices to
/// insert from the new one.
///
/// This is the linear-space variant of E. W. Myers, "An O(ND) Difference Algorithm and Its
/// Variations" (1986). Memory is O(n), time is O(n · d) for d differences, and the result is a
/// shortest one. Where two ranges differ in more than ``patience`` elements, it takes a good split
/// instead of the best. So time stays below O(n · patience).
struct Myers {
  private static var patience: Int { 256 }

  private let areEqual: (Int, Int) -> Bool
  /// The furthest point on each diagonal, searching from the start and from the end.
  private var forward: [Int]
  private var backward: [Int]
  private let zero: Int
  private(set) var deletes: [Int] = []
  private(set) var inserts: [Int] = []

  /// Compares two lists of these lengths by index, the old index first.
  init(_ oldCount: Int, _ newCount: Int, areEqual: @escaping (Int, Int) -> Bool) {
    self.areEqual = areEqual
    zero = min((oldCount + newCount + 1) / 2, Self.patience) + 1
    forward = Array(repeating: 0, count: 2 * zero + 1)
    backward = forward
    var boxes = [(old: 0..<oldCount, new: 0..<newCount)]
    while let box = boxes.popLast() {
      let (old, new) = trimmed(box.old, box.new)
      if old.isEmpty {
        inserts += new
      } else if new.isEmpty {
        deletes += old
      } else {
        let (x, y) = split(old, new)
        boxes.append((x..<old.upperBound, y..<new.upperBound))
        boxes.append((old.lowerBound..<x, new.lowerBound..<y))
      }
    }
  }

  /// Removes the common prefix and suffix.
  private func trimmed(_ old: Range<Int>, _ new: Range<Int>) -> (Range<Int>, Range<Int>) {
    var (a, b, c, d) = (old.lowerBound, old.upperBound, new.lowerBound, new.upperBound)
    while a < b, c < d, areEqual(a, c) { (a, c) = (a + 1, c + 1) }
    while a < b, c < d, areEqual(b - 1, d - 1) { (b, d) = (b - 1, d - 1) }
    return (a..<b, c..<d)
  }

  /// Returns a point on a shortest path, neither the start nor the end.
  private mutating func split(_ old: Range<Int>, _ new: Range<Int>) -> (Int, Int) {
    let (width, height) = (old.count, new.count)
    let delta = width - height
    let isOdd = delta % 2 != 0
    forward[zero + 1] = 0
    backward[zero + 1] = 0
    for steps in 0..<zero {
      for k in stride(from: -steps, through: steps, by: 2) {
        let x = advance(&forward, k, steps, width, height) {
          areEqual(old.lowerBound + $0, new.lowerBound + $1)
        }
        if isOdd, abs(delta - k) < steps, x + backward[zero + delta - k] >= width {
          return (old.lowerBound + x, new.lowerBound + x - k)
        }
      }
      for k in stride(from: -steps, through: steps, by: 2) {
        let x = advance(&backward, k, steps, width, height) {
          areEqual(old.upperBound - 1 - $0, new.upperBound - 1 - $1)
        }
        if !isOdd, abs(delta - k) <= steps, x + forward[zero + delta - k] >= width {
          return (old.upperBound - x, new.upperBound - x + k)
        }
      }
    }
    return furthest(old, new)
  }

  /// Goes one step further on a diagonal, then on while elements are equal.
  private func advance(
    _ reached: inout [Int], _ k: Int, _ steps: Int, _ width: Int, _ height: Int,
    areEqual: (Int, Int) -> Bool
  ) -> Int {
    let (above, below) = (reached[zero + k + 1], steps == 0 ? 0 : reached[zero + k - 1])
    var x = k == -steps || (k != steps && below < above) ? above : below + 1
    while x < width, x - k < height, x - k >= 0, areEqual(x, x - k) { x += 1 }
    reached[zero + k] = x
    return x
  }

  /// Returns the furthest point of the search from the start.
  private func furthest(_ old: Range<Int>, _ new: Range<Int>) -> (Int, Int) {
    var best = (x: 0, y: 0)
    let steps = zero - 1
    for k in stride(from: -steps, through: steps, by: 2) {
      let x = forward[zero + k]
      let y = x - k
      if x <= old.count, y <= new.count, y >= 0, x + y > best.x + best.y { best = (x, y) }
    }
    precondition(best.x + best.y > 0, "a diff gets nowhere")
    return (old.lowerBound + best.x, new.lowerBound + best.y)
  }
}
