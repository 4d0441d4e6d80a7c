import Signals
import SignalsTestSupport
import TestSupport
import Testing

@Suite(.leavesNothing)
struct SignalTests {
  let bag = DisposeBag()

  @Test
  func `nothing follows the terminal event, even if the producer continues`() {
    var log: [Signal<Int, Broken>.Event] = []
    var isEnded = false
    let signal = Signal<Int, Broken> { observer in
      observer.receive(1)
      observer.fail(Broken())
      observer.receive(2)
      observer.complete()
      return BlockDisposable { isEnded = true }
    }
    let observation = signal.observe { log.append($0) }

    #expect(log == [.next(1), .failed(Broken())])
    #expect(isEnded)
    #expect(observation.isDisposed)
  }

  @Test
  func `each observer starts a separate run`() {
    var runs = 0
    let signal = Signal<Int, Never> { observer in
      runs += 1
      observer.receive(runs)
      return NonDisposable.instance
    }
    var heard: [Int] = []
    signal.observeNext { heard.append($0) }.dispose(in: bag)
    signal.observeNext { heard.append($0) }.dispose(in: bag)
    #expect(heard == [1, 2])
  }

  @Test
  func `operators pass on elements, failure and completion`() {
    let subject = PassthroughSubject<Int, Broken>()
    var mapped: [Signal<String, Broken>.Event] = []
    var even: [Signal<Int, Broken>.Event] = []
    var halves: [Signal<Int, Broken>.Event] = []
    subject.map { "\($0)" }.observe { mapped.append($0) }.dispose(in: bag)
    subject.filter { $0 % 2 == 0 }.observe { even.append($0) }.dispose(in: bag)
    subject.compactMap { $0 % 2 == 0 ? $0 / 2 : nil }.observe { halves.append($0) }
      .dispose(in: bag)
    [1, 2, 4].forEach(subject.send)
    subject.on(.failed(Broken()))

    #expect(mapped == [.next("1"), .next("2"), .next("4"), .failed(Broken())])
    #expect(even == [.next(2), .next(4), .failed(Broken())])
    #expect(halves == [.next(1), .next(2), .failed(Broken())])
  }

  @Test
  func `duplicates are dropped separately for each observer`() {
    let subject = PassthroughSubject<Int, Never>()
    let distinct = subject.removeDuplicates()
    var first: [Int] = []
    var second: [Int] = []
    distinct.observeNext { first.append($0) }.dispose(in: bag)
    [1, 1, 2].forEach(subject.send)
    distinct.observeNext { second.append($0) }.dispose(in: bag)
    [2, 2, 3].forEach(subject.send)

    #expect(first == [1, 2, 3])
    #expect(second == [2, 3])
  }

  @Test
  func `a suppressed failure becomes a completion`() {
    let subject = PassthroughSubject<Int, Broken>()
    var log: [Signal<Int, Never>.Event] = []
    subject.suppressError().observe { log.append($0) }.dispose(in: bag)
    subject.send(1)
    subject.on(.failed(Broken()))
    #expect(log == [.next(1), .completed])
  }
}
