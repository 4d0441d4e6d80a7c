import Signals
import SignalsTestSupport
import TestSupport
import Testing

@Suite(.leavesNothing)
struct CollectionOperatorTests {
  /// Makes random operations, batches and replacements while observers are added and disposed.
  private func check(
    seed: Int,
    _ signal: (MutableObservableArray<Int>) -> Signal<OrderedCollectionChangeset<[Int]>, Never>,
    is model: ([Int]) -> [Int]
  ) {
    var random = Random(seed)
    for _ in 0..<100 {
      let array = MutableObservableArray(Array(0..<random.below(10)))
      let signal = signal(array)
      var followers = [Follower(signal)]
      for i in 0..<40 {
        Self.change(array, i, &random)
        if random.below(4) == 0 { followers.append(Follower(signal)) }
        if random.below(6) == 0, followers.count > 1 {
          followers.remove(at: random.below(followers.count)).bag.dispose()
        }
        let expected = model(array.collection)
        for follower in followers { #expect(follower.byPatch == expected) }
        guard followers.allSatisfy({ $0.byPatch == expected }) else { return }
      }
    }
  }

  private static func change(_ array: MutableObservableArray<Int>, _ i: Int, _ random: inout Random)
  {
    func step() {
      array.apply(
        ListScript.step(of: array.collection, newElement: random.below(100), &random))
    }
    switch random.below(12) {
    case 0: array.replace(with: (0..<random.below(10)).map { _ in random.below(100) })
    case 1:
      array.replace(
        with: array.collection.filter { $0 % 3 != 0 } + [random.below(100)], performDiff: true)
    case 2, 3: array.batchUpdate { _ in for _ in 0..<random.below(12) { step() } }
    default: step()
    }
  }

  @Test
  func `mapCollection gives the same as map for any number of observers`() {
    check(seed: 31, { $0.mapCollection { $0 * 7 } }, is: { $0.map { $0 * 7 } })
  }

  @Test
  func `filterCollection gives the same as filter for any number of observers`() {
    check(seed: 32, { $0.filterCollection { $0 % 2 == 0 } }, is: { $0.filter { $0 % 2 == 0 } })
  }

  @Test
  func `sortedCollection gives the same as sorted for any number of observers`() {
    check(seed: 33, { $0.sortedCollection() }, is: { $0.sorted() })
    check(seed: 34, { $0.sortedCollection { $0 % 10 < $1 % 10 }.mapCollection { $0 % 10 } }) {
      $0.map { $0 % 10 }.sorted()
    }
  }

  @Test
  func `chained collection operators give the right result`() {
    check(
      seed: 35,
      { $0.filterCollection { $0 % 3 > 0 }.mapCollection { $0 / 2 }.sortedCollection(by: >) },
      is: { $0.filter { $0 % 3 > 0 }.map { $0 / 2 }.sorted(by: >) })
  }

  @Test
  func `lazyMapCollection gives the same as map`() {
    check(
      seed: 36,
      { array in
        array.lazyMapCollection { $0 + 1 }.map { changeset in
          OrderedCollectionChangeset(
            collection: Array(changeset.collection), patch: changeset.patch)
        }
      }, is: { $0.map { $0 + 1 } })
  }

  @Test
  func `a change of excluded elements is not sent`() {
    let array = MutableObservableArray([1, 2, 3])
    let follower = Follower(array.filterCollection { $0 > 1 })
    array.append(0)
    array[0] = -1
    array.move(from: 0, to: 3)
    array.batchUpdate {
      $0.append(9)
      $0.removeLast()
    }
    #expect(follower.events == 1)
    array[2] = 7
    #expect(follower.byPatch == [2, 3, 7] && follower.events == 2)
  }

  @Test
  func `an element is transformed once for each observer`() {
    let array = MutableObservableArray([1, 2, 3])
    var transformed: [Int] = []
    let follower = Follower(
      array.mapCollection {
        transformed.append($0)
        return -$0
      })
    array.append(4)
    array.move(from: 3, to: 0)
    array.batchUpdate {
      $0.append(5)
      $0.remove(at: 1)
    }
    #expect(transformed == [1, 2, 3, 4, 5])
    #expect(follower.byPatch == [-4, -2, -3, -5])
  }

  @Test
  func `a derived collection ends with its source`() {
    let recorder = Recorder<OrderedCollectionChangeset<[Int]>, Never>()
    let bag = DisposeBag()
    do {
      let array = MutableObservableArray([3, 1])
      array.sortedCollection().observe(with: recorder.tell).dispose(in: bag)
    }
    #expect(recorder.isComplete)
    #expect(recorder.elements.map(\.collection) == [[1, 3]])
  }

  @Test
  func `the diff and the patch can be computed in advance`() {
    let array = MutableObservableArray([1])
    var changesets: [OrderedCollectionChangeset<[Int]>] = []
    let bag = DisposeBag()
    array.precalculateDiff().precalculatePatch().observeNext { changesets.append($0) }
      .dispose(in: bag)
    array.batchUpdate {
      $0.append(2)
      $0.append(3)
    }
    #expect(changesets.last?.diff == ListDiff(inserts: [1, 2]))
    #expect(changesets.last?.patch == [.insert(2, at: 1), .insert(3, at: 2)])
  }
}
