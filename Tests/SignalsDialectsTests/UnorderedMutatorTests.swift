import Signals
import SignalsDialects
import SignalsTestSupport
import TestSupport
import Testing

@Suite(.leavesNothing)
struct UnorderedMutatorTests {
  let bag = DisposeBag()

  @Test
  func `a set sends insertions and deletions, and nothing without a change`() {
    let set = MutableObservableSet<Int>([1])
    var patches: [[UnorderedCollectionOperation<Int, Int>]] = []
    set.observeNext { patches.append($0.patch) }.dispose(in: bag)
    set.insert(2)
    set.insert(2)
    #expect(set.remove(1) == 1)
    #expect(set.remove(1) == nil)
    set.removeAll()
    set.removeAll()
    #expect(set.collection.isEmpty)
    #expect(patches == [[], [.insert(2, at: 2)], [.delete(at: 1)], [.delete(at: 2)]])
  }

  @Test
  func `a dictionary sends insertions, updates and deletions, and nothing without a change`() {
    let dictionary = MutableObservableDictionary(["a": 1])
    var diffs: [UnorderedCollectionDiff<String>] = []
    dictionary.observeNext { diffs.append($0.diff) }.dispose(in: bag)
    dictionary["b"] = 2
    dictionary["b"] = nil
    dictionary["b"] = nil
    #expect(dictionary.updateValue(3, forKey: "a") == 1)
    #expect(dictionary.updateValue(4, forKey: "c") == nil)
    #expect(dictionary.removeValue(forKey: "c") == 4)
    #expect(dictionary.removeValue(forKey: "c") == nil)
    dictionary.removeAll()
    dictionary.removeAll()
    #expect(
      diffs == [
        .init(), .init(inserts: ["b"]), .init(deletes: ["b"]), .init(updates: ["a"]),
        .init(inserts: ["c"]), .init(deletes: ["c"]), .init(deletes: ["a"]),
      ])
  }

  @Test
  func `the read-only views have the same content`() {
    let set = MutableObservableSet<Int>([1])
    let dictionary = MutableObservableDictionary(["a": 1])
    let (setView, dictionaryView) = (set.readOnlyView, dictionary.readOnlyView)
    set.insert(2)
    dictionary["a"] = 2
    #expect(setView.collection == [1, 2])
    #expect(setView.count == 2)
    #expect(dictionaryView["a"] == 2)
    #expect(dictionaryView.collection == ["a": 2])
  }

  @Test
  func `a patch and its diff give the same dictionary`() {
    var random = Random(5)
    for _ in 0..<10_000 {
      var source: [Int: Int] = [:]
      for key in 0..<random.below(5) { source[key] = key }
      let dictionary = MutableObservableDictionary(source)
      var changesets: [UnorderedCollectionChangeset<[Int: Int]>] = []
      let observation = dictionary.dropFirst(1).observeNext { changesets.append($0) }
      dictionary.batchUpdate {
        for i in 0..<random.below(10) { $0[random.below(6)] = random.below(2) == 0 ? nil : 100 + i }
      }
      observation.dispose()
      var (byPatch, byDiff) = (source, source)
      for changeset in changesets {
        byPatch.apply(changeset.patch)
        byDiff.apply(changeset.diff.generatePatch(to: changeset.collection))
      }
      #expect(byPatch == dictionary.collection)
      #expect(byDiff == dictionary.collection)
      guard byPatch == dictionary.collection, byDiff == byPatch else { return }
    }
  }
}
