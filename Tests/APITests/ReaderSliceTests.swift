import API
import BinderTesting
import Connections
import EventSourcing
import Features
import JSON
import JournalMemory
import Model
import TestSupport
import Testing
import Wire

/// Shared readers, services of programs and patterns work in the time of their user.
///
/// Each look at the clock costs 0.1 ms, and each step of work needs one, so that a turn has about 40
/// steps for a user.
@Suite(.leavesNothing)
struct ReaderSliceTests {
  private let bench: Bench

  /// Another user.
  private let other: TestClient
  private static let stepsPerTurn: UInt64 = 40

  init() throws {
    bench = try Bench { catalog, parts in
      bindPrograms(catalog, to: Programs(in: parts.host))
    }
    other = bench.connect(uid: 1001)
  }

  /// Runs turns until all work is done; checks each of them.
  private func run() -> (steps: UInt64, turns: UInt64) {
    bench.time.nanosecondsPerLook = 100_000
    defer { bench.time.nanosecondsPerLook = 0 }
    let context = bench.table.context
    let (begun, first) = (context.workSteps, context.turn)
    bench.store.commit()
    repeat {
      let (done, turn) = (context.workSteps, context.turn)
      other.send(#"{"id":"p","method":"ping"}"#)
      #expect(other.received().contains { $0.contains(#""id":"p","result""#) })
      #expect(context.workSteps - done <= Self.stepsPerTurn * (context.turn - turn))
      bench.store.commit()
    } while context.hasWork && context.turn - first < 10_000
    #expect(!context.hasWork)
    return (context.workSteps - begun, context.turn - first)
  }

  private func sets(_ count: Int) -> String {
    let calls = (1...count).map { #"{"method":"cells.set","params":["h",\#($0)]}"# }
    return #"{"id":"a","method":"atomic","params":{"calls":[\#(calls.joined(separator: ","))]}}"#
  }

  private func worker(_ name: Int, _ condition: String) -> TestClient {
    let worker = bench.connect(uid: 1000)
    let filter = #"{"streams":["cells/**"],"where":[{"path":"/value",\#(condition)}]}"#
    worker.send(
      #"{"id":1,"method":"subscribe","params":{"source":"events","sub":"w","durable":"r\#(name)","#
        + #""share":true,"filter":\#(filter)}}"#)
    let answer = worker.settle()
    #expect(answer.first?.contains(#""share":true"#) == true, "\(answer)")
    return worker
  }

  @Test
  func `shared readers look at new events in the time of their workers`() {
    let none = (1...60).map { "\(-$0)" }.joined(separator: ",")
    let workers = (0..<20).map { worker($0, #""op":"in","value":[\#(none)]"#) }
    let found = worker(20, #""op":"==","value":19"#)
    other.send(sets(20))
    let (steps, turns) = run()
    #expect((400...460).contains(steps), "\(steps)")
    #expect(turns >= 400 / Self.stepsPerTurn)
    #expect(found.settle().contains { $0.contains(#""value":19"#) })
    for worker in workers { #expect(worker.settle().isEmpty) }
  }

  @Test
  func `a shared reader without time for many events reads them from the journal`() {
    let worker = worker(0, #""op":"==","value":999"#)
    other.send(sets(1000))
    while bench.table.flush() {}
    let (steps, _) = run()
    #expect(steps < 300)
    #expect(worker.settle().contains { $0.contains(#""value":999"#) })
  }

  @Test
  func `the services of many providers are shown in the time of their user`() {
    let client = bench.connect(uid: 1000)
    bench.time.nanosecondsPerLook = 0
    let lines = (0..<60).map {
      #"{"id":1,"method":"provide","params":{"service":"s\#($0)","methods":{"m":{}}}}"#
    }
    client.send("[" + lines.joined(separator: ",") + "]")
    let (steps, turns) = run()
    // Each is shown, and has no queued call.
    #expect(steps == 120)
    #expect(turns >= 3)
    let shown = other.call(#"{"id":1,"method":"get","params":["providers/*"]}"#)
    #expect(shown.split(separator: "providers_count").count == 61)
    client.connection.end()
    _ = run()
    #expect(other.call(#"{"id":1,"method":"get","params":["providers/*"]}"#).contains("{}"))
  }

  @Test
  func `queued calls are given to providers in the time of their callers`() {
    let providers = (0..<50).map { _ in bench.connect(uid: 1000) }
    for provider in providers {
      let methods = #"{"m":{"delivery":"queued"}}"#
      provider.send(
        #"{"id":1,"method":"provide","params":{"service":"s","methods":\#(methods)}}"#)
      #expect(provider.settle().contains { $0.contains("result") })
    }
    let calls = (1...100).map { #"{"method":"s.m","params":{"n":\#($0)}}"# }
    let caller = bench.connect(uid: 1002)
    caller.send(
      #"{"id":"a","method":"atomic","params":{"calls":[\#(calls.joined(separator: ","))]}}"#)
    let (steps, _) = run()
    #expect((50...60).contains(steps), "\(steps)")
    for provider in providers {
      #expect(provider.received().count { $0.contains(#""method":"call""#) } == 1)
    }
  }

  @Test
  func `a pattern is sent in the time of the user, also to many subscriptions`() {
    let clients = (0..<8).map { _ in bench.connect(uid: 1000) }
    for client in clients {
      for i in 0..<64 {
        let params = #"{"source":"cells/*","sub":"p\#(i)"}"#
        client.send(#"{"id":\#(i),"method":"subscribe","params":\#(params)}"#)
      }
      #expect(client.settle().count == 64)
    }
    other.send(sets(50))
    _ = run()
    for client in clients {
      #expect(client.settle().count { $0.contains(#""value":50,"skipped":49"#) } == 64)
    }
  }
}
