import Glibc
import Testing

/// Fault 2: clients that never end a line.
struct PatienceTests {
  @Test
  func `2: clients that send a byte now and then are disconnected, and cost almost nothing`() throws
  {
    let bench = try FaultBench(limits: ["partial_line_ms": 3_000])
    let (daemon, other) = (bench.daemon, bench.old)
    let (start, processor) = (milliseconds(), daemon.processorSeconds)
    var clients: [TestSocket] = []
    for _ in 0..<200 { clients.append(try TestSocket(daemon.socket)) }
    for client in clients { try client.send(bytes: [UInt8(ascii: "{")]) }
    try bench.waitUntil("all are connected") { try bench.stats("connections") == 201 }
    let memory = daemon.residentBytes
    var isOver = false
    while !isOver, milliseconds() - start < 60_000 {
      isOver = !clients[0].isSilent(for: 500)
      // Only the end of a line counts as progress, not each byte.
      for client in clients { _ = client.sendNow([UInt8(ascii: " ")]) }
      #expect(try other.call(#"{"id":1,"method":"ping"}"#).contains(#""id":1"#))
    }
    #expect(milliseconds() - start >= 2_900)
    for client in clients {
      let lines = try client.lines()
      #expect(lines.count == 1)
      #expect(lines.first?.contains(#""reason":"line_timeout""#) == true)
    }
    try bench.waitUntil("memory is as before") {
      DaemonProcess.isSanitized || daemon.residentBytes - memory < 4 << 20
    }
    #expect(daemon.processorSeconds - processor < 2)
    clients = []
    try bench.checkWellBeing()
  }
}
