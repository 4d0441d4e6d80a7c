import Signals
import SignalsTestSupport
import TestSupport
import Testing

@Suite(.leavesNothing)
struct SideEffectTests {
  let m = Marbles()
  let bag = DisposeBag()

  @Test
  func `closures are called during a run, the last one once`() {
    var log: [String] = []
    let signal = m.cold("-a-#").handleEvents(
      receiveSubscription: { log.append("start") }, receiveOutput: { log.append($0) },
      receiveCompletion: { if case .failure = $0 { log.append("failed") } },
      receiveCancel: { log.append("over") })
    let run = signal.observe { _ in }
    m.time.run()
    run.dispose()
    #expect(log == ["start", "a", "failed", "over"])
  }

  @Test
  func `activity, elements and failures are sent to subjects`() {
    let activity = Property(false)
    let states = Recorder<Bool, Never>()
    activity.observe(with: states.tell).dispose(in: bag)
    let elements = ReplaySubject<String, Never>(bufferSize: .unbounded)
    let lengths = ReplaySubject<Int, Never>(bufferSize: .unbounded)
    let errors = ReplaySubject<Broken, Never>()
    let signal = m.cold("-a-[bc]-#").feedActivity(into: activity).feedNext(into: elements)
      .feedNext(into: lengths, when: { $0.count > 1 }, map: \.count).feedError(into: errors)
    #expect(m.draw(signal) == "-a-[bc]-#")
    #expect(states.elements == [false, true, false])
    #expect(elements.elementsAtOnce() == ["a", "bc"])
    #expect(lengths.elementsAtOnce() == [2])
    #expect(errors.elementsAtOnce() == [Broken()])
    bag.dispose()
  }

  @Test
  func `a signal is repeated when another one emits, and completes when both have`() {
    let signal = m.cold("-a|").repeat { [m] _ in m.safe("---x|").prefix(maxLength: 1).first() }
    #expect(m.draw(signal.prefix(maxLength: 3)) == "-a---a---(a|)")
    #expect(m.draw(m.cold("-a-|").repeat { _ in m.safe("-|") }) == "-a-|")
    #expect(m.draw(m.cold("-a-|").repeat { _ in m.safe("----|") }) == "-a---|")
    #expect(m.draw(m.cold("-a-#").repeat { _ in m.safe("----|") }) == "-a-#")
  }

  @Test
  func `a hundred thousand repetitions do not use up the stack`() {
    var runs = 0
    let source = SafeSignal<Int> { observer in
      runs += 1
      observer.receive(lastElement: runs)
      return NonDisposable.instance
    }
    var last = 0
    source.repeat { $0 < 100_000 ? SafeSignal(just: ()) : .completed() }
      .observeNext { last = $0 }.dispose(in: bag)
    #expect(last == 100_000)
  }

  @Test
  func `debug passes all events on`() {
    #expect(m.draw(m.cold("-a-#").debug("test")) == "-a-#")
  }

  @Test
  func `a breakpoint traps only when its condition holds`() async {
    #expect(m.draw(m.cold("-a-|").breakpoint(receiveOutput: { $0 == "b" })) == "-a-|")
    #expect(m.draw(m.cold("-a-|").breakpointOnError()) == "-a-|")
    await #expect(processExitsWith: .failure) {
      _ = SafeSignal(just: 1).breakpoint(receiveOutput: { $0 == 1 }).observe { _ in }
    }
    await #expect(processExitsWith: .failure) {
      _ = Signal<Int, Broken>.failed(Broken()).breakpointOnError().observe { _ in }
    }
  }
}
