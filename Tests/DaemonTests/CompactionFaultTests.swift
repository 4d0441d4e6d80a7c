import Glibc
import JSON
import Testing

/// Faults 15 to 19 during a compaction: values are never lost.
struct CompactionFaultTests {
  /// Sets the cells `c0` to `c39` once in each round.
  private func fill(_ daemon: DaemonProcess, _ rounds: Int) throws {
    let client = try TestSocket(daemon.socket)
    for round in 1...rounds {
      for i in 0..<40 {
        try client.send(#"{"id":1,"method":"cells.set","params":["c\#(i)","\#(round)-\#(i)"]}"#)
      }
      for _ in 0..<40 {
        let answer = try client.line() ?? ""
        #expect(answer.contains("result"), "\(answer)")
      }
    }
    client.close()
  }

  private func check(_ daemon: DaemonProcess, _ rounds: Int) throws {
    let client = try TestSocket(daemon.socket)
    defer { client.close() }
    for i in 0..<40 {
      let value = try client.result(#"{"id":1,"method":"get","params":["cells/c\#(i)"]}"#)["value"]
      #expect(value == .string("\(rounds)-\(i)"))
    }
  }

  private func compact(before seq: Int) -> String {
    #"{"id":9,"method":"journal.compact","params":{"before":{"seq":\#(seq)}}}"#
  }

  @Test(.needs("strace"))
  func `15: a kill during a compaction leaves a valid journal, and the next one completes it`()
    throws
  {
    let daemon = try DaemonProcess()
    let rounds = 100
    try fill(daemon, rounds)
    #expect(daemon.end() == 0)
    func count() throws -> Int {
      Int(try daemon.sqlite("SELECT count(*) FROM event").dropLast()) ?? 0
    }
    var kept = try count()
    var interrupted = 0
    // The daemon is killed after this number of writes to the write-ahead log.
    for writes in [20, 80, 120, 160, 240] {
      let wrapper = Disturbance.wrapper(
        "pwrite64:signal=KILL:when=\(writes)", onlyOn: daemon.journal + "-wal")
      let killed = try DaemonProcess(wrapper: wrapper, in: daemon.directory)
      let client = try TestSocket(killed.socket)
      try client.send(compact(before: 3_900))
      let answer = try? client.line()
      client.close()
      killed.end(SIGKILL)
      let now = try count()
      #expect(now <= kept)
      if answer == nil, now < kept { interrupted += 1 }
      kept = now
      #expect(try daemon.verify().contains("\(kept) of \(kept) events read back"))
      try daemon.start()
      try check(daemon, rounds)
      #expect(daemon.end() == 0)
      kept = try count()
    }
    #expect(interrupted > 0, "no kill has come between two steps")
    try daemon.start()
    let client = try TestSocket(daemon.socket)
    #expect(try client.call(compact(before: 3_950)).contains(#""first":3950"#))
    try check(daemon, rounds)
    #expect(daemon.end() == 0)
    #expect(try daemon.verify().contains("damaged") == false)
  }

  @Test(.needs("strace"))
  func `25: a stopped compaction keeps its progress, and the next one completes it`() throws {
    let wrapper = Disturbance.slowDisk(milliseconds: 50)
    let daemon = try DaemonProcess()
    try fill(daemon, 50)
    #expect(daemon.end() == 0)
    func count() throws -> Int {
      Int(try daemon.sqlite("SELECT count(*) FROM event").dropLast()) ?? 0
    }
    let slow = try DaemonProcess(wrapper: wrapper, in: daemon.directory)
    let client = try TestSocket(slow.socket)
    try client.send(compact(before: 1_900))
    #expect(try holds { try count() < 2_000 })
    #expect(slow.end() == 0)
    #expect(try client.lines().last?.contains(#""reason":"shutdown""#) == true)
    #expect(102..<2_000 ~= (try count()), "it was ended in its midst")
    #expect(try daemon.verify().contains("damaged") == false)
    try daemon.start()
    try check(daemon, 50)
    let again = try TestSocket(daemon.socket)
    #expect(try again.call(compact(before: 1_900)).contains(#""first":1900"#))
    try check(daemon, 50)
  }

  @Test
  func `16: a log truncated during a compaction opens with the events before the cut`() throws {
    let daemon = try DaemonProcess()
    try fill(daemon, 30)
    let client = try TestSocket(daemon.socket)
    _ = try client.call(compact(before: 1_000))
    client.close()
    daemon.end(SIGKILL)
    var status = stat()
    stat(daemon.journal + "-wal", &status)
    for cut in [4_200, 30_000, 120_000] where off_t(cut) < status.st_size {
      truncate(daemon.journal + "-wal", status.st_size - off_t(cut))
      try daemon.start()
      try check(daemon, 30)
      daemon.end(SIGKILL)
      #expect(try daemon.verify().contains("damaged") == false)
      stat(daemon.journal + "-wal", &status)
    }
  }

  @Test
  func `17: without the snapshot of removed events the daemon does not start`() throws {
    let daemon = try DaemonProcess()
    try fill(daemon, 10)
    let client = try TestSocket(daemon.socket)
    _ = try client.call(compact(before: 200))
    client.close()
    daemon.end(SIGKILL)
    _ = try daemon.sqlite("UPDATE snapshot SET data = '{}' WHERE service = 'cells'")
    try daemon.start(waits: false)
    #expect(daemon.waitForEnd() == 78)
    #expect(
      daemon.log.contains("it was removed, and no snapshot of cells after it can be read"))
  }

  @Test
  func `18: a compaction removes nothing on a full disk, and succeeds when there is room`() throws {
    let directory = try TemporaryMount(kibibytes: 640)
    guard directory.isMounted else { return }  // needs root; the store tests cover EFBIG
    let daemon = try DaemonProcess(in: directory.path)
    try fill(daemon, 5)
    let client = try TestSocket(daemon.socket)
    let filler = String(repeating: "x", count: 4_000)
    var isFull = false
    for i in 0..<1_000 where !isFull {
      isFull = try client.call(#"{"id":1,"method":"cells.set","params":["f\#(i)","\#(filler)"]}"#)
        .contains("ENOSPC")
    }
    #expect(isFull)
    let answer = try client.call(compact(before: 150))
    #expect(answer.contains("error"), "\(answer)")
    try check(daemon, 5)
    #expect(try client.call(#"{"id":1,"method":"ping"}"#).contains("last"))
    try directory.grow(toKibibytes: 8192)
    #expect(try client.call(compact(before: 150)).contains(#""first":150"#))
    try check(daemon, 5)
    client.close()
    #expect(daemon.end() == 0)
    #expect(try daemon.verify().contains("damaged") == false)
  }

  @Test(.needs("strace"), arguments: ["ENOSPC", "EDQUOT", "EFBIG"])
  func `18: a checkpoint, a snapshot and a compaction on a full disk lose nothing`(error: String)
    throws
  {
    let daemon = try DaemonProcess()
    daemon.end()
    // Writes to the database fail, those to the write-ahead log succeed, so a checkpoint fails.
    let wrapper = Disturbance.wrapper(
      "pwrite64:error=\(error)", onlyOn: daemon.journal)
    let full = try DaemonProcess(wrapper: wrapper, in: daemon.directory)
    try fill(full, 60)
    let client = try TestSocket(full.socket)
    #expect(try client.call(compact(before: 1_000)).contains(#""first":1000"#))
    try check(full, 60)
    client.close()
    full.end(SIGKILL)
    try daemon.start()
    try check(daemon, 60)
    #expect(daemon.end() == 0)
    #expect(try daemon.verify().contains("damaged") == false)
  }

  @Test(.needs("strace"))
  func `18: a start on a full disk fails with an error, and can be retried`() throws {
    let daemon = try DaemonProcess()
    try fill(daemon, 1)
    #expect(daemon.end() == 0)
    let wrapper = Disturbance.wrapper("pwrite64:error=ENOSPC", onlyOn: daemon.journal + "-shm")
    let full = try DaemonProcess(wrapper: wrapper, in: daemon.directory, waits: false)
    #expect(full.waitForEnd() == 74, "\(full.log)")
    #expect(full.log.contains("ENOSPC"), "\(full.log)")
    try daemon.start()
    try check(daemon, 1)
  }

  @Test(.needs("strace"))
  func `19: a failed fsync of a checkpoint ends the daemon, and no acknowledged event is lost`()
    throws
  {
    let daemon = try DaemonProcess()
    daemon.end()
    let wrapper = Disturbance.wrapper("fdatasync:error=EIO:when=2+", onlyOn: daemon.journal)
    // The start flushes the file once.
    let broken = try DaemonProcess(wrapper: wrapper, in: daemon.directory)
    let client = try TestSocket(broken.socket)
    var answered = 0
    // Four pages of the log for each commit.
    let filler = String(repeating: "x", count: 10_000)
    for i in 0..<4_000 {
      try? client.send(#"{"id":\#(i),"method":"cells.set","params":["n\#(i)","\#(filler)"]}"#)
      guard let line = try? client.line(), line.contains("result") else { break }
      answered += 1
    }
    try #require(answered < 4_000, "the disk was never asked")
    #expect(broken.waitForEnd() == 74)
    try daemon.start()
    #expect(try daemon.last() >= answered)
    #expect(daemon.end() == 0)
    #expect(try daemon.verify().contains("damaged") == false)
  }
}
