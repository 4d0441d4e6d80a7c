import Connections
import JSON
import Model
import Signals
import TestSupport
import Testing
import Wire

@Suite(.leavesNothing)
struct SubscriptionTests {
  let bench = Bench()

  /// A source whose value the test sets.
  final class Source {
    let changes = PassthroughSubject<SourceChange, Never>()
    var value: JSONText?
    var seq: UInt64 = 0
    private(set) var listenerCount = 0

    func source(
      _ name: String = "a/x", isJournaled: Bool = true, part: WatchedPart? = nil
    ) -> StateSource {
      StateSource(
        key: name, isJournaled: isJournaled, value: { [self] in value },
        changes: Signal { [self] observer in
          listenerCount += 1
          return changes.observe(with: observer.on)
        }, part: part)
    }

    var pattern: PatternSource { PatternSource(key: "a/*", changes: changes.toSignal()) }

    func set(_ text: String?, of name: String = "a/x") {
      let before = value
      value = text.map { JSONText(trusted: $0) }
      seq += 1
      changes.send(SourceChange(source: name, seq: seq, value: value, before: before))
    }
  }

  private func next(_ rest: String) -> String {
    #"{"jsonrpc":"2.0","method":"next","params":{"sub":"s","# + rest + "}}"
  }

  private let handle = Handle.name("s")

  // MARK: One value

  @Test
  func `a change is sent with its position`() {
    let source = Source()
    bench.connection.add(StateSubscription(handle, to: source.source(), on: bench.connection))
    source.set("1")
    #expect(bench.lines() == [next(#""seq":1,"value":1"#)])
    source.set(nil)
    #expect(bench.lines() == [next(#""seq":2,"gone":true"#)])
  }

  @Test
  func `the newest of several changes in a turn is sent, and the others are counted`() {
    let source = Source()
    bench.connection.add(StateSubscription(handle, to: source.source(), on: bench.connection))
    for value in ["1", "2", "3"] { source.set(value) }
    #expect(bench.lines() == [next(#""seq":3,"value":3,"skipped":2"#)])
  }

  @Test
  func `a slow client gets the newest value when it reads again`() {
    let source = Source()
    bench.connection.add(StateSubscription(handle, to: source.source(), on: bench.connection))
    bench.transport.room = 5
    source.set("1")
    #expect(bench.lines().isEmpty)
    for value in 2...1000 {
      source.set("\(value)")
      bench.table.flush()
    }
    #expect(bench.connection.outputBytes < 200)
    bench.transport.room = .max
    bench.connection.becameWritable()
    #expect(
      bench.lines() == [
        next(#""seq":1,"value":1"#), next(#""seq":1000,"value":1000,"skipped":998"#),
      ])
  }

  @Test
  func `a value equal to the last one sent is not sent, unless requested`() {
    let source = Source()
    source.value = JSONText(0)
    bench.connection.add(StateSubscription(handle, to: source.source(), on: bench.connection))
    bench.connection.add(
      StateSubscription(.name("t"), to: source.source(), on: bench.connection, isDistinct: false))
    source.set("0")
    #expect(bench.lines().map { $0.contains(#""sub":"t""#) } == [true])
    source.set("1")
    source.set("0")
    #expect(bench.lines().map { $0.contains(#""skipped":1"#) } == [true])
  }

  @Test
  func `a source that is not journaled has no positions`() {
    let source = Source()
    bench.connection.add(
      StateSubscription(handle, to: source.source(isJournaled: false), on: bench.connection))
    source.set("1")
    #expect(bench.lines() == [next(#""value":1"#)])
  }

  @Test
  func `changes are limited to an interval, and the last one arrives`() {
    let source = Source()
    bench.connection.add(
      StateSubscription(
        handle, to: source.source(), on: bench.connection, everyMilliseconds: 100))
    bench.time.advance(100)
    source.set("1")
    #expect(bench.lines().count == 1)
    for value in 2...5 {
      bench.time.advance(10)
      source.set("\(value)")
      #expect(bench.lines().isEmpty)
    }
    bench.time.advance(60)
    #expect(bench.lines() == [next(#""seq":5,"value":5,"skipped":3"#)])
    bench.time.advance(1000)
    #expect(bench.lines().isEmpty)
    #expect(bench.time.count == 0)
  }

  @Test
  func `a value longer than the line limit ends the subscription with the reason`() {
    let source = Source()
    bench.connection.add(StateSubscription(handle, to: source.source(), on: bench.connection))
    source.set("\"" + String(repeating: "x", count: 70_000) + "\"")
    let lines = bench.lines()
    #expect(lines.count == 1)
    #expect(lines[0].hasPrefix(#"{"jsonrpc":"2.0","method":"fail","params":{"sub":"s","seq":1"#))
    #expect(lines[0].contains("result_too_large"))
    #expect(bench.connection.subscriptions.isEmpty)
    source.set("1")
    #expect(bench.lines().isEmpty)
  }

  @Test
  func `no frame follows the end, and the source is released with its last subscriber`() {
    let source = Source()
    let first = StateSubscription(handle, to: source.source(), on: bench.connection)
    let second = StateSubscription(.number(1), to: source.source(), on: bench.connection)
    bench.connection.add(first)
    bench.connection.add(second)
    #expect(source.listenerCount == 1)
    source.set("1")
    bench.connection.remove(first)
    #expect(bench.lines().map { $0.contains(#""sub":1"#) } == [true])
    bench.connection.remove(second)
    #expect(!source.changes.hasObservers)
    #expect(bench.table.context.counts.subscriptions == 0)
  }

  @Test
  func `a client that leaves ends its subscriptions`() {
    let source = Source()
    bench.connection.add(StateSubscription(handle, to: source.source(), on: bench.connection))
    bench.connection.add(
      PatternSubscription(.number(1), to: source.pattern, on: bench.connection))
    source.set("1")
    bench.connection.end()
    #expect(bench.lines().isEmpty)
    #expect(!source.changes.hasObservers)
    #expect(bench.table.context.counts.subscriptions == 0)
  }

  @Test
  func `a change is noted once, however many parts of the value are watched`() {
    let source = Source()
    source.set(#"{"p0":1}"#)
    var watched = 0
    for i in 0..<50 {
      let part = WatchedPart(key: "/p\(i)", find: { $0.members?["p\(i)"] }) {
        watched += 1
        return BlockDisposable { watched -= 1 }
      }
      bench.connection.add(
        StateSubscription(.number(i), to: source.source(part: part), on: bench.connection))
    }
    #expect(source.listenerCount == 1)
    #expect(watched == 50)
    source.set(#"{"p0":1,"p7":2}"#)
    let lines = bench.lines()
    #expect(lines.count == 1)
    #expect(lines.first?.contains(#""sub":7,"seq":2,"value":2"#) == true)
    source.set(#"{"p0":3,"p7":2}"#)
    source.set("{}")
    #expect(
      bench.lines().map { String($0.dropFirst(42)) } == [
        #"{"sub":0,"seq":4,"gone":true,"skipped":1}}"#,
        #"{"sub":7,"seq":4,"gone":true,"skipped":1}}"#,
      ])
    bench.connection.end()
    #expect(watched == 0)
    #expect(!source.changes.hasObservers)
  }

  // MARK: Handles

  @Test
  func `a handle is the requested one, or the next free number`() throws {
    let source = Source()
    func add(_ wish: Handle?) throws(WireError) -> Handle {
      let handle = try bench.connection.reserveHandle(wish)
      bench.connection.add(StateSubscription(handle, to: source.source(), on: bench.connection))
      return handle
    }
    #expect(try add(nil) == .number(1))
    #expect(try add(.number(2)) == .number(2))
    #expect(try add(nil) == .number(3))
    #expect(try add(handle) == handle)
    let error = #expect(throws: WireError.self) { try add(handle) }
    #expect(error?.name == .alreadyExists)
  }

  @Test
  func `the number of subscriptions is limited`() throws {
    let bench = Bench { $0.subscriptions = 2 }
    let source = Source()
    for _ in 0..<2 {
      let handle = try bench.connection.reserveHandle(nil)
      bench.connection.add(StateSubscription(handle, to: source.source(), on: bench.connection))
    }
    let error = #expect(throws: WireError.self) { try bench.connection.reserveHandle(nil) }
    #expect(error?.name == .limitReached)
  }

  // MARK: Patterns

  @Test
  func `each source of a pattern is sent at the position of its last change`() {
    let source = Source()
    bench.connection.add(
      PatternSubscription(handle, to: source.pattern, on: bench.connection))
    source.set("1", of: "a/x")
    source.set("2", of: "a/y")
    source.set("3", of: "a/x")
    source.set(nil, of: "a/z")
    #expect(
      bench.lines() == [
        next(#""seq":2,"source":"a/y","value":2"#),
        next(#""seq":3,"source":"a/x","value":3,"skipped":1"#),
        next(#""seq":4,"source":"a/z","gone":true"#),
      ])
  }

  @Test
  func `the memory for a slow client of a pattern grows with the sources only`() {
    let source = Source()
    bench.connection.add(
      PatternSubscription(
        handle, to: source.pattern, on: bench.connection, isDistinct: false))
    bench.transport.room = 0
    bench.receive(request(1))
    for i in 0..<100_000 { source.set("\(i)", of: "a/\(i % 10)") }
    bench.table.flush()
    bench.transport.room = .max
    bench.connection.becameWritable()
    let lines = bench.lines()
    #expect(lines.count == 11)
    #expect(lines[1] == next(#""seq":99991,"source":"a/0","value":99990,"skipped":9999"#))
    #expect(lines[10] == next(#""seq":100000,"source":"a/9","value":99999,"skipped":9999"#))
  }

  @Test
  func `a pattern of many sources is sent in portions as the client reads`() {
    let source = Source()
    bench.connection.add(
      PatternSubscription(
        handle, to: source.pattern, on: bench.connection, isDistinct: false))
    for i in 1...5000 { source.set("\"\(String(repeating: "x", count: 100))\"", of: "a/\(i)") }
    bench.transport.room = 100_000
    bench.table.flush()
    #expect(bench.connection.outputBytes < 200_000)
    var lines = bench.transport.lines()
    while bench.connection.outputBytes > 0 {
      bench.transport.room = 100_000
      bench.connection.becameWritable()
      lines += bench.transport.lines()
    }
    #expect(lines.count == 5000)
    #expect(lines.indices.allSatisfy { lines[$0].contains("\"seq\":\($0 + 1),") })
  }

  @Test
  func `a change to an equal value is not sent for a pattern`() {
    let source = Source()
    bench.connection.add(
      PatternSubscription(handle, to: source.pattern, on: bench.connection))
    source.set("1")
    #expect(bench.lines().count == 1)
    source.set("1")
    #expect(bench.lines().isEmpty)
  }
}
