import Signals
import SignalsTestSupport
import TestSupport
import Testing

/// Operators with a scheduler, tested in virtual time.
@Suite(.leavesNothing)
struct TimeTests {
  let m = Marbles()
  let bag = DisposeBag()

  @Test
  func `delay sends each event later and in order, also the end`() {
    #expect(m.draw(m.cold("-a-b-|").delay(interval: 2, on: m.time)) == "---a-b-|")
    #expect(m.draw(m.cold("-(ab#)").delay(interval: 2, on: m.time)) == "---(ab#)")
  }

  @Test
  func `elements are emitted at intervals`() {
    #expect(m.draw(Signal<String, Broken>(just: "a", after: 2, queue: m.time)) == "--(a|)")
    let sequence = SafeSignal(sequence: ["a", "b"], interval: 2, queue: m.time)
    #expect(m.draw(sequence) == "--a-b-|")
    #expect(m.draw(SafeSignal.interval(1, queue: m.time).prefix(maxLength: 3)) == "-01(2|)")
    #expect(m.time.waiting == 0)
  }

  @Test
  func `debounce emits elements that nothing follows, and the last one at the end`() {
    #expect(m.draw(m.cold("-ab---c-|").debounce(for: 2, queue: m.time)) == "----b---(c|)")
    #expect(m.draw(m.cold("-a-----|").debounce(for: 2, queue: m.time)) == "---a---|")
    #expect(m.draw(m.cold("---|").debounce(for: 2, queue: m.time)) == "---|")
    #expect(m.draw(m.cold("-a#").debounce(for: 2, queue: m.time)) == "--#")
    #expect(m.time.waiting == 0)
  }

  @Test
  func `throttle emits the first element, the newest of each interval, and the last one`() {
    let source = "0123456789|"
    #expect(m.draw(m.cold(source).throttle(for: 3.5, queue: m.time)) == "0--3---7--(9|)")
    #expect(
      m.draw(m.cold(source).throttle(for: 3.5, queue: m.time, latest: false)) == "0---4---8-|")
    #expect(m.draw(m.cold("-a------b|").throttle(for: 2, queue: m.time)) == "-a------b|")
    #expect(m.time.waiting == 0)
  }

  @Test
  func `sample emits the newest element of each interval`() {
    #expect(m.draw(m.cold("-ab----c--|").sample(interval: 3, on: m.time)) == "---b-----c|")
    #expect(m.time.waiting == 0)
  }

  @Test
  func `timeout restarts with each event, and starts no timer after the end`() {
    #expect(
      m.draw(m.cold("-a--b-----c").timeout(after: 4, with: Broken(), on: m.time)) == "-a--b---#")
    #expect(m.draw(m.cold("-a-|").timeout(after: 4, with: Broken(), on: m.time)) == "-a-|")
    #expect(m.time.waiting == 0)
  }

  @Test
  func `the elements of the first seconds are dropped`() {
    #expect(m.draw(m.cold("ab-c-d|").dropFirst(for: 2, on: m.time)) == "---c-d|")
    #expect(m.draw(m.cold("a|").dropFirst(for: 2, on: m.time)) == "-|")
    #expect(m.time.waiting == 0)
  }

  @Test
  func `each event is received in a separate call`() {
    final class Counted: Scheduler {
      let time = VirtualTime()
      var count = 0

      func schedule(after seconds: Double, _ action: @escaping () -> Void) -> any Disposable {
        count += 1
        return time.schedule(after: seconds, action)
      }
    }
    let scheduler = Counted()
    let source = SafeSignal(sequence: [1, 2, 3])
    let received = Recorder<Int, Never>()
    source.receive(on: scheduler).observe(with: received.tell).dispose(in: bag)
    #expect(received.events.isEmpty)
    scheduler.time.run()
    #expect(received.events == [.next(1), .next(2), .next(3), .completed])
    #expect(scheduler.count == 4)

    source.subscribe(on: scheduler).observe { _ in }.dispose(in: bag)
    scheduler.time.run()
    #expect(scheduler.count == 5)
  }

  @Test
  func `waitAndCollect runs the scheduler until the signal ends`() {
    let numbers = SafeSignal(sequence: [1, 2], interval: 60, queue: m.time)
    #expect(numbers.waitAndCollectElements(on: m.time) == [1, 2])
    #expect(m.time.now == 180)
    #expect(
      m.cold("-a-#").waitAndCollectEvents(on: m.time) == [.next("a"), .failed(Broken())])
    #expect(SafeSignal<Int>.never().waitAndCollectEvents(on: m.time).isEmpty)
  }
}
