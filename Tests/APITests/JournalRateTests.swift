import API
import BinderTesting
import Connections
import EventSourcing
import Features
import JSON
import TestSupport
import Testing
import Wire

/// The rate at which a user may write to the journal, as clients see it, in virtual time.
@Suite(.leavesNothing)
struct JournalRateTests {
  private let bench: Bench
  private let time: ManualTime
  private let client: TestClient
  private let text = String(repeating: "x", count: 6_000)

  init() throws {
    let time = ManualTime()
    self.time = time
    bench = try Bench(
      time: time,
      services: { parts in
        let bindings = BindingsService(in: parts.host)
        return { bindBindings($0, to: bindings, parts.live) }
      })
    bench.host.owners = [0]
    bench.host.shares.now = { time.milliseconds }
    (bench.host.shares.bytesPerSecond, bench.host.shares.burst) = (1_000, 10_000)
    client = bench.connect(uid: 4001)
  }

  private func set(_ id: Int, _ name: String = "a", _ rest: String = "") -> String {
    #"{"id":\#(id),"method":"cells.set","params":{"name":"\#(name)","value":"\#(id)\#(text)"\#(rest)}}"#
  }

  private func ids(_ lines: [String]) -> [Int] {
    lines.compactMap { line in
      guard case .object(let frame)? = try? JSONValue(parsing: line),
        case .number(let id)? = frame["id"]
      else { return nil }
      return id.int64.map(Int.init)
    }
  }

  @Test
  func `the commands of a user who writes too fast wait, and all are answered in order`() {
    client.send(set(1), set(2), set(3), #"{"id":4,"method":"ping"}"#)
    #expect(ids(client.settle()) == [1, 2])
    #expect(ids(client.settle()).isEmpty)
    // Nobody else waits.
    let other = bench.connect(uid: 4002)
    #expect(other.error(set(1, "b")) == nil)
    let owner = bench.connect(uid: 0)
    for i in 1...9 { #expect(owner.error(set(i, "c")) == nil) }
    // A connection more has no room of its own, and reads do not wait.
    let second = bench.connect(uid: 4001)
    #expect(ids(second.settle()).isEmpty)
    second.send(#"{"id":1,"method":"get","params":["cells/a"]}"#)
    #expect(ids(second.settle()) == [1])
    second.send(set(2, "d"))
    #expect(ids(second.settle()).isEmpty)
    time.advance(10_000)
    #expect((ids(client.settle()) + ids(second.settle())).sorted() == [2, 3, 4])
  }

  @Test
  func `a command that waits longer than its client is not run`() {
    client.send(set(1), set(2), set(3, "late", #","_meta":{"timeout_ms":500}"#))
    #expect(ids(client.settle()) == [1, 2])
    time.advance(10_000)
    let answer = client.settle().joined()
    #expect(answer.contains(#""name":"timeout""#) && answer.contains(#""outcome":"none""#))
    #expect(bench.cells.ledger.value(of: "cells/late") == nil)
  }

  @Test
  func `a client that leaves while it waits leaves no timer`() {
    client.send(set(1), set(2), set(3))
    _ = client.settle()
    let timers = time.count
    client.connection.end()
    bench.table.flush()
    #expect(time.count < timers)
  }

  @Test
  func `a binding of a user without room passes its newest value on later`() {
    let owner = bench.connect(uid: 0)
    #expect(
      client.error(#"{"id":1,"method":"bind","params":{"expr":"cells/in ~> cells/out"}}"#) == nil)
    for i in 1...3 { _ = owner.call(set(i, "in")) }
    _ = owner.call(#"{"id":9,"method":"cells.set","params":["in",1]}"#)
    #expect(client.settle().joined().contains("journal_rate_user"))
    #expect(bench.cells.ledger.value(of: "cells/out")?.text != "1")
    time.advance(60_000)
    _ = owner.settle()
    #expect(bench.cells.ledger.value(of: "cells/out")?.text == "1")
  }
}
