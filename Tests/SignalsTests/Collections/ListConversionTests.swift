import Signals
import SignalsTestSupport
import TestSupport
import Testing

typealias ListDiff = OrderedCollectionDiff<Int>
typealias ListOperation = OrderedCollectionOperation<Int, Int>

@Suite(.leavesNothing)
struct ListConversionTests {
  @Test
  func `a patch converted to a diff and back gives the same list`() {
    var random = Random(1)
    for round in 0..<10_000 {
      let script = ListScript(size: 8, length: 12, &random)
      let diff = ListDiff(from: script.patch)
      var list = script.source
      list.apply(diff.generatePatch(to: script.final))
      #expect(list == script.final, "round \(round): \(script.patch)")
      guard list == script.final else { return }
    }
  }

  @Test
  func `a diff converted to a patch and back is the same diff`() {
    var random = Random(2)
    for round in 0..<10_000 {
      let script = ListScript(size: 12, length: 12, &random)
      let diff = ListDiff(from: script.patch).sorted
      let again = ListDiff(from: diff.generatePatch(to: script.final)).sorted
      #expect(again == diff, "round \(round): \(script.patch)")
      guard again == diff else { return }
    }
  }

  @Test
  func `a diff agrees with its definition`() {
    var random = Random(3)
    for round in 0..<10_000 {
      let script = ListScript(size: 8, length: 8, &random)
      let diff = ListDiff(from: script.patch)
      let list = diff.taken(by: script.source, to: script.final)
      #expect(list == script.final, "round \(round): \(script.patch)")
      guard list == script.final else { return }
    }
  }

  @Test
  func `an element that is inserted and deleted is not in the diff`() {
    #expect(ListDiff(from: [ListOperation.insert(7, at: 2), .delete(at: 2)]).isEmpty)
  }

  @Test
  func `an update of an inserted element is part of the insertion`() {
    let patch = [ListOperation.insert(7, at: 2), .update(at: 2, newElement: 8)]
    #expect(ListDiff(from: patch) == ListDiff(inserts: [2]))
  }

  @Test
  func `an update of a moved element is a deletion and an insertion`() {
    let patch = [ListOperation.move(from: 0, to: 2), .update(at: 2, newElement: 8)]
    #expect(ListDiff(from: patch) == ListDiff(inserts: [2], deletes: [0]))
  }

  @Test
  func `two moves of an element are one move`() {
    let patch = [ListOperation.move(from: 0, to: 2), .move(from: 2, to: 1)]
    #expect(ListDiff(from: patch) == ListDiff(moves: [(from: 0, to: 1)]))
  }

  @Test
  func `a move back to the original index is no change`() {
    let patch = [ListOperation.move(from: 0, to: 2), .move(from: 2, to: 0)]
    #expect(ListDiff(from: patch).isEmpty)
    #expect(ListDiff(from: [ListOperation.move(from: 1, to: 1)]).isEmpty)
  }

  @Test
  func `indices refer to the source or to the final list, as documented`() {
    let patch = [
      ListOperation.delete(at: 0), .insert(9, at: 0), .update(at: 3, newElement: 8),
      .move(from: 1, to: 4),
    ]
    let diff = ListDiff(from: patch)
    #expect(diff == ListDiff(inserts: [0], deletes: [0], updates: [3], moves: [(from: 1, to: 4)]))
  }

  @Test
  func `a patch made from a diff has updates, deletes, moves, inserts in this order`() {
    let diff = ListDiff(inserts: [0], deletes: [1], updates: [3], moves: [(from: 0, to: 3)])
    #expect(
      diff.generatePatch(to: [90, 2, 93, 0])
        == [
          .update(at: 3, newElement: 93), .delete(at: 1), .move(from: 0, to: 2), .insert(90, at: 0),
        ])
  }

  @Test
  func `the cost of a conversion grows almost linearly with the number of steps`() {
    // A quadratic conversion would cost sixty-four times as much for eight times the steps.
    let (few, many) = (Self.cost(of: 1000), Self.cost(of: 8000))
    #expect(many < few * 30, "\(few) for 1000 steps, \(many) for 8000")
  }

  /// Returns the shortest of three times for converting so many operations in both directions.
  private static func cost(of steps: Int) -> Duration {
    var random = Random(4)
    let script = (0..<steps).map { i in
      i % 2 == 0
        ? ListOperation.insert(i, at: random.below(1000 + i / 2))
        : .move(from: random.below(1000 + i / 2), to: random.below(1000 + i / 2))
    }
    var final = Array(0..<2000)
    final.apply(script)
    return (0..<3).map { _ in
      ContinuousClock().measure { _ = ListDiff(from: script).generatePatch(to: final) }
    }.min() ?? .zero
  }
}

extension OrderedCollectionDiff where Index == Int {
  /// The same diff with its indices in a canonical order.
  var sorted: OrderedCollectionDiff {
    OrderedCollectionDiff(
      inserts: inserts.sorted(), deletes: deletes.sorted(), updates: updates.sorted(),
      moves: moves.sorted { $0.from < $1.from })
  }

  /// Returns the list that the definition of a diff gives, computed slowly.
  func taken(by source: [Int], to final: [Int]) -> [Int] {
    var places: [Int?] = Array(repeating: nil, count: final.count)
    for index in inserts { places[index] = final[index] }
    for move in moves { places[move.to] = source[move.from] }
    let gone = Set(deletes + moves.map(\.from))
    var staying = source.indices.filter { !gone.contains($0) }[...]
    for index in places.indices where places[index] == nil {
      guard let next = staying.popFirst() else { return [] }
      places[index] = updates.contains(next) ? final[index] : source[next]
    }
    return staying.isEmpty ? places.compactMap { $0 } : []
  }
}
