import API
import BinderTesting
import EventSourcing
import Features
import JSON
import Journal
import JournalMemory
import Model
import ServiceTestSupport
import TestSupport
import Testing
import Wire

/// Bindings whose values are delayed or refused.
@Suite(.leavesNothing)
struct BindingFailureTests {
  private let store = MemoryStore()
  private let time = ManualTime()
  private let bench: Bench
  private static let full = JournalError.readOnly(reason: "ENOSPC", outcome: .none)

  init() throws {
    bench = try Bench(store, time: time) { catalog, parts in
      let host = parts.host
      bindBindings(catalog, to: BindingsService(in: host), parts.live)
      bindLists(catalog, to: ListsService(in: host))
    }
  }

  private func bind(
    _ expression: String, as name: String = "k", scope: String = "daemon"
  ) -> TestClient {
    let client = bench.connect()
    _ = client.call(
      #"{"id":1,"method":"bind","params":{"expr":"\#(expression)","binding":"\#(name)","scope":"\#(scope)"}}"#
    )
    return client
  }

  /// Fills the state, except for less than a new cell needs.
  private func fill() throws {
    _ = try bench.host.perform(Command(method: "test", caller: Peer(uid: 1, pid: 2))) {
      _ = try bench.cells.set("x", to: JSONText(string: String(repeating: "v", count: 1_000)))
      return nil
    }
    store.commit()
    bench.host.quota = StateQuota(total: bench.host.stateBytes + 50)
  }

  /// Empties most of the state again.
  private func makeRoom() throws {
    _ = try bench.host.perform(Command(method: "test", caller: Peer(uid: 1, pid: 2))) {
      _ = try bench.cells.remove("x")
      return nil
    }
    store.commit()
  }

  /// Sets a cell durably; the writes of bindings that follow are not durable yet.
  private func set(_ cell: String, _ value: Int) throws {
    let command = Command(method: "test", caller: Peer(uid: 1, pid: 2))
    _ = try bench.host.perform(command) {
      _ = try bench.cells.set(cell, to: JSONText(value))
      return nil
    }
    store.commit()
  }

  private func value(_ cell: String) -> String? {
    bench.cells.ledger.value(of: "cells/\(cell)")?.text
  }

  /// Returns the only entry of `bindings.list`, without a commit.
  private func shown(_ client: TestClient) -> JSONObject? {
    client.send(#"{"id":9,"method":"bindings.list"}"#)
    guard let line = client.received().first,
      case .object(let answer)? = try? JSONValue(parsing: line),
      case .object(let result)? = answer["result"], case .array(let all)? = result["value"],
      case .object(let binding)? = all.first
    else { return nil }
    return binding
  }

  @Test(arguments: ["daemon", "connection"])
  func `a value that the journal refused is retried at the next commit`(scope: String) throws {
    let client = bind("cells/a ~> cells/b", scope: scope)
    try set("a", 2)
    #expect(store.last == store.durable + 1, "what the binding writes")
    store.reject(Self.full)
    #expect(value("b") == nil)
    if scope == "connection" {
      let fail = client.received().first { $0.contains(#""method":"fail""#) }
      #expect(fail?.contains(#""name":"read_only""#) == true, "\(fail ?? "")")
      #expect(fail?.contains(#""binding":"k""#) == true)
    } else {
      let failed = shown(client)
      #expect(
        failed?["failure"]
          == .string(
            "the journal takes no writes: ENOSPC; the value is passed on when the journal takes writes again"
          ))
      #expect(failed?["failed_at"] != nil)
      #expect(failed?["transferred"] == .number(JSONNumber(0)))
    }
    try set("x", 1)
    store.commit()
    #expect(value("b") == "2")
    if scope == "daemon" {
      let mended = shown(client)
      #expect(mended?["failure"] == nil)
      #expect(mended?["failed_at"] == nil)
      #expect(mended?["transferred"] == .number(JSONNumber(1)))
    }
  }

  @Test
  func `a value refused by the state quota is retried when there is room`() throws {
    try set("a", 1)
    let client = bind("cells/a !~> cells/b")
    _ = bind("cells/a !~> cells/c", as: "l")
    try fill()
    try set("a", 2)
    #expect(store.last == store.durable)
    let failed = shown(client)
    #expect(
      failed?["failure"]
        == .string(
          "the state is full: \(bench.host.quota.total) bytes at most; the value is "
            + "passed on when there is room"))
    #expect(failed?["transferred"] == .number(JSONNumber(0)))
    // There is still no room.
    time.advance(1_000)
    #expect(store.last == store.durable)
    try makeRoom()
    time.advance(1_999)
    #expect(store.last == store.durable)
    time.advance(1)
    store.commit()
    #expect(value("b") == "2")
    #expect(value("c") == "2")
    let mended = shown(client)
    #expect(mended?["failure"] == nil)
    #expect(mended?["transferred"] == .number(JSONNumber(1)))
  }

  @Test
  func `a client is notified if the value of its binding exceeds the quota, and it is retried`()
    throws
  {
    try set("a", 1)
    let client = bind("cells/a !~> cells/b", scope: "connection")
    try fill()
    try set("a", 2)
    let fail = client.received().first { $0.contains(#""method":"fail""#) }
    #expect(fail?.contains(#""name":"limit_reached""#) == true, "\(fail ?? "")")
    try makeRoom()
    time.advance(1_000)
    store.commit()
    #expect(value("b") == "2")
  }

  @Test
  func `a value that a service refused is not retried`() throws {
    let client = bind("cells/a ~> lists/b")
    let count = time.count
    try set("a", 2)
    #expect(time.count == count)
    #expect(shown(client)?["failure"] != nil)
    #expect(store.last == store.durable)
  }

  @Test
  func `without other writes a value is retried with growing pauses`() throws {
    let client = bind("cells/a ~> cells/b")
    try set("a", 2)
    store.reject(Self.full)
    time.advance(999)
    #expect(store.last == store.durable)
    time.advance(1)
    #expect(store.last == store.durable + 1)
    store.reject(Self.full)
    // After a refusal it waits, so that it does not fail the writes of others.
    try set("x", 1)
    #expect(store.last == store.durable)
    time.advance(1_999)
    #expect(store.last == store.durable)
    #expect(shown(client)?["failure"] != nil)
    time.advance(1)
    store.commit()
    #expect(value("b") == "2")
    #expect(shown(client)?["failure"] == nil)
    // Again from the start.
    try set("a", 3)
    store.reject(Self.full)
    time.advance(1_000)
    store.commit()
    #expect(value("b") == "3")
    #expect(time.count == 0 || store.last == store.durable)
  }

  @Test
  func `a retry uses the newest value, and null for a removed source`() throws {
    _ = bind("cells/a ~> cells/b")
    try set("a", 2)
    store.reject(Self.full)
    try set("a", 3)
    store.commit()
    #expect(value("b") == "3")
    _ = try bench.host.perform(Command(method: "test", caller: Peer(uid: 1, pid: 2))) {
      _ = try bench.cells.remove("a")
      return nil
    }
    store.commit()
    store.reject(Self.full)
    #expect(value("b") == "3")
    try set("x", 1)
    store.commit()
    #expect(value("b") == "null")
  }

  @Test
  func `in a two-way binding the last value wins`() throws {
    _ = bind("cells/a <> cells/b")
    try set("b", 1)
    store.commit()
    try set("b", 2)
    store.reject(Self.full)
    #expect(value("a") == "1")
    try set("x", 1)
    store.commit()
    #expect(value("a") == "2")
    #expect(value("b") == "2")
  }

  @Test
  func `an ended binding is not retried`() throws {
    let client = bind("cells/a ~> cells/b", scope: "connection")
    try set("a", 2)
    store.reject(Self.full)
    _ = client.call(#"{"id":2,"method":"unbind","params":["k"]}"#)
    time.advance(120_000)
    try set("x", 1)
    store.commit()
    #expect(value("b") == nil)
  }

  @Test
  func `a failure is shown with its time until a value arrives`() throws {
    let client = bind("cells/a ~> cells/b | not")
    try set("a", 2)
    let failed = shown(client)
    #expect(failed?["failure"]?.text.text.contains("not") == true)
    #expect(failed?["failed_at"] != nil)
    _ = client.call(#"{"id":2,"method":"cells.set","params":["a",true]}"#)
    #expect(value("b") == "false")
    #expect(shown(client)?["failure"] == nil)
    #expect(shown(client)?["failed_at"] == nil)
    // Also with a binding that existed already.
    try set("a", 2)
    #expect(shown(client)?["failure"] != nil)
    _ = client.call(#"{"id":3,"method":"cells.set","params":["a",true]}"#)
    #expect(shown(client)?["failure"] == nil)
  }

  @Test
  func `unbind returns the last state and position of the binding`() {
    let client = bind("cells/a ~> cells/b")
    let ended = client.result(#"{"id":2,"method":"unbind","params":["k"]}"#)
    #expect(ended?["was"] == .string("active"))
    #expect(ended?["seq"] == .number(JSONNumber(store.last)))
  }
}
