internal import Facts

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
