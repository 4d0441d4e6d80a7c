import Glibc
import JSON
import TestSupport
import Testing

/// Faults of the process and of the file that the journal must survive.
struct JournalFaultTests {
  // MARK: 15: kill -9

  @Test
  func `15: after fifty kills under load every acknowledged event is there exactly once`() throws {
    let daemon = try DaemonProcess()
    var expected = 0  // acknowledged increments of `n`
    var command = 0
    var unanswered: [Int] = []
    for round in 0..<50 {
      let client = try TestSocket(daemon.socket)
      func send(_ id: Int) throws {
        try client.send(
          #"{"id":\#(id),"method":"cells.add","params":{"name":"n","by":1,"_meta":{"cmd":"c-\#(id)"}}}"#
        )
      }
      // Repeat the unanswered commands with their old idempotency keys.
      for id in unanswered { try send(id) }
      for _ in 0..<(round % 7) * 20 + 30 {
        command += 1
        unanswered.append(command)
        try send(command)
      }
      let wanted = unanswered.count
      let answers = round % 5 == 0 ? wanted : Int.random(in: 0..<wanted)
      for _ in 0..<answers {
        let line = try client.line() ?? ""
        #expect(line.contains(#""result""#), "\(line)")
        unanswered.removeFirst()
        expected += 1
      }
      try daemon.killAndStart()
    }
    let client = try TestSocket(daemon.socket)
    for id in unanswered {
      _ = try client.call(
        #"{"id":\#(id),"method":"cells.add","params":{"name":"n","by":1,"_meta":{"cmd":"c-\#(id)"}}}"#
      )
    }
    let value = try client.result(#"{"id":1,"method":"get","params":["cells/n"]}"#)["value"]
    #expect(value == .number(JSONNumber(Int64(command))))
    #expect(try daemon.last() == command, "positions have no holes and none is given twice")
    client.close()
    #expect(daemon.end() == 0)
    #expect(try daemon.sqlite("SELECT count(DISTINCT command) = count(*) FROM event") == "1\n")
  }

  // MARK: 16: a damaged end of the tail

  @Test(arguments: [
    ("cut", 1), ("cut", 100), ("cut", 300), ("zero", 1), ("zero", 200), ("zero", 700), ("flip", 1),
    ("flip", 100), ("flip", 150),
  ])
  func `16: a journal with a damaged end of its tail opens with the events before it`(
    how: String, bytes: Int
  ) throws {
    let daemon = try DaemonProcess()
    try daemon.fill(30)
    let epoch = try daemon.epoch()
    let size = daemon.killWithTail()
    let path = daemon.journal + "-tail1"
    switch how {
    case "cut": truncate(path, off_t(size - bytes))
    case "zero":
      var tail = Files.bytes(of: path)
      for offset in size - bytes..<size { tail[offset] = 0 }
      Files.write(tail, to: path)
    default: daemon.damageTail(at: size - bytes)
    }
    try daemon.start()
    let last = try daemon.last()
    #expect(last < 30)
    #expect(last > 25)
    #expect(try daemon.epoch() != epoch)
    #expect(daemon.log.contains("the journal has lost \(30 - last) acknowledged events"))
    // The journal continues from there.
    let client = try TestSocket(daemon.socket)
    #expect(
      try client.call(#"{"id":1,"method":"cells.set","params":["x",1]}"#)
        .contains(#""seq":\#(last + 1)"#))
    try daemon.killAndStart()
    #expect(try daemon.last() == last + 1)
  }

  @Test
  func `17: a damaged event in the tail is not passed over, but can be read around`() throws {
    let daemon = try DaemonProcess()
    try daemon.fill(20)
    let size = daemon.killWithTail()
    // All blocks have about the same size.
    daemon.damageTail(at: size * 15 / 40)
    let tail = Files.bytes(of: daemon.journal + "-tail1")
    try daemon.start(waits: false)
    #expect(daemon.waitForEnd() == 78)
    #expect(daemon.log.contains("event 8 of the journal is damaged"), "\(daemon.log)")
    #expect(Files.bytes(of: daemon.journal + "-tail1") == tail)
    let report = try daemon.verify(1)
    #expect(report.contains("damaged: event 8"), "\(report)")
    #expect(report.contains("19 of 20"), "\(report)")
    try daemon.start(["--read-only"])
    let client = try TestSocket(daemon.socket)
    #expect(
      try client.call(#"{"id":1,"method":"get","params":["cells/n6"]}"#).contains(#""value":1"#))
    #expect(
      try client.call(#"{"id":1,"method":"history","params":{"source":"events","after":8}}"#)
        .contains(#""seq":9"#), "what comes after the damage is not dropped")
  }

  // MARK: 17: a damaged row

  @Test
  func `17: a journal with a damaged event is not served, but can be read`() throws {
    let daemon = try DaemonProcess()
    try daemon.fill(20)
    try daemon.waitUntilMoved(20)
    daemon.end(SIGKILL)
    _ = try daemon.sqlite("UPDATE event SET data = '{\"value\":2}' WHERE seq = 8")
    try daemon.start(waits: false)
    #expect(daemon.waitForEnd() == 78)
    #expect(daemon.log.contains("event 8 of the journal is damaged"))
    #expect(daemon.log.contains("binderd --verify"))
    #expect(daemon.log.contains("binderd --read-only"))

    let report = try run([DaemonProcess.executable, "--verify", "--journal", daemon.journal], 1)
    #expect(report.contains("damaged: event 8"))
    #expect(report.contains("19 of 20"))

    try daemon.start(["--read-only"])
    let client = try TestSocket(daemon.socket)
    #expect(
      try client.call(#"{"id":1,"method":"get","params":["cells/n6"]}"#).contains(#""value":1"#))
    #expect(
      try client.call(#"{"id":1,"method":"cells.set","params":["a",1]}"#)
        .contains(#""reason":"read_only","outcome":"none""#))
    #expect(
      try client.call(#"{"id":1,"method":"history","params":{"source":"events","after":8}}"#)
        .contains(#""seq":9"#), "what comes after the damage is not dropped")
    #expect(
      try client.call(#"{"id":1,"method":"history","params":{"source":"events","after":7}}"#)
        .contains(#""message":"event 8 of the journal is damaged","#))
    let refused = try client.result(
      #"{"id":1,"method":"history","params":{"source":"events","after":7}}"#)
    guard case .object(let data)? = refused["data"], case .string(let ref)? = data["ref"] else {
      Issue.record("no ref")
      return
    }
    #expect(daemon.log.contains("\(ref): event 8 of the journal is damaged: its checksum"))
  }

  @Test
  func `17: events covered by a snapshot are not replayed, even with very many cells`() throws {
    let daemon = try DaemonProcess()
    let client = try TestSocket(daemon.socket)
    let count = JSONLimits.members + 100
    for start in stride(from: 0, to: count, by: 100) {
      let block = start..<min(start + 100, count)
      for i in block {
        try client.send(#"{"id":\#(i),"method":"cells.set","params":["n\#(i)",\#(i)]}"#)
      }
      for _ in block { #expect(try client.line()?.contains(#""seq":"#) == true) }
    }
    client.close()
    #expect(daemon.end() == 0)
    _ = try daemon.sqlite("UPDATE event SET data = '{\"value\":2}' WHERE seq = 8")
    try daemon.start()
    let again = try TestSocket(daemon.socket)
    for i in [7, count - 1] {
      #expect(
        try again.call(#"{"id":1,"method":"get","params":["cells/n\#(i)"]}"#)
          .contains(#""value":\#(i)"#))
    }
    #expect(
      try again.call(#"{"id":1,"method":"cells.set","params":["n7",1]}"#)
        .contains(#""version":2"#))
    again.close()
    // Without snapshots the replay reads the damaged row.
    daemon.end(SIGKILL)
    _ = try daemon.sqlite("DELETE FROM snapshot")
    try daemon.start(waits: false)
    #expect(daemon.waitForEnd() == 78)
  }

  @Test
  func `17: verify finds the damage that prevents a start`() throws {
    let daemon = try DaemonProcess()
    try daemon.fill(3)
    daemon.end()
    let verify = [DaemonProcess.executable, "--verify", "--journal", daemon.journal]
    _ = try run(verify, 0)
    _ = try daemon.sqlite("DROP TABLE snapshot")
    let again = try DaemonProcess(in: daemon.directory, waits: false)
    #expect(again.waitForEnd() == 78)
    #expect(try run(verify, 1).contains("damaged: "))
  }

  @Test
  func `17: verify does not affect a running daemon`() throws {
    let daemon = try DaemonProcess()
    try daemon.fill(3)
    _ = try run([DaemonProcess.executable, "--verify", "--journal", daemon.journal], 0)
    try daemon.fill(1)
  }
}
