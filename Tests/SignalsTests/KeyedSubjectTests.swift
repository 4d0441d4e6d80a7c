import Signals
import TestSupport
import Testing

@Suite(.leavesNothing)
struct KeyedSubjectTests {
  @Test
  func `an observer of a key receives only the elements of that key`() {
    let subject = KeyedSubject<Int, String>()
    var heard: [String] = []
    let bag = DisposeBag()
    for (key, name) in [(1, "a"), (1, "b"), (2, "c")] {
      subject.elements(of: key).observeNext { heard.append(name + $0) }.dispose(in: bag)
    }
    subject.send("1", to: 1)
    subject.send("2", to: 2)
    subject.send("3", to: 3)
    #expect(heard == ["a1", "b1", "c2"])
    bag.dispose()
  }

  @Test
  func `a key is kept only while it is observed`() {
    let subject = KeyedSubject<Int, Int>()
    let (first, second) = (
      subject.elements(of: 1).observeNext { _ in }, subject.elements(of: 1).observeNext { _ in }
    )
    let third = subject.elements(of: 2).observeNext { _ in }
    #expect(subject.keys.sorted() == [1, 2])
    first.dispose()
    #expect(subject.keys.sorted() == [1, 2])
    second.dispose()
    #expect(Array(subject.keys) == [2])
    third.dispose()
    #expect(subject.isEmpty)
  }

  @Test
  func `an observer that subscribes again during a delivery receives later elements`() {
    let subject = KeyedSubject<Int, Int>()
    var heard: [Int] = []
    let observation = SerialDisposable(otherDisposable: nil)
    observation.otherDisposable = subject.elements(of: 1).observeNext { element in
      heard.append(element)
      observation.otherDisposable?.dispose()
      observation.otherDisposable = subject.elements(of: 1).observeNext { heard.append(-$0) }
    }
    subject.send(1, to: 1)
    subject.send(2, to: 1)
    #expect(heard == [1, -2])
    observation.dispose()
    #expect(subject.isEmpty)
  }
}
