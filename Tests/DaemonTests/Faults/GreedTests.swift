import Glibc
import JSON
import Testing

/// Rows 11 and 12 of the faults: greedy clients.
struct GreedTests {
  let bench: FaultBench

  init() throws {
    bench = try FaultBench(limits: ["stall_ms": 3_000])
  }

  @Test
  func `11: a client that never reads costs at most its limit, and others are not affected`() throws
  {
    let text = String(repeating: "x", count: 50_000)
    let old = bench.old
    _ = try old.call(#"{"id":1,"method":"cells.set","params":["big","\#(text)"]}"#)
    let before = bench.daemon.residentBytes
    let greedy = try TestSocket(bench.daemon.socket)
    try greedy.send(
      #"{"id":1,"method":"subscribe","params":{"source":"cells/**","sub":"a"}}"#,
      #"{"id":2,"method":"subscribe","params":{"source":"events","sub":"b"}}"#,
      #"{"id":3,"method":"subscribe","params":{"source":"cells/big","sub":"c","mode":"every"}}"#)
    for i in 0..<100 {
      try greedy.send(#"{"id":4,"method":"subscribe","params":["lists/l\#(i)"]}"#)
    }
    let asks = Array(
      String(repeating: #"{"id":4,"method":"get","params":["cells/big"]}"# + "\n", count: 100).utf8)
    for i in 0..<400 {
      _ = greedy.sendNow(asks)
      _ = try old.call(#"{"id":1,"method":"cells.set","params":["big","\#(i)\#(text)"]}"#)
      _ = try old.call(#"{"id":1,"method":"lists.append","params":["l\#(i % 100)",\#(i)]}"#)
    }
    #expect(DaemonProcess.isSanitized || bench.daemon.residentBytes - before < 24 << 20)
    #expect(bench.daemon.comesToRest(), "the loop spins beside a full socket")
    greedy.close()
    // The shared window of events stays in memory for a while.
    try bench.checkWellBeing(growth: 24 << 20)
  }

  @Test
  func `11: a client that reads nothing for a time is disconnected`() throws {
    _ = try bench.old.call(
      #"{"id":1,"method":"cells.set","params":["big","\#(String(repeating: "x", count: 50_000))"]}"#
    )
    let stalled = try TestSocket(bench.daemon.socket)
    let start = milliseconds()
    for _ in 0..<100 {
      _ = stalled.sendNow(Array((#"{"id":1,"method":"get","params":["cells/big"]}"# + "\n").utf8))
    }
    try bench.waitUntil("it is noted") { try bench.stats("output_bytes") > 0 }
    let before = bench.daemon.processorSeconds
    try bench.waitUntil("it is disconnected") { try bench.stats("connections") == 1 }
    #expect(milliseconds() - start >= 3_000)
    // Also what the questions above have cost.
    #expect(bench.daemon.processorSeconds - before < 10)
    stalled.close()
    try bench.checkWellBeing()
  }

  @Test
  func `12: hundreds of thousands of subscriptions get one answer each, and none is leaked`() throws
  {
    let client = try TestSocket(bench.daemon.socket)
    let pair =
      #"{"id":1,"method":"subscribe","params":{"source":"cells/a","sub":"s"}}"# + "\n"
      + #"{"id":2,"method":"unsubscribe","params":{"sub":"s"}}"# + "\n"
    let pairs = Array(String(repeating: pair, count: 100).utf8)
    for _ in 0..<50 {
      try client.send(bytes: pairs)
      for i in 0..<200 {
        let line = try client.line() ?? ""
        #expect(line.contains(i % 2 == 0 ? #""id":1,"result""# : #""was":"active""#))
      }
    }
    for i in 0..<300 {
      let answer = try client.call(#"{"id":1,"method":"subscribe","params":["cells/a\#(i)"]}"#)
      #expect(errorName(answer) == (i < 256 ? nil : "limit_reached"))
    }
    #expect(
      try errorName(client.call(#"{"id":1,"method":"unsubscribe","params":[1]}"#)) == nil)
    #expect(
      try errorName(
        client.call(#"{"id":1,"method":"subscribe","params":{"source":"cells/a","sub":2}}"#))
        == "already_exists")
    #expect(try bench.stats("subscriptions") == 255)
    client.close()
    try bench.checkWellBeing()
  }

  /// Sends the same bytes repeatedly, and returns the number of received lines.
  private func bomb(_ bytes: [UInt8], times: Int, lines wanted: Int) throws -> Int {
    let client = try TestSocket(bench.daemon.socket)
    defer { client.close() }
    var (sent, lines) = (0, 0)
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while lines < wanted {
      var ready = pollfd(
        fd: client.descriptor, events: Int16(POLLIN | (sent < bytes.count * times ? POLLOUT : 0)),
        revents: 0)
      guard poll(&ready, 1, 60_000) > 0 else { return lines }
      if ready.revents & Int16(POLLOUT) != 0 {
        let start = sent % bytes.count
        let count = bytes[start...].withUnsafeBytes {
          send(client.descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT))
        }
        sent += max(0, count)
      }
      guard ready.revents & Int16(POLLIN) != 0 else { continue }
      let count = recv(client.descriptor, &chunk, chunk.count, CInt(MSG_DONTWAIT))
      guard count > 0 else { return lines }
      chunk.withUnsafeBytes { bytes in
        var rest = bytes[..<count]
        while let start = rest.baseAddress, let found = memchr(start, 0x0A, rest.count) {
          lines += 1
          rest = rest.dropFirst(UnsafeRawPointer(found) - start + 1)
        }
      }
    }
    return lines
  }

  @Test
  func `12: floods of subscriptions and of batches leak nothing`() throws {
    let pair =
      #"{"id":1,"method":"subscribe","params":{"source":"cells/a","sub":"s"}}"# + "\n"
      + #"{"id":2,"method":"unsubscribe","params":{"sub":"s"}}"# + "\n"
    let pairs = Array(String(repeating: pair, count: 100).utf8)
    let some = DaemonProcess.isSanitized ? 100 : 1_000
    #expect(try bomb(pairs, times: some, lines: some * 200) == some * 200)
    try bench.waitUntil("the first has gone") { try bench.stats("connections") == 1 }
    let before = bench.daemon.residentBytes
    #expect(try bomb(pairs, times: some, lines: some * 200) == some * 200)
    try bench.waitUntil("memory is as before") {
      DaemonProcess.isSanitized || bench.daemon.residentBytes - before < 1 << 20
    }
    // All requests of each batch but the first are refused.
    let part = #"{"id":1,"method":"subscribe","params":["cells/a"]}"#
    let batch = "[" + [String](repeating: part, count: 256).joined(separator: ",") + "]\n"
    #expect(try bomb(Array(batch.utf8), times: some / 5, lines: some / 5) == some / 5)
    try bench.checkWellBeing()
  }
}

extension Slice<UnsafeRawBufferPointer> {
  fileprivate var baseAddress: UnsafeRawPointer? { base.baseAddress.map { $0 + startIndex } }
}
