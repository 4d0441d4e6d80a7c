import Signals
import SignalsDialects
import TestSupport
import Testing

@Suite(.leavesNothing)
struct Array2DMutatorTests {
  typealias Sections = Array2D<String, Int>
  let bag = DisposeBag()

  /// Changes the sections "a" with 1, 2 and "b" with 3.
  ///
  /// - Returns: The result, and the number of operations in each event.
  private func told(
    _ change: (MutableObservableArray2D<String, Int>) -> Void
  ) -> (sections: Sections, steps: [Int]) {
    let before = Sections(sectionsWithItems: [("a", [1, 2]), ("b", [3])])
    let array = MutableObservableArray2D(before)
    var steps: [Int] = []
    var (byPatch, byDiff) = (before, before)
    array.dropFirst(1).observeNext { changeset in
      steps.append(changeset.patch.count)
      byPatch.apply(changeset.patch)
      byDiff.apply(changeset.diff.generatePatch(to: changeset.collection))
      #expect(byPatch == changeset.collection)
      #expect(byDiff == changeset.collection)
    }.dispose(in: bag)
    change(array)
    #expect(byPatch == array.collection)
    return (array.collection, steps)
  }

  private func sections(_ sections: [(String, [Int])]) -> Sections {
    Sections(sectionsWithItems: sections)
  }

  @Test
  func `items and sections are read and replaced`() {
    let (array, steps) = told {
      #expect($0[itemAt: [0, 1]] == 2)
      #expect($0[sectionAt: 1].metadata == "b")
      #expect($0.numberOfItemsInAllSections == 3)
      $0[itemAt: [0, 1]] = 9
      $0[sectionAt: 1] = .init(metadata: "c", items: [7, 8])
    }
    #expect(array == sections([("a", [1, 9]), ("c", [7, 8])]))
    #expect(steps == [1, 1])
  }

  @Test
  func `sections and items are added`() {
    let (array, steps) = told {
      $0.appendSection("c")
      $0.appendSection(.init(metadata: "d", items: [4]))
      $0.insert(section: "e", at: 0)
      $0.insert(section: .init(metadata: "f", items: [5]), at: 1)
      $0.appendItem(6, toSectionAt: 0)
      $0.insert(item: 7, at: [0, 0])
      $0.insert(contentsOf: [8, 9], at: [2, 1])
    }
    #expect(
      array
        == sections([
          ("e", [7, 6]), ("f", [5]), ("a", [1, 8, 9, 2]), ("b", [3]), ("c", []), ("d", [4]),
        ]))
    #expect(steps == [1, 1, 1, 1, 1, 1, 2])
  }

  @Test
  func `sections and items are moved`() {
    let (array, steps) = told {
      $0.moveSection(from: 0, to: 1)
      $0.moveItem(from: [1, 0], to: [0, 1])
    }
    #expect(array == sections([("b", [3, 1]), ("a", [2])]))
    #expect(steps == [1, 1])
  }

  @Test
  func `sections and items are removed`() {
    let (array, steps) = told {
      #expect($0.removeItem(at: [0, 0]) == 1)
      #expect($0.removeSection(at: 1).items == [3])
    }
    #expect(array == sections([("a", [2])]))
    #expect(steps == [1, 1])
  }

  @Test
  func `all items are removed, and all sections`() {
    let (array, steps) = told {
      $0.removeAllItems()
      #expect($0.collection == sections([("a", []), ("b", [])]))
      $0.removeAllItems()
      $0.removeAllItemsAndSections()
    }
    #expect(array.sections.isEmpty)
    #expect(steps == [3, 2])
  }

  @Test
  func `the items of a section are sorted`() {
    let (array, steps) = told {
      $0.insert(contentsOf: [5, 4], at: [0, 0])
      $0.sortItems(ofSectionAt: 0)
      $0.sortItems(ofSectionAt: 0)
      $0.sortItems(ofSectionAt: 0, by: >)
    }
    #expect(array == sections([("a", [5, 4, 2, 1]), ("b", [3])]))
    #expect(steps.count == 3)
  }

  @Test
  func `the items of a section are replaced`() {
    let (array, steps) = told { $0.replaceItems(ofSectionAt: 0, with: [7, 8]) }
    #expect(array == sections([("a", [7, 8]), ("b", [3])]))
    #expect(steps == [1])
  }

  @Test
  func `an item is added in place`() {
    let array = MutableObservableArray2D(
      Sections(sectionsWithItems: [("a", Array(0..<100))]))
    array.observeNext { _ in }.dispose(in: bag)
    for i in 0..<9 { array.appendItem(i, toSectionAt: 0) }
    let before = array.collection.sections[0].items.withUnsafeBufferPointer { $0.baseAddress }
    array.appendItem(1, toSectionAt: 0)
    array.removeItem(at: [0, 0])
    let after = array.collection.sections[0].items.withUnsafeBufferPointer { $0.baseAddress }
    #expect(before == after)
  }
}
