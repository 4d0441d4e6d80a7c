import Signals
import SignalsTestSupport
import TestSupport
import Testing

@Suite(.leavesNothing)
struct CombiningTests {
  let m = Marbles()
  let bag = DisposeBag()

  @Test
  func `combineLatest needs an element of each signal and completes with both`() {
    let signal = m.cold("-a---b-|").combineLatest(with: m.cold("--x--y---|"), combine: +)
    #expect(m.draw(signal) == "--[ax]--([bx][by])---|")
  }

  @Test
  func `combineLatest completes when one signal completes without an element`() {
    #expect(m.draw(m.cold("-a---b").combineLatest(with: m.cold("---|"), combine: +)) == "---|")
    #expect(m.draw(m.cold("---|").combineLatest(with: m.cold("-a---b"), combine: +)) == "---|")
  }

  @Test
  func `combineLatest of a list of signals works in the same way`() {
    let signal = Signal(combiningLatest: [m.cold("-a---|"), m.cold("--b-c|")]) { $0.joined() }
    #expect(m.draw(signal) == "--[ab]-[ac]|")
    #expect(
      Signal<Int, Broken>(combiningLatest: [Signal<Int, Broken>]()) { $0.count }.recorded()
        == [.completed])
  }

  @Test
  func `zip pairs positions and completes when a used-up signal has completed`() {
    #expect(m.draw(m.cold("ab-c--|").zip(with: m.cold("--x-y-|"), combine: +)) == "--[ax]-[by]-|")
    #expect(m.draw(m.cold("ab-|").zip(with: m.cold("-x-y-z"), combine: +)) == "-[ax]-([by]|)")
    #expect(m.draw(m.cold("abc|").zip(with: m.cold("-x---"), combine: +), for: 50) == "-[ax]")
  }

  @Test
  func `zip removes the pair before it emits`() {
    let (left, right) = (PassthroughSubject<Int, Never>(), PassthroughSubject<Int, Never>())
    var log: [Int] = []
    left.zip(with: right, combine: +).observeNext {
      log.append($0)
      if $0 < 30 {
        left.send($0)
        right.send(10)
      }
    }
    .dispose(in: bag)
    left.send(1)
    right.send(10)
    bag.dispose()
    #expect(log == [11, 21, 31])
  }

  @Test
  func `with(latestFrom:) observes the other first and completes with itself only`() {
    let signal = m.cold("-a-b-c|").with(latestFrom: m.cold("--x|"), combine: +)
    #expect(m.draw(signal) == "---[bx]-[cx]|")
    #expect(m.draw(m.cold("(a|)").with(latestFrom: m.cold("(x|)"), combine: +)) == "([ax]|)")
    #expect(m.draw(m.cold("a--|").with(latestFrom: m.cold("-#"), combine: +)) == "-#")
  }

  @Test
  func `merge emits all elements and fails with the first failure`() {
    #expect(m.draw(m.cold("-a-b-|").merge(with: m.cold("--x--y|"))) == "-axb-y|")
    #expect(m.draw(m.cold("-a-b-|").merge(with: m.cold("--#"))) == "-a#")
    #expect(m.time.waiting == 0)
  }

  @Test
  func `amb follows the signal that sends first, and disposes the other`() {
    #expect(m.draw(m.cold("--a-b|").amb(with: m.cold("-x-y|"))) == "-x-y|")
    #expect(m.draw(m.cold("-a-b|").amb(with: m.cold("--x-y|"))) == "-a-b|")
    #expect(m.draw(m.cold("--a|").amb(with: m.cold("-|"))) == "-|")
    #expect(m.time.waiting == 0)
  }

  @Test
  func `signals are prepended and appended`() {
    #expect(m.draw(m.cold("-a|").append(m.cold("-b|"))) == "-a-b|")
    #expect(m.draw(m.cold("-a|").prepend(m.cold("-b|"))) == "-b-a|")
    #expect(m.draw(m.cold("-#").append(m.cold("-b|"))) == "-#")
  }

  @Test
  func `replayLatest repeats the newest element when another signal emits`() {
    #expect(m.draw(m.cold("-a---b|").replayLatest(when: m.safe("---x---|"))) == "-a-a-b-|")
  }

  @Test
  func `up to six signals are combined`() {
    let signals = (0..<6).map { SafeSignal(just: $0) }
    let (a, b, c, d, e, f) = (
      signals[0], signals[1], signals[2], signals[3], signals[4], signals[5]
    )
    #expect(
      combineLatest(a, b, c, d, e, f) { [$0, $1, $2, $3, $4, $5] }.elementsAtOnce() == [
        [0, 1, 2, 3, 4, 5]
      ])
    #expect(
      zip(a, b, c, d, e, f) { [$0, $1, $2, $3, $4, $5] }.elementsAtOnce() == [[0, 1, 2, 3, 4, 5]])
    #expect(merge(a, b, c, d, e, f).elementsAtOnce() == [0, 1, 2, 3, 4, 5])
    #expect(amb(a, b, c, d, e, f).elementsAtOnce() == [0])
    #expect(combineLatest(a, b, c).elementsAtOnce().first.map { $0 == (0, 1, 2) } == true)
    #expect(zip(a, b).elementsAtOnce().first.map { $0 == (0, 1) } == true)
  }

  @Test
  func `a failing and a safe signal combine to a failing signal`() {
    let (safe, cold) = (m.safe("(a|)"), m.cold("(b|)"))
    let failing: [Signal<String, Broken>] = [
      safe.combineLatest(with: cold, combine: +), cold.combineLatest(with: safe, combine: +),
      safe.zip(with: cold, combine: +), cold.zip(with: safe, combine: +),
      safe.with(latestFrom: cold, combine: +), cold.with(latestFrom: safe, combine: +),
      safe.merge(with: cold), cold.merge(with: safe), safe.amb(with: cold), cold.amb(with: safe),
      safe.append(cold), cold.append(safe), safe.prepend(cold), cold.prepend(safe),
      cold.combineLatest(with: cold, combine: +),
    ]
    for signal in failing { #expect(signal.recorded().last == .completed) }
    let both: [SafeSignal<String>] = [
      safe.combineLatest(with: safe, combine: +), safe.zip(with: safe, combine: +),
      safe.with(latestFrom: safe, combine: +), safe.merge(with: safe), safe.amb(with: safe),
      safe.append(safe), safe.prepend(safe),
    ]
    for signal in both { #expect(signal.recorded().last == .completed) }
    // Without a type annotation.
    let sum = safe.combineLatest(with: safe) { $0 + $1 }
    let pair = safe.combineLatest(with: cold)
    #expect(sum.elementsAtOnce() == ["aa"])
    #expect(pair.elementsAtOnce().first.map { $0 == ("a", "b") } == true)
  }
}
