import Signals
import SignalsTestSupport
import TestSupport
import Testing

@Suite(.leavesNothing)
struct FlatteningTests {
  let m = Marbles()
  let bag = DisposeBag()

  @Test
  func `concat runs inner signals one after another`() {
    let signal = m.cold("-a-b----|").flatMapConcat { m.cold("x--\($0)|") }
    #expect(m.draw(signal) == "-x--ax--b|")
  }

  @Test
  func `merge runs all inner signals at once`() {
    let signal = m.cold("-a-b----|").flatMapMerge { m.cold("x--\($0)|") }
    #expect(m.draw(signal) == "-x-xa-b-|")
  }

  @Test
  func `latest runs only the newest inner signal`() {
    let signal = m.cold("-a-b----|").flatMapLatest { m.cold("x--\($0)|") }
    #expect(m.draw(signal) == "-x-x--b-|")
  }

  @Test(arguments: [FlattenStrategy.concat, .latest, .merge])
  func `an empty outer signal completes`(strategy: FlattenStrategy) {
    #expect(m.draw(m.cold("--|").flatMap(strategy) { m.cold($0) }) == "--|")
  }

  @Test(arguments: [FlattenStrategy.concat, .latest, .merge])
  func `a flattened signal completes when the outer and the inner signals have`(
    strategy: FlattenStrategy
  ) {
    #expect(m.draw(m.cold("a|").flatMap(strategy) { _ in m.cold("--x--|") }) == "--x--|")
    #expect(m.draw(m.cold("a------|").flatMap(strategy) { _ in m.cold("-x|") }) == "-x-----|")
  }

  @Test(arguments: [FlattenStrategy.concat, .latest, .merge])
  func `the first failure ends a flattened signal, and disposes the rest`(strategy: FlattenStrategy)
  {
    #expect(m.draw(m.cold("a----|").flatMap(strategy) { _ in m.cold("-x#") }) == "-x#")
    #expect(m.draw(m.cold("a-#").flatMap(strategy) { _ in m.cold("---x|") }) == "--#")
    #expect(m.time.waiting == 0)
  }

  @Test(arguments: [FlattenStrategy.concat, .latest, .merge])
  func `safe signals can be flattened with failing ones`(strategy: FlattenStrategy) {
    let safeOuter: Signal<String, Broken> = m.safe("-a|").flatMap(strategy) { m.cold($0 + "|") }
    #expect(m.draw(safeOuter) == "-a|")
    let safe: SafeSignal<String> = m.safe("-a|").flatMap(strategy) { m.safe($0 + "|") }
    #expect(m.draw(safe) == "-a|")
    let flattened: Signal<String, Broken> = m.safe("-a|").map { m.cold($0 + "|") }
      .flatten(strategy)
    #expect(m.draw(flattened) == "-a|")
  }

  @Test(arguments: [FlattenStrategy.concat, .latest, .merge])
  func `a hundred thousand inner signals that end at once do not use up the stack`(
    strategy: FlattenStrategy
  ) {
    var count = 0
    SafeSignal(sequence: 0..<100_000).flatMap(strategy) { SafeSignal(just: $0) }
      .observeNext { _ in count += 1 }.dispose(in: bag)
    #expect(count == 100_000)
  }

  @Test
  func `a hundred thousand inner signals that wait for one do not use up the stack`() {
    let gate = PassthroughSubject<Int, Never>()
    let inners = PassthroughSubject<SafeSignal<Int>, Never>()
    var count = 0
    inners.concat().observeNext { _ in count += 1 }.dispose(in: bag)
    inners.send(gate.toSignal())
    for i in 0..<100_000 { inners.send(SafeSignal(just: i)) }
    #expect(count == 0)
    gate.send(completion: .finished)
    #expect(count == 100_000)
    bag.dispose()
  }

  @Test
  func `merge releases inner signals that have ended`() {
    let outer = PassthroughSubject<SafeSignal<Int>, Never>()
    outer.merge().observe { _ in }.dispose(in: bag)
    for _ in 0..<1000 {
      let inner = PassthroughSubject<Int, Never>()
      outer.send(inner.prefix(maxLength: 1))
      inner.send(1)
    }
    // Some ended signals are released later; check that not all are kept.
    #expect(LiveNodes.counter?.counts["AtomicObserver", default: 0] ?? 0 < 100)
    bag.dispose()
  }

  @Test
  func `an inner signal that causes a switch while it starts is replaced`() {
    var outer: AtomicObserver<Int, Never>?
    var log: [Int] = []
    SafeSignal<Int> { observer in
      outer = observer
      return NonDisposable.instance
    }
    .flatMapLatest { number in
      SafeSignal<Int> { observer in
        if number == 1 { outer?.receive(2) }
        observer.receive(number)
        return NonDisposable.instance
      }
    }
    .observeNext { log.append($0) }.dispose(in: bag)
    outer?.receive(1)
    bag.dispose()
    outer = nil
    #expect(log == [2])
  }
}
