import Signals
import SignalsDialects
import SignalsTestSupport
import TestSupport
import Testing

@Suite(.leavesNothing)
struct DerivedCollectionTests {
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
}
