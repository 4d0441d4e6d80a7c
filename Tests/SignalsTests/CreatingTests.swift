import Signals
import SignalsTestSupport
import TestSupport
import Testing

@Suite(.leavesNothing)
struct CreatingTests {
  let bag = DisposeBag()

  @Test
  func `signals are created from elements, results and terminal events`() {
    #expect(SafeSignal(just: 1).recorded() == [.next(1), .completed])
    #expect(SafeSignal(sequence: [1, 2]).recorded() == [.next(1), .next(2), .completed])
    #expect(Signal<Int, Broken>(result: .success(1)).recorded() == [.next(1), .completed])
    #expect(Signal<Int, Broken>(result: .failure(Broken())).recorded() == [.failed(Broken())])
    #expect(Signal<Int, Broken>.completed().recorded() == [.completed])
    #expect(Signal<Int, Broken>.failed(Broken()).recorded() == [.failed(Broken())])
    #expect(Signal<Int, Broken>.never().recorded().isEmpty)
  }

  @Test
  func `each observer runs the closure of a signal`() {
    var count = 0
    func next() -> Int {
      count += 1
      return count
    }
    let signals = [
      SafeSignal(performing: next),
      Signal<Int, Broken>(evaluating: { .success(next()) }).suppressError(),
      Signal<Int, any Error>(catching: { next() }).suppressError(),
      SafeSignal(deferring: { SafeSignal(just: next()) }),
    ]
    for signal in signals {
      count = 0
      #expect(signal.elementsAtOnce() == [1])
      #expect(signal.elementsAtOnce() == [2])
    }
    let thrown = Signal<Int, any Error>(catching: { throw Broken() })
    #expect(thrown.recorded().first?.error is Broken)
  }

  @Test
  func `a signal takes over another one, also one that cannot fail`() {
    let one: Signal<Int, Broken> = Signal(takingOver: Signal<Int, Broken>(just: 1))
    let other: Signal<Int, Broken> = Signal(takingOver: SafeSignal(just: 1))
    #expect(one.recorded() == other.recorded())
  }

  @Test
  func `a sequence of signals is flattened`() {
    let signals = [SafeSignal(just: 1), SafeSignal(just: 2)]
    #expect(SafeSignal(flattening: signals, strategy: .concat).elementsAtOnce() == [1, 2])
  }

  @Test
  func `a signal is created together with its observer`() {
    let (signal, observer) = Signal<Int, Broken>.withObserver()
    let recorder = Recorder<Int, Broken>()
    signal.observe(with: recorder.tell).dispose(in: bag)
    observer.receive(1)
    observer.receive(lastElement: 2)
    #expect(recorder.events == [.next(1), .next(2), .completed])
  }
}
