import Signals
import SignalsTestSupport
import TestSupport
import Testing

@Suite(.leavesNothing)
struct SharingTests {
  /// A source that counts its runs.
  final class Source {
    let subject = PassthroughSubject<Int, Never>()
    private(set) var runs = 0
    private(set) var ends = 0

    lazy var signal = SafeSignal<Int> { [unowned self] observer in
      runs += 1
      let run = subject.observe(with: observer)
      return BlockDisposable {
        run.dispose()
        self.ends += 1
      }
    }
  }

  let source = Source()
  let bag = DisposeBag()

  func record(_ signal: some SignalProtocol<Int, Never>) -> Recorder<Int, Never> {
    let recorder = Recorder<Int, Never>()
    signal.observe(with: recorder.tell).dispose(in: bag)
    return recorder
  }

  @Test
  func `a shared signal has one run, from the first observer to the last`() {
    let shared = source.signal.share()
    let runs = (1...3).map { _ in shared.observe { _ in } }
    #expect(source.runs == 1)
    for run in runs {
      #expect(source.ends == 0)
      run.dispose()
    }
    #expect(source.ends == 1)
    shared.observe { _ in }.dispose()
    #expect(source.runs == 2)
  }

  @Test
  func `a shared signal replays one element by default`() {
    let shared = source.signal.share()
    let all = source.signal.share(limit: .unbounded)
    bag += [shared.observe { _ in }, all.observe { _ in }]
    for number in 1...1000 { source.subject.send(number) }
    #expect(record(shared).elements == [1000])
    #expect(record(all).elements == Array(1...1000))
    bag.dispose()
  }

  @Test
  func `a late observer receives the last element and the end without another run`() {
    let shared = source.signal.share()
    let first = record(shared)
    source.subject.send(lastElement: 1)
    #expect(first.events == [.next(1), .completed])
    #expect(shared.recorded() == [.next(1), .completed])
    #expect(source.runs == 1)
  }

  @Test
  func `a signal that is kept alive continues without observers`() {
    let shared = source.signal.share(keepAlive: true)
    shared.observe { _ in }.dispose()
    #expect(source.ends == 0)
    source.subject.send(1)
    #expect(shared.elementsAtOnce() == [1])
    #expect(source.runs == 1)
    source.subject.send(completion: .finished)
  }

  @Test
  func `an observer added while a shared signal connects does not connect it again`() {
    var runs = 0
    var heard: [Int] = []
    let inner = SerialDisposable(otherDisposable: nil)
    var shared: SafeSignal<Int>?
    shared = SafeSignal<Int> { observer in
      runs += 1
      observer.receive(1)
      return NonDisposable.instance
    }
    .share()
    let run = shared?.observeNext { _ in
      if inner.otherDisposable == nil {
        inner.otherDisposable = shared?.observeNext { heard.append($0) }
      }
    }
    #expect(runs == 1)
    #expect(heard == [1])
    run?.dispose()
    inner.dispose()
    shared = nil
  }

  @Test
  func `a signal that ends while connecting leaves no connection`() {
    var ends = 0
    let shared = SafeSignal<Int> { observer in
      observer.receive(lastElement: 1)
      return BlockDisposable { ends += 1 }
    }
    .share()
    #expect(shared.recorded() == [.next(1), .completed])
    #expect(shared.recorded() == [.next(1), .completed])
    #expect(ends == 1)
  }

  @Test
  func `a connectable signal starts when it is connected`() {
    let published = source.signal.publish()
    let early = record(published)
    #expect(source.runs == 0)
    let connection = published.connect()
    source.subject.send(1)
    let late = record(published)
    source.subject.send(lastElement: 2)
    #expect(early.events == [.next(1), .next(2), .completed])
    #expect(late.events == [.next(2), .completed])
    #expect(published.recorded() == [.completed])
    #expect(!connection.isDisposed || source.ends == 1)
    #expect(published.connect().isDisposed)
  }

  @Test
  func `a replay sends the last elements and the end`() {
    let replayed = SafeSignal(sequence: 1...5).replay(limit: 2)
    replayed.connect().dispose(in: bag)
    #expect(replayed.recorded() == [.next(4), .next(5), .completed])
    #expect(SafeSignal(sequence: 1...5).replay(limit: 0).recorded().isEmpty)
  }

  @Test
  func `a replaying subject keeps as many elements as its buffer size`() {
    let subject = ReplaySubject<Int, Never>(bufferSize: 2)
    #expect(subject.recorded().isEmpty)
    for number in 1...5 {
      subject.send(number)
      #expect(record(subject).elements == Array(max(1, number - 1)...number))
    }
    subject.send(completion: .finished)
    #expect(subject.recorded() == [.next(4), .next(5), .completed])
    #expect(ReplaySubject<Int, Never>().bufferSize == 1)
  }

  @Test
  func `a subject that replays one element sends it and the end`() {
    let subject = ReplayOneSubject<Int, Never>()
    #expect(subject.recorded().isEmpty)
    subject.send(1)
    subject.send(2)
    #expect(subject.recorded() == [.next(2)])
    subject.send(completion: .finished)
    #expect(subject.recorded() == [.next(2), .completed])
  }

  @Test
  func `an element sent during a replay arrives after it`() {
    let subject = ReplaySubject<Int, Never>(bufferSize: 3)
    for number in 1...3 { subject.send(number) }
    var heard: [Int] = []
    subject.observeNext { [subject] in
      heard.append($0)
      if $0 == 1 { subject.send(4) }
    }
    .dispose(in: bag)
    bag.dispose()
    #expect(heard == [1, 2, 3, 4])
  }

  @Test
  func `a subject of loading states replays loading until there is a value`() {
    let subject = ReplayLoadingValueSubject<Int, Broken, Never>(bufferSize: 2)
    #expect(subject.recorded().isEmpty)
    subject.send(.loading)
    #expect(subject.elementsAtOnce() == [.loading])
    for number in 1...3 { subject.send(.loaded(number)) }
    subject.send(.loading)
    #expect(subject.elementsAtOnce() == [.loaded(2), .loaded(3)])
    subject.send(.failed(Broken()))
    #expect(subject.elementsAtOnce() == [.failed(Broken())])
    subject.send(lastElement: .loaded(4))
    #expect(subject.recorded() == [.next(.loaded(4)), .completed])
  }
}
