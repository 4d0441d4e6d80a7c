import Connections
import JSON
import Model
import Signals
import TestSupport
import Testing
import Wire

@Suite(.leavesNothing)
struct SyncTests {
  let bench = Bench()
  let changes = PassthroughSubject<SourceChange, Never>()

  init() {
    bench.offerCommands()
    bench.methods["sync"] = { call in
      if let late = call.later() { call.connection.sync(late, at: 1) }
      return .done
    }
  }

  private func watch() {
    let source = StateSource(
      key: "a", isJournaled: true, value: { nil }, changes: changes.toSignal())
    bench.connection.add(StateSubscription(.number(1), to: source, on: bench.connection))
  }

  @Test
  func `the answer follows every frame up to the position`() {
    watch()
    bench.receive(request(1, "sync"))
    #expect(bench.lines() == [])
    changes.send(SourceChange(source: "a", seq: 1, value: JSONText(1)))
    bench.table.advance(to: 1)
    let lines = bench.lines()
    #expect(lines.count == 2)
    #expect(lines.first?.contains(#""method":"next""#) == true)
    #expect(lines.last == result(1, #"{"seq":1}"#))
  }

  @Test
  func `the answer waits until the client reads its frames`() {
    watch()
    bench.transport.room = 0
    changes.send(SourceChange(source: "a", seq: 1, value: JSONText(1)))
    bench.table.advance(to: 1)
    #expect(bench.lines() == [])
    bench.receive(request(1, "sync"))
    #expect(bench.lines() == [])
    bench.transport.room = .max
    bench.connection.becameWritable()
    let lines = bench.lines()
    #expect(lines.count == 2)
    #expect(lines.last == result(1, #"{"seq":1}"#))
  }

  /// Subscriptions learn of a change at the end of the turn, and the client reads before that.
  @Test
  func `the answer follows a change of the same turn, also if the client was blocked`() {
    watch()
    bench.transport.room = 0
    bench.receive(request(1, "sync"))
    bench.receive(request(2, "echo"))
    #expect(bench.lines() == [])
    changes.send(SourceChange(source: "a", seq: 1, value: JSONText(1)))
    bench.table.advance(to: 1)
    bench.transport.room = .max
    bench.connection.becameWritable()
    let lines = bench.lines()
    #expect(lines.first == result(2, "{}"))
    #expect(lines.dropFirst().first?.contains(#""method":"next""#) == true)
    #expect(lines.last == result(1, #"{"seq":1}"#))
    #expect(lines.count == 3)
  }

  @Test
  func `a client without subscriptions is answered when the position is durable`() {
    bench.receive(request(1, "sync"))
    bench.receiveEnd()
    #expect(bench.lines() == [])
    #expect(bench.transport.closes == 0)
    bench.table.advance(to: 1)
    #expect(bench.lines() == [result(1, #"{"seq":1}"#)])
    #expect(bench.transport.closes == 1)
  }
}
