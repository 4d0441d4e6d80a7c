import Signals
import SignalsTestSupport
import TestSupport
import Testing

@Suite(.leavesNothing)
struct TransformingTests {
  let m = Marbles()

  @Test
  func `map emits one element for each element, and passes the end on`() {
    #expect(m.draw(m.cold("-a-b-|").map { $0.uppercased() }) == "-A-B-|")
    #expect(m.draw(m.cold("-a-b-#").map { $0.uppercased() }) == "-A-B-#")
  }

  @Test
  func `map may throw if the signal can fail with any error`() {
    let signal: Signal<Int, any Error> = Signal(sequence: [1, 2, 3])
    let mapped = signal.map { if $0 == 2 { throw Broken() } else { $0 } }
    #expect(mapped.elementsAtOnce() == [1])
    #expect(mapped.recorded().last?.error is Broken)
  }

  @Test
  func `tryMap fails with the first failure, also on a signal that cannot fail`() {
    let test: (String) -> Result<String, Broken> = {
      $0 == "b" ? .failure(Broken()) : .success($0)
    }
    #expect(m.draw(m.cold("-a-b-c|").tryMap(test)) == "-a-#")
    #expect(m.draw(m.safe("-a-b-c|").tryMap(test)) == "-a-#")
  }

  @Test
  func `compactMap drops nil results`() {
    #expect(m.draw(m.cold("-1-a-2-|").compactMap { Int($0) }) == "-1---2-|")
  }

  @Test
  func `optionals are mapped, replaced and dropped`() {
    let numbers = m.cold("-1-a-|").map { Int($0) }
    #expect(m.draw(numbers.mapWrapped { $0 + 1 }.replaceNils(with: 0)) == "-2-0-|")
    #expect(m.draw(numbers.ignoreNils()) == "-1---|")
  }

  @Test
  func `sequences are mapped and flattened`() {
    #expect(m.draw(m.cold("-a-b-|").flatMap { [$0, $0] }) == "-(aa)-(bb)-|")
    let mapped = m.cold("-a-|").map { [$0, "x"] }.mapElement { $0.uppercased() }
    #expect(m.draw(mapped.flattenElements()) == "-(AX)-|")
  }

  @Test
  func `scan emits its initial value first`() {
    #expect(m.draw(m.cold("-a-b-|").scan("s", +)) == "s[sa]-[sab]-|")
    #expect(m.draw(m.cold("-a-b-|").reduce("s", +)) == "-----([sab]|)")
    #expect(m.draw(m.cold("-a-b-|").collect().map { $0.joined() }) == "-----([ab]|)")
  }

  @Test
  func `an incomplete buffer is dropped at the end`() {
    #expect(m.draw(m.cold("-a-b-c-|").buffer(size: 2).map { $0.joined() }) == "---[ab]---|")
    let windows = m.cold("-a-b-c-|").window(ofSize: 2).flatMapConcat { $0.collect() }
    #expect(m.draw(windows.map { $0.joined() }) == "---[ab]---|")
  }

  @Test
  func `consecutive elements are paired`() {
    #expect(m.draw(m.cold("-a-b-c|").pairwise().map { $0.0 + $0.1 }) == "---[ab]-[bc]|")
    let pairs = m.cold("-a-b|").zipPrevious().map { ($0.0 ?? "") + $0.1 }
    #expect(m.draw(pairs) == "-a-[ab]|")
  }

  @Test
  func `elements are prepended and appended`() {
    #expect(m.draw(m.cold("-a-|").prepend("x").append("y")) == "xa-(y|)")
    #expect(m.draw(m.cold("-a-#").append("y")) == "-a-#")
  }

  @Test
  func `elements are replaced`() {
    #expect(m.draw(m.cold("-a-b|").replaceElements(with: "x")) == "-x-x|")
    #expect(m.draw(m.cold("---|").replaceEmpty(with: "x")) == "---(x|)")
    #expect(m.draw(m.cold("-a-|").replaceEmpty(with: "x")) == "-a-|")
    #expect(m.draw(m.cold("---#").replaceEmpty(with: "x")) == "---#")
    #expect(m.cold("(a|)").eraseType().recorded().count == 2)
  }

  @Test
  func `events are converted to elements and back`() {
    let events = m.cold("-a-#").materialize()
    #expect(m.draw(events.map { $0.element ?? "end" }) == "-a-([end]|)")
    #expect(m.draw(events.dematerialize() as Signal<String, Broken>) == "-a-#")
    let safe: SafeSignal<String> = m.safe("-a-|").materialize().dematerialize()
    #expect(m.draw(safe) == "-a-|")
  }

  @Test
  func `events are converted to results and back`() {
    #expect(m.draw(m.cold("-a-#").mapToResult().map { (try? $0.get()) ?? "-" }) == "-a-(-|)")
    #expect(m.draw(m.cold("-a-#").mapToResult().getValues()) == "-a-#")
    let values = m.cold("-a-|").mapToResult().mapValue { $0 + "x" }
    #expect(m.draw(values.getValues()) == "-[ax]-|")
  }
}
