import Signals
import SignalsTestSupport
import TestSupport
import Testing

@Suite(.leavesNothing)
struct ArrayMutatorTests {
  let bag = DisposeBag()

  /// Changes an array of 1, 2, 3.
  ///
  /// - Returns: The result, and the patches that an observer receives.
  private func told(
    _ change: (MutableObservableArray<Int>) -> Void
  ) -> (array: [Int], patches: [[ListOperation]]) {
    let array = MutableObservableArray([1, 2, 3])
    var patches: [[ListOperation]] = []
    array.dropFirst(1).observeNext { [unowned array] changeset in
      #expect(changeset.collection == array.collection)
      patches.append(changeset.patch)
    }.dispose(in: bag)
    change(array)
    return (array.collection, patches)
  }

  @Test
  func `a new observer receives the whole array at once`() {
    let array = MutableObservableArray([1, 2])
    array.append(3)
    var events: [OrderedCollectionChangeset<[Int]>] = []
    array.observeNext { events.append($0) }.dispose(in: bag)
    #expect(events.map(\.collection) == [[1, 2, 3]])
    #expect(events.map(\.patch) == [[]])
    #expect(events.allSatisfy { $0.diff.isEmpty })
  }

  @Test
  func `an element is replaced`() {
    let (array, patches) = told { $0[1] = 9 }
    #expect(array == [1, 9, 3])
    #expect(patches == [[.update(at: 1, newElement: 9)]])
  }

  @Test
  func `an element is appended`() {
    let (array, patches) = told { $0.append(9) }
    #expect(array == [1, 2, 3, 9])
    #expect(patches == [[.insert(9, at: 3)]])
  }

  @Test
  func `an element is inserted`() {
    let (array, patches) = told { $0.insert(9, at: 1) }
    #expect(array == [1, 9, 2, 3])
    #expect(patches == [[.insert(9, at: 1)]])
  }

  @Test
  func `elements are inserted as one change`() {
    let (array, patches) = told { $0.insert(contentsOf: [8, 9], at: 1) }
    #expect(array == [1, 8, 9, 2, 3])
    #expect(patches == [[.insert(8, at: 1), .insert(9, at: 2)]])
  }

  @Test
  func `an element is moved`() {
    let (array, patches) = told { $0.move(from: 0, to: 2) }
    #expect(array == [2, 3, 1])
    #expect(patches == [[.move(from: 0, to: 2)]])
  }

  @Test
  func `elements are moved in the order given`() {
    let (array, patches) = told { $0.move(from: [2, 0], to: 1) }
    #expect(array == [2, 3, 1])
    var copy = [1, 2, 3]
    copy.apply(patches[0])
    #expect(copy == array)
    #expect(patches.count == 1)
  }

  @Test
  func `an element is removed and returned`() {
    let (array, patches) = told { #expect($0.remove(at: 1) == 2) }
    #expect(array == [1, 3])
    #expect(patches == [[.delete(at: 1)]])
  }

  @Test
  func `the last element is removed and returned`() {
    let (array, patches) = told { #expect($0.removeLast() == 3) }
    #expect(array == [1, 2])
    #expect(patches == [[.delete(at: 2)]])
  }

  @Test
  func `a range of elements is removed`() {
    let (array, patches) = told { $0.removeSubrange(0..<2) }
    #expect(array == [3])
    #expect(patches == [[.delete(at: 1), .delete(at: 0)]])
  }

  @Test
  func `all elements are removed`() {
    let (array, patches) = told { $0.removeAll() }
    #expect(array.isEmpty)
    #expect(patches == [[.delete(at: 2), .delete(at: 1), .delete(at: 0)]])
  }

  @Test
  func `the whole array is replaced`() {
    let (array, patches) = told { $0.replace(with: [7]) }
    #expect(array == [7])
    #expect(patches == [[]])
  }

  @Test
  func `replacing the array with a diff sends only the differences`() {
    let (array, patches) = told {
      $0.replace(with: [1, 3, 4], performDiff: true) { _, _ in
        ListDiff(inserts: [2], deletes: [1])
      }
    }
    #expect(array == [1, 3, 4])
    #expect(patches == [[.delete(at: 1), .insert(4, at: 2)]])
  }

  @Test
  func `an operation is applied`() {
    let (array, patches) = told { $0.apply(.move(from: 2, to: 0)) }
    #expect(array == [3, 1, 2])
    #expect(patches == [[.move(from: 2, to: 0)]])
  }

  @Test
  func `a caller describes its own change`() {
    let (array, patches) = told { array in
      array.descriptiveUpdate { (list: inout [Int]) -> [ListOperation] in
        list[0] = 5
        return [.update(at: 0, newElement: 5)]
      }
      array.descriptiveUpdate { (list: inout [Int]) -> ListDiff in
        list.removeLast()
        return ListDiff(deletes: [2])
      }
      let last = array.descriptiveUpdate { (list: inout [Int]) -> ([ListOperation], Int) in
        ([.delete(at: 1)], list.removeLast())
      }
      #expect(last == 2)
    }
    #expect(array == [5])
    #expect(patches == [[.update(at: 0, newElement: 5)], [.delete(at: 2)], [.delete(at: 1)]])
  }

  @Test
  func `a change without effect is not sent`() {
    let (array, patches) = told {
      $0.insert(contentsOf: [], at: 0)
      $0.move(from: 1, to: 1)
      $0.move(from: [1], to: 1)
      $0.removeSubrange(1..<1)
      $0.batchUpdate { _ in }
      $0.replace(with: [1, 2, 3], performDiff: true) { _, _ in ListDiff() }
    }
    #expect(array == [1, 2, 3])
    #expect(patches.isEmpty)
    let empty = MutableObservableArray<Int>()
    empty.dropFirst(1).observeNext { _ in Issue.record("told") }.dispose(in: bag)
    empty.removeAll()
  }

  @Test
  func `a batch and its nested batches are sent as one change`() {
    let (array, patches) = told { array in
      array.batchUpdate {
        $0.append(4)
        $0.batchUpdate { $0.append(5) }
        array.remove(at: 0)
      }
    }
    #expect(array == [2, 3, 4, 5])
    #expect(patches == [[.insert(4, at: 3), .insert(5, at: 4), .delete(at: 0)]])
  }

  @Test
  func `an observer added during a batch ends with the same elements as the others`() {
    let array = MutableObservableArray([1, 2, 3])
    var (early, late) = ([Int](), [Int]())
    array.observeNext { follow($0, &early) }.dispose(in: bag)
    array.batchUpdate {
      $0.append(4)
      $0.observeNext { follow($0, &late) }.dispose(in: bag)
      $0.append(5)
    }
    array.append(6)
    #expect(early == [1, 2, 3, 4, 5, 6])
    #expect(late == early)
  }

  @Test
  func `an observer added during a delivery receives the whole array only`() {
    let array = MutableObservableArray([1])
    var late: [Int] = []
    array.dropFirst(1).first().observeNext { [bag] _ in
      array.observeNext { follow($0, &late) }.dispose(in: bag)
    }.dispose(in: bag)
    array.append(2)
    array.append(3)
    #expect(late == [1, 2, 3])
  }

  @Test
  func `a change made during a delivery is delivered after it to all observers`() {
    let array = MutableObservableArray([1])
    var (first, second) = ([[Int]](), [[Int]]())
    array.observeNext { [unowned array] in
      first.append($0.collection)
      if $0.collection.count == 2 { array.append(3) }
    }.dispose(in: bag)
    array.observeNext { second.append($0.collection) }.dispose(in: bag)
    array.append(2)
    #expect(first == [[1], [1, 2], [1, 2, 3]])
    #expect(second == first)
  }

  @Test
  func `the read-only view has the same content`() {
    let array = MutableObservableArray([1])
    let view: ObservableArray<Int> = array.readOnlyView
    var patches: [[ListOperation]] = []
    view.observeNext { patches.append($0.patch) }.dispose(in: bag)
    array.append(2)
    #expect(view.collection == [1, 2])
    #expect(view.count == 2 && view[1] == 2 && !view.isEmpty)
    #expect(patches == [[], [.insert(2, at: 1)]])
    #expect(ObservableArray([7]).value.collection == [7])
  }

  @Test
  func `observers receive the completion when the array is deallocated`() {
    let recorder = Recorder<OrderedCollectionChangeset<[Int]>, Never>()
    do {
      let array = MutableObservableArray([1])
      array.observe(with: recorder.tell).dispose(in: bag)
    }
    #expect(recorder.isComplete)
  }

  @Test
  func `an array can be bound to another`() {
    let (source, target) = (MutableObservableArray([1]), MutableObservableArray([9]))
    source.bind(to: target)
    source.append(2)
    #expect(target.collection == [1, 2])
  }

  @Test
  func `a delivered event does not make the next change copy the array`() {
    let array = MutableObservableArray(Array(0..<1000))
    for i in 0..<9 { array.append(i) }  // reserves capacity
    var count = 0
    array.observeNext { count = $0.collection.count }.dispose(in: bag)
    let before = array.collection.withUnsafeBufferPointer { $0.baseAddress }
    array.append(2)
    array[0] = 7
    array.batchUpdate {
      $0.append(3)
      $0.append(4)
    }
    let after = array.collection.withUnsafeBufferPointer { $0.baseAddress }
    #expect(before == after)
    #expect(count == 1012)
  }
}
