import Glibc
import JSON
import Testing

/// Rows 13 and 14 of the faults: very many clients.
struct CrowdTests {
  @Test
  func `13: clients over the descriptor limit get an error and are disconnected`() throws {
    let small = try DaemonProcess(
      wrapper: ["sh", "-c", #"ulimit -n 100; exec "$0" "$@""#])
    var clients: [TestSocket] = []
    for _ in 0..<60 { clients.append(try TestSocket(small.socket)) }
    var refused = 0
    for client in clients {
      try? client.send(#"{"id":1,"method":"ping"}"#)
      guard let line = try client.line() else { continue }
      if line.contains(#""reason":"too_many_connections""#) {
        refused += 1
        #expect(line.contains(#""limit":"connections","max":36,"#))
        #expect(try client.line() == nil)
      }
    }
    #expect(refused == 60 - 36, "64 descriptors are kept for the daemon itself")
    #expect(small.comesToRest())
    // Connected clients are served: the journal has opened its files before.
    for i in 1...20 {
      #expect(
        try clients[0].call(#"{"id":1,"method":"cells.add","params":["n"]}"#)
          .contains(#""seq":\#(i)"#))
      #expect(
        try clients[0].call(#"{"id":1,"method":"history","params":{"source":"events","after":0}}"#)
          .contains(#""last":\#(i)"#))
    }
    clients.removeFirst(40)
    try FaultBench.waitUntil("there is room again") {
      // A request may find the connection closed.
      let client = try TestSocket(small.socket)
      _ = client.sendNow(Array((#"{"id":1,"method":"ping"}"# + "\n").utf8))
      return try client.line()?.contains(#""id":1"#) == true
    }
    clients = []
    #expect(small.end() == 0)
    #expect(
      try run([DaemonProcess.executable, "--verify", "--journal", small.journal])
        .contains("20 of 20"))
  }

  @Test
  func `13: ten thousand clients are refused with an error, and connected ones are not affected`()
    throws
  {
    let small = try DaemonProcess(
      wrapper: ["sh", "-c", #"ulimit -n 256; exec "$0" "$@""#])
    #expect(
      small.log.contains(
        "at most 256 files may be open, so at most 192 clients connect at a time, not 10000;"))
    var clients: [TestSocket] = []
    for _ in 0..<192 {
      clients.append(try TestSocket(small.socket))
      #expect(try clients.last?.call(#"{"id":1,"method":"ping"}"#).contains("result") == true)
    }
    let before = small.sockets
    var refused = 0
    for i in 0..<10_000 {
      let client = try TestSocket(small.socket)
      if i % 100 == 0 {
        #expect(try client.line()?.contains(#""reason":"too_many_connections""#) == true)
        #expect(try client.line() == nil)
        #expect(
          try clients[i / 100].call(#"{"id":1,"method":"cells.add","params":["n"]}"#)
            .contains(#""seq":"#))
        refused += 1
      }
      client.close()
    }
    #expect(refused == 100)
    try FaultBench.waitUntil("sockets are as before") { small.sockets == before }
    #expect(small.end() == 0)
  }

  @Test
  func `13: clients get an error when accept finds no descriptor, and the daemon does not spin`()
    throws
  {
    let small = try DaemonProcess()
    var inside: [TestSocket] = []
    for _ in 0..<10 {
      inside.append(try TestSocket(small.socket))
      #expect(try inside.last?.call(#"{"id":1,"method":"ping"}"#).contains("result") == true)
    }
    func limit(_ descriptors: Int) throws {
      _ = try run(["prlimit", "--pid", "\(small.pid)", "--nofile=\(descriptors):1024"])
    }
    // Open descriptors stay; no other is available, not even the reserve.
    try limit(small.descriptors)
    var waiting: [TestSocket] = []
    let ping = Array((#"{"id":1,"method":"ping"}"# + "\n").utf8)
    for i in 0..<50 {
      waiting.append(try TestSocket(small.socket))
      // A late request may find the connection closed.
      if i % 2 == 0 { usleep(2_000) }
      _ = waiting.last?.sendNow(ping)
    }
    #expect(small.comesToRest(), "the loop spins where it cannot accept")
    for client in inside {
      #expect(
        try client.call(#"{"id":1,"method":"cells.add","params":["n"]}"#).contains(#""seq":"#))
    }
    let lines = try waiting.map { try $0.line() ?? "hung up on" }
    let told = lines.count { $0.contains(#""reason":"too_many_connections""#) }
    // A free descriptor between others may have let one client in.
    #expect(told >= 45)
    #expect(told + lines.count { $0.contains(#""id":1"#) } == 50, "\(lines)")
    try limit(1024)
    #expect(
      try TestSocket(small.socket).call(#"{"id":1,"method":"ping"}"#).contains(#""last":10"#))
    #expect(small.end() == 0)
  }

  @Test
  func `14: a storm of clients leaks nothing`() throws {
    let bench = try FaultBench()
    let subscribe = Array(
      (#"{"id":1,"method":"subscribe","params":["cells/a"]}"# + "\n"
        + #"{"id":2,"method":"subscribe","params":{"source":"cells/**","mode":"every"}}"# + "\n")
        .utf8)
    func storm(_ count: Int) throws {
      for i in 0..<count {
        let client = try TestSocket(bench.daemon.socket)
        _ = client.sendNow(subscribe)
        // Some leave before the answer, some after it, some within a line.
        if i % 3 == 0 { _ = try client.line() }
        if i % 5 == 0 { _ = client.sendNow(Array(#"{"id":3,"#.utf8)) }
        client.close()
      }
      try bench.waitUntil("the storm is over") {
        try bench.stats("connections") == 1 && bench.stats("subscriptions") == 0
      }
    }
    try storm(10_000)
    let (sockets, memory) = (bench.daemon.sockets, bench.daemon.residentBytes)
    try storm(DaemonProcess.isSanitized ? 10_000 : 50_000)
    try bench.waitUntil("sockets are as before") { bench.daemon.sockets == sockets }
    try bench.waitUntil("memory is as before") {
      DaemonProcess.isSanitized || bench.daemon.residentBytes - memory < 1 << 20
    }
    try bench.checkWellBeing()
  }

  @Test
  func `14: clients that leave during a batch, a binding and a broadcast leak nothing`() throws {
    let bench = try FaultBench()
    let lines = Array(
      """
      [{"id":1,"method":"subscribe","params":["cells/**"]},{"id":2,"method":"ping"}]
      {"id":3,"method":"bind","params":{"expr":"cells/n ~> cells/m | scale(2)"}}
      {"id":4,"method":"bind","params":{"expr":"cells/n ~> cells/t | uppercase"}}
      {"id":5,"method":"cells.add","params":["n"]}
      {"id":6,"method":"sync"}
      {"id":7,"method":"history","params":{"source":"events"}}
      {"method":"cells.add","params":["n"]}

      """.utf8)
    for i in 0..<500 {
      let client = try TestSocket(bench.daemon.socket)
      _ = client.sendNow(Array(lines.prefix(i % 2 == 0 ? lines.count : lines.count * i / 500)))
      if i % 3 == 0 { _ = try? client.line(within: 20) }
      client.close()
      if i % 50 == 0 { try bench.count() }
    }
    try bench.waitUntil("bindings are gone") { try bench.stats("connections") == 1 }
    try bench.checkWellBeing()
  }
}
