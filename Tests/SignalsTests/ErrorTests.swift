import Signals
import SignalsTestSupport
import TestSupport
import Testing

@Suite(.leavesNothing)
struct ErrorTests {
  let m = Marbles()
  let bag = DisposeBag()

  @Test
  func `a failure is mapped, recovered from, replaced and suppressed`() {
    struct Other: Error, Equatable { let inner: Broken }
    let mapped = m.cold("a#").mapError { Other(inner: $0) }.recorded()
    #expect(mapped == [.next("a")])
    #expect(
      m.cold("#").mapError { Other(inner: $0) }.recorded() == [.failed(Other(inner: Broken()))])
    #expect(m.draw(m.cold("-a-#").flatMapError { _ in m.cold("-b-|") }) == "-a--b-|")
    #expect(m.draw(m.cold("-a-#").replaceError(with: "x")) == "-a-(x|)")
    #expect(m.draw(m.cold("-a-#").suppressError(logging: false)) == "-a-|")
    #expect(m.draw(m.cold("-a-#").toErrorSignal().map { _ in "e" }) == "---(e|)")
  }

  @Test
  func `a failure is sent to a subject`() {
    let errors = ReplaySubject<Broken, Never>(bufferSize: .unbounded)
    #expect(m.draw(m.cold("-a-#").feedError(into: errors)) == "-a-#")
    let suppressed = m.cold("-a-#").suppressAndFeedError(into: errors, logging: false)
    #expect(m.draw(suppressed) == "-a-|")
    #expect(errors.elementsAtOnce() == [Broken(), Broken()])
  }

  @Test
  func `branching gives the elements and the failure of one run`() {
    var runs = 0
    let source = Signal<String, Broken> { [m] observer in
      runs += 1
      return m.cold("-a-#").observe(with: observer)
    }
    let (elements, errors) = source.branchOutError { _ in "e" }
    let drawn = elements.merge(with: errors)
    #expect(m.draw(drawn) == "-a-(e|)")
    #expect(runs == 1)
  }

  @Test
  func `retry restarts up to the given number of times, then fails with the last error`() {
    var runs = 0
    let source = Signal<Int, Broken> { observer in
      runs += 1
      observer.receive(runs)
      observer.fail(Broken())
      return NonDisposable.instance
    }
    #expect(source.retry(2).recorded() == [.next(1), .next(2), .next(3), .failed(Broken())])
    #expect(runs == 3)
    runs = 0
    #expect(source.retry(5, if: { _ in runs < 2 }).elementsAtOnce() == [1, 2])
  }

  @Test
  func `a hundred thousand retries do not use up the stack`() {
    var runs = 0
    let source = Signal<Int, Broken> { observer in
      runs += 1
      if runs <= 100_000 { observer.fail(Broken()) } else { observer.receive(lastElement: runs) }
      return NonDisposable.instance
    }
    #expect(source.retry(100_000).elementsAtOnce() == [100_001])
  }

  @Test
  func `retry waits for another signal`() {
    var runs = 0
    let source = Signal<String, Broken> { [m] observer in
      runs += 1
      return m.cold(runs < 3 ? "a#" : "b|").observe(with: observer)
    }
    #expect(m.draw(source.retry(when: m.safe("---x---x"))) == "a---a---b|")
  }

  @Test
  func `retry fails when the other signal completes, or when the condition is false`() {
    #expect(m.draw(m.cold("a#").retry(when: m.safe("--|"))) == "a--#")
    #expect(m.draw(m.cold("a#").retry(when: m.safe("-x"), if: { _ in false })) == "a#")
  }

  @Test
  func `a hundred thousand retries after another signal do not use up the stack`() {
    var runs = 0
    let source = Signal<Int, Broken> { observer in
      runs += 1
      if runs <= 100_000 { observer.fail(Broken()) } else { observer.receive(lastElement: runs) }
      return NonDisposable.instance
    }
    #expect(source.retry(when: SafeSignal(just: ())).elementsAtOnce() == [100_001])
  }
}
