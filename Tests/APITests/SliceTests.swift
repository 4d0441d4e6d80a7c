import API
import Configuration
import Connections
import EventSourcing
import Facts
import Features
import JSON
import Journal
import Signals
import TestSupport
import Testing
import Wire

/// Work that follows from commits is done in the time of its user, a limited number of steps a turn.
///
/// Each look at the clock costs 0.1 ms, and each step of work needs one, so that a turn has about 40
/// steps for a user.
@Suite(.leavesNothing)
struct SliceTests {
  private let bench: Bench

  /// Another user.
  private let other: TestClient
  private static let stepsPerTurn: UInt64 = 40

  init() throws {
    bench = try Bench(services: { parts in
      let host = parts.host
      let (bindings, lists) = (BindingsService(in: host), ListsService(in: host))
      return { catalog in
        bindBindings(catalog, to: bindings, parts.live)
        bindLists(catalog, to: lists)
      }
    })
    other = bench.connect(uid: 1001)
  }

  private func value(_ cell: String) -> String? {
    bench.cells.ledger.value(of: "cells/\(cell)")?.text
  }

  private func ping(_ client: TestClient) -> Bool {
    client.send(#"{"id":"p","method":"ping"}"#)
    return client.received().contains { $0.contains(#""id":"p","result""#) }
  }

  /// Returns an `atomic` that sets a cell to 1, 2 and so on.
  private func sets(_ count: Int, of cell: String = "h") -> String {
    let calls = (1...count).map { #"{"method":"cells.set","params":["\#(cell)",\#($0)]}"# }
    return #"{"id":"a","method":"atomic","params":{"calls":[\#(calls.joined(separator: ","))]}}"#
  }

  /// Commits, and runs turns until all work is done; checks each of them.
  private func run() -> (steps: UInt64, turns: UInt64) {
    bench.time.nanosecondsPerLook = 100_000
    defer { bench.time.nanosecondsPerLook = 0 }
    let context = bench.table.context
    let (begun, first) = (context.workSteps, context.turn)
    bench.store.commit()
    repeat {
      let (done, turn) = (context.workSteps, context.turn)
      bench.table.flush()
      #expect(ping(other))
      #expect(context.workSteps - done <= Self.stepsPerTurn * (context.turn - turn))
      bench.store.commit()
    } while context.hasWork && context.turn - first < 10_000
    #expect(!context.hasWork)
    return (context.workSteps - begun, context.turn - first)
  }

  // MARK: Waits

  @Test
  func `each wait looks at the value once a commit, in the time of its user`() {
    var condition = (1...60).map { "\(-$0)" }.joined(separator: ",")
    condition = #""source":"cells/h","op":"in","value":[\#(condition)]"#
    let clients = (0..<4).map { _ in bench.connect() }
    for client in clients {
      for i in 0..<64 { client.send(#"{"id":\#(i),"method":"wait","params":{\#(condition)}}"#) }
      #expect(client.received().isEmpty)
    }
    clients[0].send(sets(100))
    let (steps, turns) = run()
    #expect((256...260).contains(steps), "\(steps)")
    #expect(turns >= 256 / Self.stepsPerTurn)
    // Each of them is still answered.
    clients[0].send(#"{"id":"s","method":"cells.set","params":["h",-7]}"#)
    _ = run()
    for client in clients { #expect(client.connection.lateCount == 0) }
  }

  @Test
  func `a wait sees the value of each commit, also if there was no time for it at once`() {
    let clients = (0..<4).map { _ in bench.connect() }
    for client in clients {
      for i in 0..<64 {
        client.send(#"{"id":\#(i),"method":"wait","params":{"source":"cells/h","value":2}}"#)
      }
    }
    bench.time.nanosecondsPerLook = 100_000
    for n in 1...3 {
      other.send(#"{"id":\#(n),"method":"cells.set","params":["h",\#(n)]}"#)
      bench.store.commit()
    }
    _ = run()
    for client in clients {
      #expect(client.received().filter { $0.contains(#""value":2"#) }.count == 64)
    }
  }

  @Test
  func `a wait that begins while values wait sees only later ones`() {
    let client = bench.connect()
    for i in 0..<60 {
      client.send(#"{"id":\#(i),"method":"wait","params":{"source":"cells/h","value":0}}"#)
    }
    bench.time.nanosecondsPerLook = 1_000_000
    for n in 1...2 {
      other.send(#"{"id":\#(n),"method":"cells.set","params":["h",\#(n)]}"#)
      bench.store.commit()
    }
    client.send(#"{"id":"w","method":"wait","params":{"source":"cells/h","value":1}}"#)
    _ = run()
    #expect(!client.received().contains { $0.contains(#""id":"w""#) })
    other.send(#"{"id":3,"method":"cells.set","params":["h",1]}"#)
    _ = run()
    #expect(client.received().contains { $0.contains(#""id":"w","result""#) })
  }

  // MARK: Bindings

  private func bind(_ client: TestClient, _ expressions: [String]) {
    for expression in expressions {
      let text = JSONText(string: expression).text
      client.send(#"{"id":"b","method":"bind","params":{"expr":\#(text)}}"#)
    }
    #expect(client.settle().allSatisfy { $0.contains(#""result""#) })
  }

  @Test
  func `bindings pass on the newest value after a commit, in the time of their user`() {
    for i in 0..<8 {
      bind(bench.connect(), (0..<64).map { "cells/h ~> cells/o/\(i)/\($0)" })
    }
    bind(other, ["cells/h ~> cells/other"])
    let last = bench.store.last
    other.send(sets(50))
    bench.time.nanosecondsPerLook = 100_000
    bench.store.commit()
    bench.table.flush()
    bench.store.commit()
    #expect(value("other") == "50", "the other user does not wait")
    let (steps, _) = run()
    #expect((400...513).contains(steps), "\(steps)")
    _ = other.settle()
    for i in 0..<8 {
      #expect((0..<64).map { value("o/\(i)/\($0)") ?? "none" } == Array(repeating: "50", count: 64))
    }
    #expect(bench.store.last == last + 50 + 513)
  }

  @Test
  func `operators that count get each value, in later turns too`() {
    let client = bench.connect()
    bind(client, (0..<40).map { "cells/h | count ~> cells/n\($0)" })
    bind(client, (0..<20).map { "cells/h | scan(sum) | where(above, 0) ~> cells/s\($0)" })
    other.send(sets(50))
    let (steps, _) = run()
    #expect(steps >= 50 * 60)
    #expect((0..<40).allSatisfy { value("n\($0)") == "50" })
    #expect((0..<20).allSatisfy { value("s\($0)") == "1275" })
  }

  @Test
  func `lists are evaluated in the time of their user, and without glitches`() {
    let clients = (0..<4).map { _ in bench.connect() }
    for (i, client) in clients.enumerated() {
      bind(client, (0..<30).map { "cells/h ~> cells/f/\(i)/\($0)" })
      bind(client, (0..<30).map { "(cells/h, cells/f/\(i)/\($0)) ~> cells/p/\(i)/\($0)" })
    }
    for n in [3, 5] {
      other.send(sets(n))
      let (steps, _) = run()
      #expect(steps >= 120)
    }
    for _ in 0..<20 { _ = run() }
    for i in 0..<4 {
      #expect((0..<30).allSatisfy { value("p/\(i)/\($0)") == "[5,5]" })
    }
    var pairs: Set<String> = []
    bench.store.replay(after: 0) { records in
      for record in records.records where record.stream.hasPrefix("cells/p/") {
        pairs.insert(record.data)
      }
    }
    #expect(pairs.allSatisfy { !$0.contains("[5,3]") && !$0.contains("[3,5]") }, "\(pairs)")
  }

  @Test
  func `timers of operators that fire together run in the time of their user`() {
    let clients = (0..<3).map { _ in bench.connect() }
    for (i, client) in clients.enumerated() {
      bind(client, (0..<64).map { "cells/h | delay(1s) ~> cells/d/\(i)/\($0)" })
    }
    other.send(sets(1))
    _ = run()
    let begun = bench.table.context.workSteps
    bench.time.nanosecondsPerLook = 100_000
    bench.time.advance(1_000)
    #expect(bench.table.context.workSteps - begun <= Self.stepsPerTurn)
    _ = run()
    for i in 0..<3 { #expect((0..<64).allSatisfy { value("d/\(i)/\($0)") == "1" }) }
  }

  // MARK: Delivery

  /// Runs turns until all clients have got something, and returns how many got it in each turn.
  private func deliver(to clients: [TestClient]) -> [Int] {
    var (waiting, counts) = (clients.map { ($0, $0.sends) }, [Int]())
    while !waiting.isEmpty, counts.count < 1_000 {
      let count = waiting.count
      bench.table.flush()
      waiting.removeAll { client, sends in client.sends > sends }
      counts.append(count - waiting.count)
    }
    return counts
  }

  @Test
  func `readers with a filter share the turn of their user, and each gets its turn`() {
    let filter = #"{"types":["cells.*"],"where":[{"path":"/value","op":"!=","value":0}]}"#
    let clients = (0..<30).map { _ in bench.connect() }
    for client in clients + [other] {
      for i in 0..<8 {
        client.send(
          #"{"id":\#(i),"method":"subscribe","params":{"source":"events","filter":\#(filter)}}"#)
      }
      #expect(client.settle().allSatisfy { $0.contains(#""result""#) })
    }
    bench.time.nanosecondsPerLook = 200_000
    other.send(sets(1))
    bench.store.commit()
    let sends = other.sends
    let counts = deliver(to: clients)
    #expect(counts.count > 5, "\(counts)")
    #expect(counts.allSatisfy { $0 <= 5 }, "\(counts)")
    #expect(other.sends > sends)
    // Events in each turn do not keep the last clients waiting.
    bench.time.nanosecondsPerLook = 200_000
    var waiting = clients.map { ($0, $0.sends) }
    for _ in 0..<60 {
      other.send(sets(1))
      bench.store.commit()
      bench.table.flush()
      waiting.removeAll { client, sends in client.sends > sends }
    }
    #expect(waiting.isEmpty)
    bench.time.nanosecondsPerLook = 0
    for client in clients + [other] { _ = client.settle() }
  }

  @Test
  func `long values for many clients of a user are sent in several turns`() {
    let clients = (0..<120).map { _ in bench.connect() }
    for client in clients + [other] {
      _ = client.call(#"{"id":1,"method":"subscribe","params":{"source":"cells/h"}}"#)
    }
    let text = String(repeating: "x", count: 60_000)
    other.send(#"{"id":1,"method":"cells.set","params":["h","\#(text)"]}"#)
    bench.store.commit()
    let counts = deliver(to: clients)
    #expect(counts.count == 2, "\(counts)")
    #expect(counts.allSatisfy { $0 <= 70 }, "\(counts)")
  }
}
