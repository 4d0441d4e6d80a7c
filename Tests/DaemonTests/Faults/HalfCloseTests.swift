import Glibc
import JSON
import Testing

/// Row 10 of the faults: clients that half-close or vanish.
struct HalfCloseTests {
  let bench: FaultBench

  init() throws {
    bench = try FaultBench()
  }

  @Test
  func `10: a client that half-closes gets its answers, with and without a last LF`() throws {
    let set = #"{"id":1,"method":"cells.set","params":["a",1]}"#
    for text in [set + "\n", set, set + "\n" + #"{"id":2,"method":"get","params":["cells/a"]}"#] {
      let client = try TestSocket(bench.daemon.socket)
      try client.send(bytes: Array(text.utf8))
      client.finish()
      #expect(try client.lines().count == text.split(separator: "\n").count)
    }
    let cut = try TestSocket(bench.daemon.socket)
    try cut.send(bytes: Array(set.dropLast(3).utf8))
    cut.finish()
    #expect(try cut.lines().map { errorName($0) } == ["parse_error"])
    let nothing = try TestSocket(bench.daemon.socket)
    nothing.finish()
    #expect(try nothing.lines().isEmpty)
    try bench.checkWellBeing()
  }

  @Test
  func `10: a subscriber that half-closes still gets frames, and its disconnect is noticed`() throws
  {
    let client = try TestSocket(bench.daemon.socket)
    try client.send(
      bytes: Array(#"{"id":1,"method":"subscribe","params":["cells/a"]}"#.utf8))
    client.finish()
    #expect(try client.line()?.contains(#""sub":1"#) == true)
    _ = try bench.old.call(#"{"id":1,"method":"cells.set","params":["a",1]}"#)
    #expect(try client.line()?.contains(#""value":1"#) == true)
    #expect(bench.daemon.comesToRest(), "the loop spins after a half-close")
    #expect(try bench.stats("subscriptions") == 1)
    client.close()
    try bench.waitUntil("it is gone") { try bench.stats("subscriptions") == 0 }
    try bench.checkWellBeing()
  }

  @Test
  func `10: clients that vanish during answers or with a reset leak nothing`() throws {
    let lines = Array(
      String(repeating: #"{"id":1,"method":"cells.list"}"# + "\n", count: 200).utf8)
    for i in 0..<200 {
      let client = try TestSocket(bench.daemon.socket)
      _ = client.sendNow(lines)
      if i % 2 == 0 { client.finish() }
      // A close with unread input resets the connection.
      if i % 3 == 0 { _ = try client.line() }
      if i % 5 == 0 { _ = client.sendNow(Array(#"{"id":2,"met"#.utf8)) }
      client.close()
    }
    try bench.checkWellBeing()
  }
}
