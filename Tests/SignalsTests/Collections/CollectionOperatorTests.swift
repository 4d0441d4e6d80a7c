import Signals
import TestSupport
import Testing

@Suite(.leavesNothing)
struct CollectionOperatorTests {
  /// An observer that can be disposed, with the collections that it has built from the changes.
  final class Follower {
    private(set) var byPatch: [Int] = []
    private(set) var byDiff: [Int] = []
    private(set) var events = 0
    let bag = DisposeBag()

    init(_ signal: some SignalProtocol<OrderedCollectionChangeset<[Int]>, Never>) {
      signal.observeNext { [unowned self] changeset in
        follow(changeset, &byPatch)
        if changeset.changes.isWhole {
          byDiff = changeset.collection
        } else {
          byDiff.apply(changeset.diff.generatePatch(to: changeset.collection))
        }
        #expect(byPatch == changeset.collection && byDiff == byPatch)
        events += 1
      }.dispose(in: bag)
    }
  }

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
  func `a dictionary and a set are sorted for any number of observers`() {
    var random = Random(37)
    for _ in 0..<100 {
      let dictionary = MutableObservableDictionary<Int, Int>()
      let set = MutableObservableSet<Int>()
      let byValue = dictionary.sortedCollection { ($0.value, $0.key) < ($1.value, $1.key) }
        .mapCollection { $0.value * 100 + $0.key }
      var followers: [Follower] = []
      var setFollowers: [Follower] = []
      for _ in 0..<40 {
        func step() {
          dictionary[random.below(8)] = random.below(3) == 0 ? nil : random.below(5)
          if random.below(2) == 0 {
            set.insert(random.below(9))
          } else {
            set.remove(random.below(9))
          }
        }
        if random.below(4) == 0 { followers.append(Follower(byValue)) }
        if random.below(4) == 0 { setFollowers.append(Follower(set.sortedCollection())) }
        if random.below(3) > 0 {
          step()
        } else {
          dictionary.batchUpdate { _ in set.batchUpdate { _ in for _ in 0..<5 { step() } } }
        }
        let expected = dictionary.collection.map { $0.value * 100 + $0.key }.sorted()
        for follower in followers { #expect(follower.byPatch == expected) }
        for follower in setFollowers { #expect(follower.byPatch == set.collection.sorted()) }
      }
    }
  }

  @Test
  func `a batch may insert an element whose key already exists`() {
    typealias Changeset = UnorderedCollectionChangeset<[Int: Int]>
    let source = PassthroughSubject<Changeset, Never>()
    let follower = Follower(
      source.sortedCollection { $0.value < $1.value }.mapCollection { $0.value })
    source.send(Changeset(collection: [1: 5, 2: 6], changes: .whole))
    #expect(follower.byPatch == [5, 6])
    let diff = UnorderedCollectionDiff(inserts: [1])
    source.send(Changeset(collection: [1: 7, 2: 6], changes: .diff(diff)))
    #expect(follower.byPatch == [6, 7])
    source.send(Changeset(collection: [2: 6], changes: .one(.delete(at: 1))))
    #expect(follower.byPatch == [6])
  }

  @Test
  func `sections are flattened for any number of observers`() {
    var random = Random(38)
    for _ in 0..<100 {
      let array = MutableObservableArray2D<Int, Int>()
      let flat = array.flatten()
      var followers = [Follower(flat)]
      for i in 0..<40 {
        let count = random.below(4) == 0 ? 3 : 1
        array.batchUpdate { _ in
          for _ in 0..<count { Self.change(array, i, &random) }
        }
        if random.below(4) == 0 { followers.append(Follower(flat)) }
        let expected = array.collection.sections.flatMap(\.items)
        for follower in followers { #expect(follower.byPatch == expected) }
        guard followers.allSatisfy({ $0.byPatch == expected }) else { return }
      }
    }
  }

  private static func change(
    _ array: MutableObservableArray2D<Int, Int>, _ i: Int, _ random: inout Random
  ) {
    let sections = array.collection.sections
    let section = Array2D<Int, Int>.Section(
      metadata: i, items: (0..<random.below(4)).map { $0 + 10 * i })
    guard !sections.isEmpty else { return array.appendSection(section) }
    let (s, t) = (random.below(sections.count), random.below(sections.count))
    let items = sections[s].items.count
    switch random.below(10) {
    case 0: array.insert(section: section, at: s)
    case 1: array.moveSection(from: s, to: t)
    case 2: array[sectionAt: s] = section
    case 3 where random.below(3) == 0: array.removeSection(at: s)
    case 4 where items > 0: array.removeItem(at: [s, random.below(items)])
    case 5 where items > 0: array[itemAt: [s, random.below(items)]] = 1000 + i
    case 6 where items > 0:
      let room = sections[t].items.count + (s == t ? 0 : 1)
      array.moveItem(from: [s, random.below(items)], to: [t, random.below(room)])
    case 7: array.insert(contentsOf: [i, i + 1], at: [s, random.below(items + 1)])
    default: array.appendItem(i, toSectionAt: s)
    }
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
