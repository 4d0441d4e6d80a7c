import Signals
import SignalsTestSupport
import TestSupport
import Testing

/// The rules that all operators follow.
@Suite(.leavesNothing)
struct EveryOperatorTests {
  let time = VirtualTime()
  let bag = DisposeBag()

  /// Emits 1, 2, 2, 3, 4, one per second, then the end; each observer starts a run.
  func input(_ end: Signal<Int, Broken>.Event?) -> Signal<Int, Broken> {
    let numbers = SafeSignal(sequence: [1, 2, 2, 3, 4], interval: 1, queue: time)
    return Signal { observer in
      numbers.observe { event in
        guard event.isTerminal else { return observer.on(.next(event.element ?? 0)) }
        if let end { observer.on(end) }
      }
    }
  }

  func record(_ signal: Operator.Output) -> Recorder<String, Broken> {
    let recorder = Recorder<String, Broken>()
    signal.observe(with: recorder.tell).dispose(in: bag)
    return recorder
  }

  @Test(arguments: operatorNames)
  func `an operator ends when its input ends`(of name: String) throws {
    let operation = try Operator.named(name)
    for end in [Signal<Int, Broken>.Event.completed, .failed(Broken())] {
      let recorder = record(operation.apply(input(end), time))
      time.run()
      #expect(recorder.events.last?.isTerminal == !operation.isEndless)
    }
    bag.dispose()
  }

  @Test(arguments: operatorNames)
  func `an operator ends with an empty input`(of name: String) throws {
    let operation = try Operator.named(name)
    let recorder = record(operation.apply(.completed(), time))
    time.run()
    #expect((recorder.events.last?.isTerminal ?? false) == !operation.isEndless)
    bag.dispose()
  }

  @Test(arguments: operatorNames)
  func `two observers receive the same events`(of name: String) throws {
    let operation = try Operator.named(name)
    let signal = operation.apply(input(.completed), time)
    let (one, two) = (record(signal), record(signal))
    time.run()
    #expect(one.events == two.events)
    bag.dispose()
  }

  @Test(arguments: operatorNames.filter { !shared.contains($0) })
  func `a second observer does not affect the first`(of name: String) throws {
    let operation = try Operator.named(name)
    let alone = record(operation.apply(input(.completed), time))
    time.run()

    let signal = operation.apply(input(.completed), time)
    let first = record(signal)
    time.advance(by: 2)
    let second = record(signal)
    time.run()

    #expect(first.events == alone.events)
    #expect(second.events == alone.events)
    bag.dispose()
  }

  @Test(arguments: operatorNames)
  func `a disposed observer receives nothing, and no timer remains`(of name: String) throws {
    let operation = try Operator.named(name)
    let recorder = Recorder<String, Broken>()
    let run = operation.apply(input(.completed), time).observe(with: recorder.tell)
    time.advance(by: 2.25)
    run.dispose()
    let heard = recorder.events.count

    #expect(time.waiting == 0)
    time.run()
    #expect(recorder.events.count == heard)
    #expect(run.isDisposed)
  }

  @Test(arguments: operatorNames)
  func `an observer that disposes itself receives nothing more`(of name: String) throws {
    let operation = try Operator.named(name)
    let recorder = Recorder<String, Broken>()
    let run = SerialDisposable(otherDisposable: nil)
    run.otherDisposable = operation.apply(input(.completed), time).observe { event in
      recorder.tell(event)
      run.dispose()
    }
    time.run()
    // Events sent before `observe` returns cannot be prevented.
    let atOnce = record(operation.apply(input(nil), time)).events.count
    #expect(recorder.events.count <= max(1, atOnce))
    bag.dispose()
  }

  @Test(arguments: operatorNames)
  func `nothing follows the end`(of name: String) throws {
    let operation = try Operator.named(name)
    let unruly = Signal<Int, Broken> { observer in
      for number in [1, 2, 3] { observer.receive(number) }
      observer.complete()
      observer.receive(4)
      observer.fail(Broken())
      return NonDisposable.instance
    }
    let recorder = record(operation.apply(unruly, time))
    time.run()
    #expect(recorder.events.dropLast().allSatisfy { $0.isNext })
    bag.dispose()
  }
}

/// Operators whose observers share one run.
private let shared: Set = [
  "share", "replay", "publish", "multicast", "branchOutError", "shareReplayValues",
]
