import Signals
import TestSupport
import Testing

@Suite(.leavesNothing)
struct SubjectTests {
  let subject = PassthroughSubject<Int, Never>()
  let bag = DisposeBag()

  @Test
  func `25: an event sent during a delivery arrives after it for every observer`() {
    var log: [String] = []
    subject.observeNext { [subject] value in
      log.append("A\(value)")
      if value == 1 { subject.send(2) }
    }
    .dispose(in: bag)
    subject.observeNext { log.append("B\($0)") }.dispose(in: bag)

    subject.send(1)

    #expect(log == ["A1", "B1", "A2", "B2"])
  }

  @Test
  func `an observer disposed during a delivery receives nothing more`() {
    var heard: [Int] = []
    var late: (any Disposable)?
    subject.observeNext { _ in late?.dispose() }.dispose(in: bag)
    late = subject.observeNext { heard.append($0) }

    subject.send(1)
    subject.send(2)

    #expect(heard.isEmpty)
    #expect(late?.isDisposed == true)
  }

  @Test
  func `an observer added during a delivery receives the next event first`() {
    var heard: [Int] = []
    subject.observeNext { [subject, bag] value in
      if value == 1 { subject.observeNext { heard.append($0) }.dispose(in: bag) }
    }
    .dispose(in: bag)

    subject.send(1)
    subject.send(2)
    bag.dispose()  // the first observer and the subject retain each other

    #expect(heard == [2])
  }

  @Test
  func `a late observer receives the end, and nothing is sent after it`() {
    var early: [Signal<Int, Never>.Event] = []
    subject.observe { early.append($0) }.dispose(in: bag)
    subject.on(.completed)
    subject.send(1)
    var late: [Signal<Int, Never>.Event] = []
    subject.observe { late.append($0) }.dispose(in: bag)

    #expect(early == [.completed])
    #expect(late == [.completed])
  }

  @Test
  func `a subject does not retain disposed observers`() {
    class Token {}
    weak var token: Token?
    do {
      let held = Token()
      token = held
      let observation = subject.observeNext { _ in withExtendedLifetime(held) {} }
      #expect(subject.hasObservers)
      observation.dispose()
    }
    #expect(token == nil)
    #expect(!subject.hasObservers)
  }
}
