import API
import EventSourcing
import Features
import Journal
import JournalMemory
import ServiceTestSupport
import TestSupport
import Testing

/// The order of lines, and lines that wait for the journal.
@Suite(.leavesNothing)
struct OrderTests {
  let bench: Bench
  let client: TestClient

  init() throws {
    bench = try Bench()
    client = bench.connect()
  }

  @Test
  func `a subscription sends no frame before its answer`() {
    let other = bench.connect()
    for i in 1...2 { other.send(#"{"id":\#(i),"method":"cells.set","params":["x",\#(i)]}"#) }
    client.send(
      #"{"id":2,"method":"cells.remove","params":["none"]}"#,
      #"{"id":3,"method":"subscribe","params":["cells/x"]}"#)
    bench.store.commit(1)
    #expect(client.received() == [])
    bench.store.commit()
    let lines = client.settle()
    #expect(lines.count == 2)
    #expect(lines.last?.contains(#""seq":2,"value":2"#) == true)
  }

  @Test
  func `a command whose value does not fit into the line is answered as done`() {
    let value = String(repeating: "x", count: 70_000)
    #expect(
      client.call(#"{"id":1,"method":"cells.set","params":["x","\#(value)"]}"#)
        == #"{"jsonrpc":"2.0","id":1,"result":{"seq":1,"version":1}}"#)
  }

  @Test
  func `commands wait while too many bytes wait for the disk`() {
    let line =
      #"{"method":"cells.set","params":["x","\#(String(repeating: "x", count: 250_000))"]}"#
    for _ in 0..<200 { client.send(line) }
    #expect(bench.host.last < 140)
    bench.store.commit()
    _ = client.settle()
    #expect(bench.host.durable == 200)
  }

  @Test
  func `a subscription in a batch sends no frame before the answer of the batch`() throws {
    let other = bench.connect()
    other.send(#"{"id":1,"method":"cells.set","params":["a",1]}"#)
    client.send(
      #"[{"id":1,"method":"subscribe","params":{"source":"cells/**","sub":"s"}},"#
        + #"{"id":2,"method":"cells.add","params":["n"]}]"#)
    bench.store.commit(1)
    #expect(client.received() == [], "what the batch has written is not durable")
    let lines = client.settle()
    #expect(lines.first?.hasPrefix(#"[{"jsonrpc":"2.0","id":1,"#) == true)
    #expect(lines.count == 3)
    #expect(lines.dropFirst().allSatisfy { $0.contains(#""method":"next""#) })
  }

  @Test
  func `the first failure of a new binding is sent after its answer`() throws {
    let bench = try Bench { catalog, parts in
      let host = parts.host
      bindBindings(catalog, to: BindingsService(in: host), parts.live)
    }
    let client = bench.connect()
    _ = client.call(#"{"id":1,"method":"cells.set","params":["x",1]}"#)
    client.send(
      #"{"id":2,"method":"bind","params":{"expr":"cells/x ~> cells/y | uppercase","binding":"b"}}"#)
    let lines = client.settle()
    #expect(lines.count == 2)
    #expect(lines.first?.hasPrefix(#"{"jsonrpc":"2.0","id":2,"result""#) == true)
    #expect(lines.last?.contains(#""method":"fail","params":{"binding":"b""#) == true)
  }
}
