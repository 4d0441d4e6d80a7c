import Journal
import Services
import Testing

/// What comes before what, and what waits for the journal.
struct OrderTests {
  let bench: Bench
  let client: TestClient

  init() throws {
    bench = try Bench()
    client = bench.connect()
  }

  @Test
  func `a subscription shows nothing before its answer, whatever that waits for`() {
    let other = bench.connect()
    for i in 1...2 { other.send(#"{"id":\#(i),"method":"cells.set","params":["x",\#(i)]}"#) }
    client.send(
      #"{"id":2,"method":"cells.unset","params":["none"]}"#,
      #"{"id":3,"method":"subscribe","params":["cells/x"]}"#)
    bench.store.commit(1)
    #expect(client.received() == [])
    bench.store.commit()
    let lines = client.settle()
    #expect(lines.count == 2)
    #expect(lines.last?.contains(#""seq":2,"value":2"#) == true)
  }

  @Test
  func `what was done is answered so, even if the value does not fit into the line`() {
    let value = String(repeating: "x", count: 70_000)
    #expect(
      client.call(#"{"id":1,"method":"cells.set","params":["x","\#(value)"]}"#)
        == #"{"jsonrpc":"2.0","id":1,"result":{"seq":1,"version":1}}"#)
  }

  @Test
  func `commands wait when too much waits for the disk`() {
    let line =
      #"{"method":"cells.set","params":["x","\#(String(repeating: "x", count: 250_000))"]}"#
    for _ in 0..<200 { client.send(line) }
    #expect(bench.host.last < 140)
    bench.store.commit()
    _ = client.settle()
    #expect(bench.host.durable == 200)
  }
}
