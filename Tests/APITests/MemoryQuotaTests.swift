import API
import Connections
import EventSourcing
import Features
import JSON
import TestSupport
import Testing
import Wire

/// The quota `memory_user`: what the clients of one user hold in the memory of the daemon.
@Suite(.leavesNothing)
struct MemoryQuotaTests {
  private let bench: Bench
  private let user: UInt32 = 4001

  init() throws {
    bench = try Bench(services: { parts in
      let bindings = BindingsService(in: parts.host)
      let programs = Programs(in: parts.host)
      return { catalog in
        bindBindings(catalog, to: bindings, parts.live)
        bindPrograms(catalog, to: programs)
      }
    })
    bench.table.context.owners = [0]
    bench.catalog.fill { catalog in
      catalog.offerView("root", of: "cells", "A view with a tab.") { view, _ in
        view.intent("open").opens("child") { _, _ in }
      }
    }
    let writer = bench.connect(uid: 0)
    _ = writer.call(#"{"id":1,"method":"cells.set","params":["a",1]}"#)
  }

  /// An item that a client can have, and the request that ends it.
  struct Item: Sendable, CustomTestStringConvertible {
    let name: String
    let begin: @Sendable (_ number: Int) -> String
    let end: (@Sendable (_ number: Int) -> String)?

    /// The most bytes that one may be charged.
    let most: Int

    var testDescription: String { name }
  }

  private static let filter =
    #"{"where":[{"path":"/value","op":"in","value":[\#((1...50).map { "\($0)" }.joined(separator: ","))]}]}"#

  private static func subscription(_ name: String, _ rest: String) -> Item {
    Item(
      name: name,
      begin: { #"{"id":2,"method":"subscribe","params":{"sub":"s\#($0)",\#(rest)}}"# },
      end: { #"{"id":3,"method":"unsubscribe","params":{"sub":"s\#($0)"}}"# }, most: 20_000)
  }

  static let items: [Item] = [
    subscription("cell", #""source":"cells/a""#),
    subscription("pattern", #""source":"cells/**","pick":"/a/b""#),
    subscription("reader", #""source":"events","filter":\#(filter)"#),
    subscription("reader since a time", #""source":"events","from":{"time":"2020-01-01T00:00Z"}"#),
    Item(
      name: "wait",
      begin: { #"{"id":"w\#($0)","method":"wait","params":{"source":"cells/a","value":2}}"# },
      end: { #"{"id":3,"method":"cancel","params":{"id":"w\#($0)"}}"# }, most: 4_000),
    Item(
      name: "binding",
      begin: {
        #"{"id":2,"method":"bind","params":{"binding":"b\#($0)","expr":"cells/a | scan(max, 9) ~> cells/b\#($0)"}}"#
      },
      end: { #"{"id":3,"method":"unbind","params":{"binding":"b\#($0)"}}"# }, most: 20_000),
    Item(
      name: "view",
      begin: { #"{"id":2,"method":"open","params":{"binder":"root","view":"v\#($0)"}}"# },
      end: { #"{"id":3,"method":"close","params":{"view":"v\#($0)"}}"# }, most: 20_000),
    Item(
      name: "provider",
      begin: { #"{"id":2,"method":"provide","params":{"service":"p\#($0)","methods":{"m":{}}}}"# },
      end: nil, most: 20_000),
  ]

  private func usage(_ client: TestClient) -> Int { client.connection.userItemBytes }

  @Test(arguments: items)
  func `one user fills the quota with all connections, and others go on`(_ item: Item) {
    bench.table.context.limits.memoryPerUser = 100_000
    var clients: [TestClient] = []
    var error: WireError?
    var count = 0
    while error == nil, count < 200 {
      if count % 8 == 0 { clients.append(bench.connect(uid: user)) }
      error = clients.last?.error(item.begin(count))
      count += 1
    }
    #expect(error?.name == .limitReached)
    #expect(error?.data["limit"] == .string("memory_user"))
    #expect(error?.data["max"] == .number(JSONNumber(100_000)))
    #expect(error?.retry == true)
    let used = usage(clients[0])
    #expect(100_000 - item.most...100_000 ~= used, "\(used)")
    // Another user, and an administrator, have room.
    let other = bench.connect(uid: 4002)
    #expect(other.error(item.begin(900)) == nil)
    let owner = bench.connect(uid: 0)
    for i in 1000..<1060 { #expect(owner.error(item.begin(i)) == nil) }
    // What has ended costs nothing.
    if let end = item.end {
      for i in 0..<min(8, count) { _ = clients[0].call(end(i)) }
      #expect(usage(clients[0]) < used)
      #expect(bench.connect(uid: user).error(item.begin(2000)) == nil)
    }
    let last = bench.connect(uid: user)
    for client in clients { client.connection.end() }
    bench.table.flush()
    #expect(usage(last) == (item.end == nil ? 0 : usage(last)))
    last.connection.end()
    #expect(usage(other) > 0)
    other.connection.end()
    #expect(usage(other) == 0)
  }

  @Test
  func `all that a connection has is given back when it ends`() {
    let stays = bench.connect(uid: user)
    let client = bench.connect(uid: user)
    for (place, item) in Self.items.enumerated() {
      for i in 0..<3 { #expect(client.error(item.begin(10 * place + i)) == nil, "\(item.name)") }
    }
    let view = client.connection.views.all.first?.handle.description ?? ""
    _ = client.call(#"{"id":9,"method":"intent","params":{"view":"\#(view)","name":"open"}}"#)
    #expect(client.connection.views.all.count == 4)
    #expect(usage(stays) > 60_000)
    client.connection.end()
    bench.table.flush()
    #expect(usage(stays) == 0)
  }

  @Test
  func `a child view that exceeds the quota is refused with its intent`() {
    let client = bench.connect(uid: user)
    _ = client.call(#"{"id":2,"method":"open","params":{"binder":"root","view":"r"}}"#)
    bench.table.context.limits.memoryPerUser = usage(client) + 100
    let error = client.error(#"{"id":9,"method":"intent","params":{"view":"r","name":"open"}}"#)
    #expect(error?.name == .limitReached)
    #expect(error?.data["limit"] == .string("memory_user"))
    #expect(client.connection.views.all.count == 1)
  }

  @Test
  func `a client sees what its user uses`() {
    let client = bench.connect(uid: user)
    _ = client.call(Self.items[0].begin(1))
    let other = bench.connect(uid: user)
    guard case .object(let usage)? = other.result(#"{"id":1,"method":"stats"}"#)?["usage"] else {
      Issue.record("no usage")
      return
    }
    #expect(usage["memory_user"] == .number(JSONNumber(self.usage(client))))
    #expect(self.usage(client) > 0)
  }

  // MARK: Held values

  @Test(arguments: ["debounce(1h)", "sample(1h)", "throttle(1h)", "delay(1h)", "distinct"])
  func `values that operators hold are charged to the maker of the binding`(_ step: String) {
    bench.table.context.limits.memoryPerUser = 200_000
    let (client, writer) = (bench.connect(uid: user), bench.connect(uid: 0))
    let bound = client.call(
      #"{"id":1,"method":"bind","params":{"binding":"b","expr":"cells/h | \#(step) ~> cells/o"}}"#)
    #expect(bound.contains("result"), "\(bound)")
    let empty = usage(client)
    func set(_ number: Int, _ bytes: Int) {
      let text = "\(number)" + String(repeating: "x", count: bytes)
      _ = writer.call(#"{"id":1,"method":"cells.set","params":["h","\#(text)"]}"#)
    }
    set(1, 20_000)
    set(2, 20_000)
    #expect(usage(client) >= empty + 20_000, "\(usage(client))")
    let failures = client.settle().filter { $0.contains(#""fail""#) }
    #expect(failures == [])
    // Values beyond the quota are not held, and the client learns of it.
    for i in 3..<8 { set(i, 150_000) }
    #expect(usage(client) <= 200_000)
    let refused = client.settle().filter { $0.contains("memory_user") }
    #expect(!refused.isEmpty)
    _ = client.call(#"{"id":2,"method":"unbind","params":{"binding":"b"}}"#)
    #expect(usage(client) == 0)
  }

  @Test
  func `values of a binding of the daemon are charged to a maker who is not connected`() {
    let client = bench.connect(uid: user)
    let bound = client.call(
      #"{"id":1,"method":"bind","params":{"binding":"b","scope":"daemon","expr":"cells/h | delay(1h) ~> cells/o"}}"#
    )
    #expect(bound.contains("result"), "\(bound)")
    client.connection.end()
    bench.table.flush()
    let text = String(repeating: "x", count: 20_000)
    _ = bench.connect(uid: 0).call(#"{"id":1,"method":"cells.set","params":["h","\#(text)"]}"#)
    let again = bench.connect(uid: user)
    #expect(20_000..<60_000 ~= usage(again), "\(usage(again))")
    _ = again.call(#"{"id":2,"method":"unbind","params":{"binding":"b"}}"#)
    #expect(usage(again) == 0)
  }
}
