import Signals
import SignalsTestSupport
import TestSupport
import Testing

@Suite(.leavesNothing)
struct DiffTests {
  let bag = DisposeBag()

  @Test
  func `the diff of any two lists turns one into the other`() {
    var random = Random(21)
    for _ in 0..<5000 {
      let (size, kinds) = (random.below(12), 1 + random.below(6))
      let old = (0..<size).map { _ in random.below(kinds) }
      let new = (0..<random.below(12)).map { _ in random.below(kinds) }
      for diff in [old.diff(new), old.diff(new, areEqual: ==)] {
        var list = old
        list.apply(diff.generatePatch(to: new))
        #expect(list == new && diff.taken(by: old, to: new) == new, "\(old) \(new) \(diff)")
        guard list == new else { return }
      }
    }
  }

  @Test
  func `a diff has at most twice as many entries as the patch`() {
    var random = Random(22)
    for _ in 0..<2000 {
      let script = ListScript(size: 30, length: 6, &random)
      let diff = script.source.diff(script.final)
      #expect(diff.count <= 2 * script.patch.count, "\(script.patch) \(diff)")
    }
  }

  @Test
  func `an equal element at another index counts as moved`() {
    #expect([1, 2, 3, 4].diff([4, 1, 2, 3]) == ListDiff(moves: [(from: 3, to: 0)]))
    let diff = ["a", "b", "c"].diff(["c", "x", "a"])
    #expect(diff.inserts == [1] && diff.deletes == [1] && diff.moves.count == 1)
  }

  @Test
  func `the diff of a slice uses the indices of the slice`() {
    let list = Array(0..<9)
    #expect(list[3..<6].diff(list[3..<5]) == ListDiff(deletes: [5]))
  }

  @Test
  func `long lists that are disjoint or shuffled are compared in time`() {
    let (old, new) = (Array(0..<1500), Array(1500..<3000))
    #expect(old.diff(new) == ListDiff(inserts: Array(0..<1500), deletes: Array(0..<1500)))
    var random = Random(23)
    let shuffled = old.shuffled(using: &random)
    let diff = old.diff(shuffled)
    #expect(diff.inserts.isEmpty && diff.deletes.isEmpty)
    var list = old
    list.apply(diff.generatePatch(to: shuffled))
    #expect(list == shuffled)
  }

  @Test
  func `a signal of lists emits the differences separately for each observer`() {
    let lists = PassthroughSubject<[Int], Never>()
    let changes = lists.diff()
    var (first, second) = ([[ListOperation]](), [[ListOperation]]())
    changes.observeNext { first.append($0.patch) }.dispose(in: bag)
    lists.send([1, 2])
    lists.send([1, 2])
    changes.observeNext { second.append($0.patch) }.dispose(in: bag)
    lists.send([2, 3])
    lists.send([2])
    #expect(first == [[], [.delete(at: 0), .insert(3, at: 1)], [.delete(at: 1)]])
    #expect(second == [[], [.delete(at: 1)]])
  }

  @Test
  func `a closure of the caller compares the elements`() {
    let lists = Signal<[Int], Never>(sequence: [[1, 2], [11, 3]])
    let patches = lists.diff { $0 % 10 == $1 % 10 }.map(\.patch).elementsAtOnce()
    #expect(patches == [[], [.delete(at: 1), .insert(3, at: 1)]])
  }

  @Test
  func `replacing an array sends the differences, or nothing`() {
    let array = MutableObservableArray([1, 2, 3])
    var patches: [[ListOperation]] = []
    array.dropFirst(1).observeNext { patches.append($0.patch) }.dispose(in: bag)
    array.replace(with: [1, 3], performDiff: true)
    array.replace(with: [1, 3], performDiff: true)
    array.replace(with: [3, 4], performDiff: true, areEqual: ==)
    array.replace(with: [5], performDiff: false)
    #expect(array.collection == [5])
    #expect(patches == [[.delete(at: 1)], [.delete(at: 0), .insert(4, at: 1)], []])
  }
}
