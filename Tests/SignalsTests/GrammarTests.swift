import Signals
import SignalsTestSupport
import TestSupport
import Testing

/// The rules for delivery that all sources and operators follow.
@Suite(.leavesNothing)
struct GrammarTests {
  let bag = DisposeBag()

  @Test
  func `the upstream is disposed before the terminal event is sent`() {
    var log: [String] = []
    let endings = PassthroughSubject<Void, Never>()
    let ended = Signal<Int, Never> { observer in
      let run = endings.observeNext { observer.complete() }
      return BlockDisposable {
        run.dispose()
        log.append("disposed")
      }
    }
    ended.observeCompleted { log.append("completed") }.dispose(in: bag)
    endings.send()
    #expect(log == ["disposed", "completed"])
  }

  @Test
  func `a disposable returned after the end is disposed at once`() {
    var isDisposed = false
    let signal = Signal<Int, Never> { observer in
      observer.complete()
      return BlockDisposable { isDisposed = true }
    }
    signal.observe { _ in }.dispose(in: bag)
    #expect(isDisposed)
  }

  @Test
  func `observers are called in the order of subscription`() {
    let subject = PassthroughSubject<Int, Never>()
    var log: [String] = []
    var runs = ["A", "B", "C", "D"].map { name in subject.observeNext { log.append("\(name)\($0)") }
    }
    subject.send(1)
    runs.remove(at: 1).dispose()
    runs.append(subject.observeNext { log.append("E\($0)") })
    subject.send(2)
    for run in runs { run.dispose() }
    #expect(log == ["A1", "B1", "C1", "D1", "A2", "C2", "D2", "E2"])
  }

  @Test
  func `25: an observer that disposes itself receives nothing more`() {
    let subject = PassthroughSubject<Int, Never>()
    var heard: [Int] = []
    let run = SerialDisposable(otherDisposable: nil)
    run.otherDisposable = subject.observeNext { [run] in
      heard.append($0)
      run.dispose()
    }
    subject.send(1)
    subject.send(2)
    #expect(heard == [1])
    #expect(!subject.hasObservers)
  }

  @Test
  func `an observer that is disposed by an earlier one does not receive that event`() {
    let subject = PassthroughSubject<Int, Never>()
    let late = SerialDisposable(otherDisposable: nil)
    var heard: [Int] = []
    subject.observeNext { _ in late.dispose() }.dispose(in: bag)
    late.otherDisposable = subject.map { $0 }.observeNext { heard.append($0) }
    subject.send(1)
    #expect(heard.isEmpty)
    bag.dispose()
  }

  @Test
  func `an observer added during a delivery does not receive earlier events`() {
    let subject = PassthroughSubject<Int, Never>()
    var heard: [Int] = []
    subject.observeNext { [subject, bag] value in
      guard value == 1 else { return }
      subject.send(2)
      subject.observeNext { heard.append($0) }.dispose(in: bag)
      subject.send(3)
    }
    .dispose(in: bag)
    subject.send(1)
    bag.dispose()
    #expect(heard == [3])
  }

  @Test
  func `an end sent during a delivery comes last`() {
    let subject = PassthroughSubject<Int, Never>()
    var log: [String] = []
    subject.observe { [subject] event in
      log.append("A\(event)")
      guard event == .next(1) else { return }
      subject.send(2)
      subject.send(completion: .finished)
      subject.send(3)
    }
    .dispose(in: bag)
    subject.observe { log.append("B\($0)") }.dispose(in: bag)
    subject.send(1)
    #expect(
      log == ["Anext(1)", "Bnext(1)", "Anext(2)", "Bnext(2)", "Acompleted", "Bcompleted"])
    #expect(subject.isTerminated)
  }

  @Test
  func `an observer added before a sent end is delivered receives the end`() {
    let subject = PassthroughSubject<Int, Never>()
    let late = Recorder<Int, Never>()
    subject.observe { [subject, bag] event in
      guard event == .next(1) else { return }
      subject.send(completion: .finished)
      subject.observe(with: late.tell).dispose(in: bag)
    }
    .dispose(in: bag)
    subject.send(1)
    #expect(late.events == [.completed])
  }

  @Test
  func `many observers are disposed in any order, and the others continue`() {
    let subject = PassthroughSubject<Int, Never>()
    var heard: [Int: Int] = [:]
    var runs: [any Disposable] = (0..<1000).map { i in
      subject.observeNext { heard[i, default: 0] += $0 }
    }
    var random = Random(1)
    while runs.count > 10 { runs.remove(at: random.below(runs.count)).dispose() }
    subject.send(1)
    #expect(heard.count == 10)
    for run in runs { run.dispose() }
    #expect(!subject.hasObservers)
  }

  @Test
  func `25: an observer that sends to itself endlessly traps`() async {
    await #expect(processExitsWith: .failure) {
      let subject = PassthroughSubject<Int, Never>()
      _ = subject.observeNext { subject.send($0 &+ 1) }
      subject.send(0)
    }
  }

  @Test
  func `a hundred thousand nested events do not use up the stack`() {
    let subject = PassthroughSubject<Int, Never>()
    var last = 0
    subject.observeNext { [subject] in
      last = $0
      if $0 < 100_000 { subject.send($0 + 1) }
    }
    .dispose(in: bag)
    subject.send(0)
    bag.dispose()
    #expect(last == 100_000)
  }
}
