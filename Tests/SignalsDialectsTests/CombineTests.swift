import Signals
import SignalsDialects
import SignalsTestSupport
import TestSupport
import Testing

/// The names that are the same as in Combine.
@Suite(.leavesNothing)
struct CombineTests {
  final class Model: ObservableObject {
    @Published var name = "a"
    @Published var count = 0
  }

  class Base: ObservableObject {
    @Published var inherited = 0
  }

  final class Derived: Base {
    @Published var own = 0
  }

  let bag = DisposeBag()

  @Test
  func `a sink receives elements until it is released`() {
    let subject = PassthroughSubject<Int, Broken>()
    var log: [String] = []
    var sink: AnyCancellable? = subject.sink(
      receiveCompletion: { log.append($0 == .finished ? "finished" : "failed") },
      receiveValue: { log.append("\($0)") })
    #expect(sink != nil)
    subject.send(1)
    sink = nil
    subject.send(2)
    #expect(log == ["1"])
    let other = subject.sink(
      receiveCompletion: { log.append($0 == .finished ? "finished" : "failed") },
      receiveValue: { _ in })
    subject.send(completion: .failure(Broken()))
    #expect(log == ["1", "failed"])
    other.cancel()
  }

  @Test
  func `assign sets a property of an object`() {
    final class Label { var text = "" }
    let label = Label()
    let texts = Property("a")
    let assignment = texts.assign(to: \.text, on: label)
    texts.value = "b"
    #expect(label.text == "b")
    assignment.cancel()
    texts.value = "c"
    #expect(label.text == "b")
  }

  @Test
  func `a subscriber receives each event once, after its request`() {
    let subject = PassthroughSubject<Int, Broken>()
    let accumulator = Subscribers.Accumulator<Int, Broken>()
    subject.subscribe(accumulator)
    subject.subscribe(accumulator)
    subject.send(1)
    subject.send(2)
    subject.send(completion: .failure(Broken()))
    #expect(accumulator.values == [1, 2])
    #expect(accumulator.isFailure && !accumulator.isFinished)
    #expect(accumulator.error == Broken())
  }

  @Test
  func `a subscriber receives nothing after it cancels`() {
    let subject = PassthroughSubject<Int, Never>()
    var values: [Int] = []
    let sink = Subscribers.Sink<Int, Never>(
      receiveCompletion: { _ in values.append(-1) }, receiveValue: { values.append($0) })
    subject.subscribe(sink)
    subject.send(1)
    sink.cancel()
    subject.send(2)
    subject.send(completion: .finished)
    #expect(values == [1])
    let finished = Subscribers.Accumulator<Int, Never>()
    SafeSignal(just: 1).subscribe(finished)
    #expect(finished.isFinished && finished.values == [1])
  }

  @Test
  func `a published property emits before and after it changes`() {
    let model = Model()
    var log: [String] = []
    model.objectWillChange.observeNext { [unowned model] in log.append("will \(model.name)") }
      .dispose(in: bag)
    model.$name.observeNext { log.append("did \($0)") }.dispose(in: bag)
    model.name = "b"
    model.count = 1
    #expect(log == ["did a", "will a", "did b", "will b"])
    bag.dispose()
  }

  @Test
  func `changes of inherited published properties are emitted too`() {
    let object = Derived()
    var changes = 0
    object.objectWillChange.observeNext { changes += 1 }.dispose(in: bag)
    object.inherited = 1
    object.own = 1
    #expect(changes == 2)
    bag.dispose()
  }

  @Test
  func `a deferred signal is created for each observer`() {
    var made = 0
    let deferred = Deferred { () -> SafeSignal<Int> in
      made += 1
      return SafeSignal(just: made)
    }
    #expect(deferred.elementsAtOnce() == [1])
    #expect(deferred.elementsAtOnce() == [2])
  }

  @Test
  func `an empty signal completes at once or never`() {
    #expect(Empty<Int, Never>().recorded() == [.completed])
    #expect(Empty<Int, Never>(completeImmediately: false).recorded().isEmpty)
    #expect(Empty(outputType: Int.self, failureType: Never.self) == Empty<Int, Never>())
  }

  @Test
  func `a cancellable is kept in collections and cancels when it is released`() {
    final class Log {
      var names: [String] = []
    }
    let log = Log()
    var array: [AnyCancellable] = []
    var set: Set<AnyCancellable> = []
    let cancellable = AnyCancellable { log.names.append("a") }
    cancellable.store(in: &array)
    cancellable.store(in: &set)
    BlockDisposable { log.names.append("b") }.store(in: &array)
    BlockDisposable { log.names.append("c") }.store(in: &set)
    #expect(array.first === cancellable)
    #expect(set.contains(cancellable) && set.count == 2)
    array = []
    #expect(log.names == ["b"])
    set = []
    cancellable.cancel()
    #expect(log.names.sorted() == ["a", "b", "c"])
  }
}

/// Published properties as ends of BIND's bindings.
@Suite(.leavesNothing)
struct BindPublishedTests {
  @Test
  func `a published property is found by name, inherited or not`() throws {
    class Base {
      @Published var title = "a"
    }
    final class Derived: Base {
      let copy = Property("")
    }
    let object = Derived()
    try BIND(object, "title", ~>, object, "copy")
    object.title = "b"
    #expect(object.copy.value == "b")
  }
}
