import Glibc
import JSON
import Testing

/// Faults of the disk and of the process that the journal must survive.
struct JournalFaultTests {
  /// Sets cells `n0` to `n(count-1)` and waits for every answer.
  private func fill(_ daemon: DaemonProcess, _ count: Int, value: String = "1") throws {
    let client = try TestSocket(daemon.socket)
    for i in 0..<count {
      let answer = try client.call(
        #"{"id":\#(i),"method":"cells.set","params":["n\#(i)",\#(value)]}"#)
      #expect(answer.contains(#""seq":"#), "\(answer)")
    }
    client.close()
  }

  private func last(_ daemon: DaemonProcess) throws -> Int {
    let client = try TestSocket(daemon.socket)
    guard case .number(let last)? = try client.result(#"{"id":1,"method":"ping"}"#)["last"] else {
      return -1
    }
    return Int(last.int64 ?? -1)
  }

  private func epoch(_ daemon: DaemonProcess) throws -> JSONValue? {
    try TestSocket(daemon.socket).result(#"{"id":1,"method":"hello"}"#)["epoch"]
  }

  /// Runs SQL on the journal of a daemon that has ended.
  private func sqlite(_ daemon: DaemonProcess, _ sql: String) throws -> String {
    try run(["sqlite3", daemon.journal, sql])
  }

  // MARK: 15: kill -9

  @Test
  func `15: after fifty kills under load everything answered is there, and nothing twice`() throws {
    let daemon = try DaemonProcess()
    var expected = 0  // how often `n` was counted up, by answers
    var command = 0
    var unanswered: [Int] = []
    for round in 0..<50 {
      let client = try TestSocket(daemon.socket)
      func send(_ id: Int) throws {
        try client.send(
          #"{"id":\#(id),"method":"cells.add","params":{"name":"n","by":1,"_meta":{"cmd":"c-\#(id)"}}}"#
        )
      }
      // What was not answered before the kill is asked for again, under its old identity.
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
    #expect(try last(daemon) == command, "positions have no holes and none is given twice")
    client.close()
    #expect(daemon.end() == 0)
    #expect(try sqlite(daemon, "SELECT count(DISTINCT command) = count(*) FROM event") == "1\n")
  }

  // MARK: 16: a damaged end of the log

  @Test(arguments: ["cut", "zero", "flip"])
  func `16: a journal whose log is damaged at its end opens with what stands before`(how: String)
    throws
  {
    let daemon = try DaemonProcess()
    try fill(daemon, 30)
    let epoch = try epoch(daemon)
    daemon.end(SIGKILL)
    let wal = daemon.journal + "-wal"
    var status = stat()
    stat(wal, &status)
    let size = Int(status.st_size)
    if how == "cut" {
      truncate(wal, off_t(size - 5_000))
    } else {
      let file = open(wal, O_RDWR)
      var byte: UInt8 = 0
      if how == "flip" { pread(file, &byte, 1, off_t(size - 3_000)) }
      byte = how == "flip" ? byte ^ 0x10 : 0
      for offset
        in (how == "flip" ? size - 3_000 : size - 6_000)..<(how == "flip" ? size - 2_999 : size)
      {
        pwrite(file, &byte, 1, off_t(offset))
      }
      close(file)
    }
    try daemon.start()
    let last = try last(daemon)
    #expect(last < 30)
    #expect(last > 25)
    #expect(try self.epoch(daemon) != epoch)
    #expect(daemon.log.contains("the journal has lost \(30 - last) acknowledged events"))
    // It goes on from there.
    let client = try TestSocket(daemon.socket)
    #expect(
      try client.call(#"{"id":1,"method":"cells.set","params":["x",1]}"#)
        .contains(#""seq":\#(last + 1)"#))
  }

  // MARK: 17: a damaged row

  @Test
  func `17: a journal with a damaged event is not served, and can be read`() throws {
    let daemon = try DaemonProcess()
    try fill(daemon, 20)
    daemon.end(SIGKILL)
    _ = try sqlite(daemon, "UPDATE event SET data = '{\"value\":2}' WHERE seq = 8")
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
        .contains(#""reason":"read-only","outcome":"none""#))
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
  func `17: what a snapshot holds is not read again, however many cells it holds`() throws {
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
    _ = try sqlite(daemon, "UPDATE event SET data = '{\"value\":2}' WHERE seq = 8")
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
    // Without the snapshots the damage is met.
    daemon.end(SIGKILL)
    _ = try sqlite(daemon, "DELETE FROM snapshot")
    try daemon.start(waits: false)
    #expect(daemon.waitForEnd() == 78)
  }

  // MARK: 18: no room

  @Test
  func `18: without room commands are refused, all else goes on, and it recovers by itself`() throws
  {
    let directory = try TemporaryMount(kibibytes: 512)
    guard directory.isMounted else { return }  // not as root: EFBIG is tested in the store's tests
    let daemon = try DaemonProcess(in: directory.path)
    let client = try TestSocket(daemon.socket)
    let filler = String(repeating: "x", count: 20_000)
    var refused = ""
    for i in 0..<100 where refused.isEmpty {
      let answer = try client.call(
        #"{"id":1,"method":"cells.set","params":["f\#(i)","\#(filler)"]}"#)
      if answer.contains("error") { refused = answer }
    }
    #expect(
      refused.contains(#""name":"read_only","retry":true,"reason":"ENOSPC","outcome":"none""#))
    let before = try last(daemon)
    #expect(try client.call(#"{"id":1,"method":"get","params":["cells/f0"]}"#).contains("xxx"))
    #expect(
      try client.call(#"{"id":1,"method":"subscribe","params":["cells/small"]}"#).contains("sub"))
    try directory.grow(toKibibytes: 4096)
    #expect(
      try client.call(#"{"id":1,"method":"cells.set","params":["small",1]}"#)
        .contains(#""seq":\#(before + 1)"#))
    #expect(try client.line()?.contains(#""value":1"#) == true)
    client.close()
    #expect(daemon.end() == 0)
  }

  // MARK: 19: a write that cannot be trusted

  @Test
  func `19: after a failed fsync nothing is answered as if it were durable, and the daemon ends`()
    throws
  {
    guard isThere("strace") else { return }
    let daemon = try DaemonProcess(
      wrapper: [
        // The leak sanitizer cannot look into what is traced.
        "env", "ASAN_OPTIONS=detect_leaks=0", "strace", "-f", "-qq", "-o", "/dev/null", "-e",
        "trace=fdatasync,fsync", "-e",
        "inject=fdatasync,fsync:error=EIO:when=20+",
      ])
    let client = try TestSocket(daemon.socket)
    var answered = 0
    var lines: [String] = []
    for i in 0..<40 {
      try? client.send(#"{"id":\#(i),"method":"cells.set","params":["n\#(i)",1]}"#)
      guard let line = try client.line() else { break }
      lines.append(line)
      guard line.contains("result") else { break }
      answered += 1
    }
    while let line = try client.line() { lines.append(line) }
    #expect(lines.contains { $0.contains(#""reason":"EIO","outcome":"unknown""#) })
    #expect(lines.last?.contains(#""reason":"journal_failed""#) == true)
    #expect(daemon.waitForEnd() == 74)
    let again = try DaemonProcess(in: daemon.directory)
    #expect(try last(again) >= answered)
  }

  // MARK: 22: what is at the path of the socket

  @Test
  func `22: a socket is replaced when nobody listens, and nothing else is touched`() throws {
    let daemon = try DaemonProcess()
    daemon.end(SIGKILL)
    #expect(access(daemon.socket, F_OK) == 0)
    try daemon.start()
    #expect(try last(daemon) == 0)

    func start(_ socket: String, _ journal: String) throws -> (CInt, String) {
      let other = try DaemonProcess(
        ["--socket", socket, "--journal", journal], waits: false)
      return (other.waitForEnd(), other.log)
    }
    var (code, log) = try start(daemon.socket, daemon.directory + "/other.db")
    #expect(code == 69)
    #expect(log.contains("already running, pid \(daemon.pid)"))
    #expect(try last(daemon) == 0)

    let file = daemon.directory + "/file"
    close(open(file, O_CREAT | O_WRONLY, 0o600))
    (code, log) = try start(file, daemon.directory + "/other.db")
    #expect(code == 69)
    #expect(log.contains("there is a file that is not a socket"))
    #expect(access(file, F_OK) == 0)

    (code, log) = try start(
      daemon.directory + "/" + String(repeating: "x", count: 120), daemon.directory + "/other.db")
    #expect(code == 69)
    #expect(log.lowercased().contains("name too long"))
  }

  // MARK: 23: two daemons, one journal

  @Test
  func `23: a second daemon on a journal names the first and goes away`() throws {
    let daemon = try DaemonProcess()
    try fill(daemon, 3)
    let other = try DaemonProcess(
      ["--socket", daemon.directory + "/other.sock", "--journal", daemon.journal], waits: false)
    #expect(other.waitForEnd() == 78)
    #expect(other.log.contains("the journal is in use by pid \(daemon.pid) started "))
    #expect(try last(daemon) == 3)
  }

  // MARK: 24: other versions

  @Test
  func `24: a journal of a newer format is refused with both versions, and not touched`() throws {
    let daemon = try DaemonProcess()
    try fill(daemon, 3)
    daemon.end()
    _ = try sqlite(daemon, "PRAGMA user_version = 9; PRAGMA wal_checkpoint(TRUNCATE)")
    let before = try run(["cksum", daemon.journal])
    try daemon.start(waits: false)
    #expect(daemon.waitForEnd() == 78)
    #expect(daemon.log.contains("the journal has format 9, this program knows up to 2"))
    #expect(try run(["cksum", daemon.journal]) == before)
  }

  @Test
  func `24: events of a type that nobody knows are kept and shown`() throws {
    let daemon = try DaemonProcess()
    try fill(daemon, 1)
    daemon.end()
    // As a later version would have written it.
    _ = try run(
      [
        "python3", "-c",
        """
        import sqlite3, sys
        poly = 0x82F63B78
        def crc(b):
            c = 0xFFFFFFFF
            for x in b:
                c ^= x
                for _ in range(8): c = c >> 1 ^ (poly if c & 1 else 0)
            return c ^ 0xFFFFFFFF
        row = b''.join(n.to_bytes(8, 'little') for n in (2, 1 << 60, 1, 0))
        for t in ('later/x', 'later.invented', '{"a":1}', None, None):
            row += b'\\xff' * 4 if t is None else len(t).to_bytes(4, 'little') + t.encode()
        db = sqlite3.connect(sys.argv[1])
        db.execute('INSERT INTO event VALUES (2,?,?,1,0,?,?,NULL,NULL,?)',
                   (1 << 60, 'later/x', 'later.invented', '{"a":1}', crc(row)))
        db.commit()
        """, daemon.journal,
      ])
    try daemon.start()
    let client = try TestSocket(daemon.socket)
    #expect(
      try client.call(#"{"id":1,"method":"history","params":{"source":"events"}}"#)
        .contains(#""type":"later.invented","stream":"later/x","version":1"#))
    #expect(
      try client.call(#"{"id":1,"method":"cells.set","params":["a",1]}"#).contains(#""seq":3"#))
  }
}
