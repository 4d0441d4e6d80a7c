import Glibc
import JSON
import TestSupport
import Testing

/// Faults 18 and 19: a full disk and an unreliable disk.
struct JournalDiskTests {
  // MARK: 18: a full disk

  @Test
  func `18: a full disk refuses only commands, and the daemon recovers automatically`() throws {
    let directory = try TemporaryMount(kibibytes: 512)
    guard directory.isMounted else { return }  // needs root; the store tests cover EFBIG
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
    let before = try daemon.last()
    #expect(try client.call(#"{"id":1,"method":"get","params":["cells/f0"]}"#).contains("xxx"))
    #expect(
      try client.call(#"{"id":1,"method":"subscribe","params":["cells/small"]}"#).contains("sub"))
    try directory.grow(toKibibytes: 4096)
    #expect(
      try client.call(#"{"id":1,"method":"cells.set","params":["small",1]}"#)
        .contains(#""seq":\#(before + 1)"#))
    #expect(try client.line()?.contains(#""value":1"#) == true)
    #expect(daemon.log.count { $0 == "\n" } == 3, "\(daemon.log)")
    #expect(
      daemon.log.contains(
        "warning: the journal takes no writes: ENOSPC: commands are refused until it does"))
    #expect(daemon.log.contains("notice: the journal takes writes again; 1 were refused"))
    client.close()
    #expect(daemon.end() == 0)
  }

  @Test(.enabled(if: TemporaryMount.canCopyOnWrite))
  func `18: a full copy-on-write disk refuses commands like any other`() throws {
    let place = try TemporaryMount(copyOnWriteMebibytes: 128)
    let daemon = try DaemonProcess(in: place.path)
    _ = try run([
      "sh", "-c",
      """
      for size in 64k 4k; do dd if=/dev/zero of=\(place.path)/$size bs=$size; sync; done 2>&1; true
      """,
    ])
    let client = try TestSocket(daemon.socket)
    let filler = String(repeating: "x", count: 2_000)
    var refused = 0
    for i in 0..<1_000 {
      let answer = try client.call(
        #"{"id":1,"method":"cells.set","params":["f\#(i)","\#(filler)"]}"#)
      if answer.contains(#""reason":"ENOSPC","outcome":"none""#) { refused += 1 }
    }
    #expect(refused > 0)
    let last = try daemon.last()
    unlink(place.path + "/64k")
    unlink(place.path + "/4k")
    _ = try run(["sync"])
    try daemon.killAndStart()
    #expect(try daemon.last() == last)
    #expect(daemon.end() == 0)
  }

  // MARK: 19: an unreliable write

  @Test(.needs("gcc"))
  func `a command that waits for the disk is answered after the flush, and others earlier`() throws
  {
    let disk = try DiskGate()
    let daemon = try DaemonProcess(["--durability", "os"], wrapper: disk.wrapper)
    let client = try TestSocket(daemon.socket)
    func syncs(after meta: String) throws -> Int {
      let answer = try client.call(
        #"{"id":1,"method":"cells.set","params":{"name":"a","value":1,"_meta":{\#(meta)}}}"#)
      #expect(answer.contains(#""seq":"#))
      return disk.count(on: "-tail1")
    }
    let before = try syncs(after: #""cmd":"c""#)
    #expect(try syncs(after: #""wait":"policy""#) == before)
    #expect(try syncs(after: #""wait":"disk""#) > before)
    let after = try syncs(after: "")
    #expect(try syncs(after: #""cmd":"c","wait":"disk""#) > after, "what was run before as well")
    client.close()
    #expect(daemon.end() == 0)
  }

  @Test(.needs("strace"))
  func `a start flushes the writes that a killed daemon left to the kernel`() throws {
    let place = try TemporaryDirectory()
    let trace = place.path + "/trace"
    let daemon = try DaemonProcess(["--durability", "os"])
    try daemon.fill(3)
    daemon.end(SIGKILL)
    let again = try DaemonProcess(
      ["--durability", "os"],
      wrapper: [
        "env", "ASAN_OPTIONS=detect_leaks=0", "strace", "-D", "-f", "-y", "-qq", "-o", trace, "-e",
        "trace=fdatasync,fsync",
      ], in: daemon.directory)
    let lines = Files.text(of: trace).split(separator: "\n")
    let log = lines.firstIndex { $0.contains(" fdatasync(") && $0.contains("/journal.db-wal>)") }
    // The start writes the lock file when it begins, and flushes it at once.
    let lock = lines.firstIndex { $0.contains(" fsync(") && $0.contains("/journal.db.lock>)") }
    let (flushed, begun) = (try #require(log), try #require(lock))
    #expect(flushed < begun, "\(lines)")
    #expect(again.end() == 0)
  }

  /// On shared storage such as NFS, only fsync reports a full disk; the data may still be stored.
  @Test(.needs("strace"), arguments: ["EIO", "ENOSPC", "EDQUOT"])
  func `19: after a failed fsync no answer claims durability, and the daemon ends`(
    errno: String
  ) throws {
    let daemon = try DaemonProcess(
      wrapper: [
        // The leak sanitizer does not work under a tracer.
        "env", "ASAN_OPTIONS=detect_leaks=0", "strace", "-f", "-qq", "-o", "/dev/null", "-e",
        "trace=fdatasync,fsync", "-e",
        "inject=fdatasync,fsync:error=\(errno):when=20+",
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
    #expect(
      lines.contains { $0.contains(#""reason":"\#(errno)","outcome":"unknown""#) }, "\(lines)")
    #expect(lines.last?.contains(#""reason":"journal_failed""#) == true)
    #expect(daemon.waitForEnd() == 74)
    let again = try DaemonProcess(in: daemon.directory)
    #expect(try again.last() >= answered)
  }

  /// The failing calls are those after the start.
  @Test(
    .needs("strace"),
    arguments: [
      ("pwritev:error=ENOSPC:when=5..8", "-tail1", "ENOSPC"),
      ("pwritev:error=EDQUOT:when=5..8", "-tail1", "EDQUOT"),
      ("fallocate:error=ENOSPC", "-tail2", ""),
      ("fallocate:error=EFBIG", "-tail2", ""),
      ("pwrite64:error=ENOSPC:when=9+", "-wal", ""),
    ])
  func `18: a tail without room refuses commands, and loses nothing`(
    call: String, file: String, reason: String
  ) throws {
    let daemon = try DaemonProcess()
    daemon.end()
    let wrapper = Disturbance.wrapper(call, onlyOn: daemon.journal + file)
    let full = try DaemonProcess(wrapper: wrapper, in: daemon.directory)
    let client = try TestSocket(full.socket)
    var (answered, refused) = (0, 0)
    let filler = String(repeating: "x", count: 3_000)
    for i in 0..<60 {
      let answer = try client.call(
        #"{"id":\#(i),"method":"cells.add","params":{"name":"n","by":1}}"#)
      if answer.contains("result") { answered += 1 } else { refused += 1 }
      if !answer.contains("result") {
        #expect(answer.contains(#""outcome":"none""#), "\(answer)")
        #expect(answer.contains(#""reason":"\#(reason)"#), "\(answer)")
      }
      _ = try client.call(#"{"id":1,"method":"cells.set","params":["f","\#(filler)"]}"#)
    }
    if !reason.isEmpty { #expect(refused > 0) }
    client.close()
    full.end(SIGKILL)
    try daemon.start()
    let again = try TestSocket(daemon.socket)
    let value = try again.result(#"{"id":1,"method":"get","params":["cells/n"]}"#)["value"]
    #expect(value == .number(JSONNumber(Int64(answered))))
    again.close()
    #expect(daemon.end() == 0)
    #expect(try daemon.verify().contains("damaged") == false)
  }

  @Test(.needs("strace"), arguments: ["pwritev:error=EIO:when=5+", "fdatasync:error=EIO:when=5+"])
  func `19: a failed write to the tail ends the daemon, and nothing acknowledged is lost`(
    call: String
  ) throws {
    let daemon = try DaemonProcess()
    daemon.end()
    let wrapper = Disturbance.wrapper(call, onlyOn: daemon.journal + "-tail1")
    let broken = try DaemonProcess(wrapper: wrapper, in: daemon.directory)
    let client = try TestSocket(broken.socket)
    var answered = 0
    var lines: [String] = []
    for i in 0..<40 {
      try? client.send(#"{"id":\#(i),"method":"cells.set","params":["n\#(i)",1]}"#)
      guard let line = try client.line() else { break }
      lines.append(line)
      guard line.contains("result") else { break }
      answered += 1
    }
    #expect(lines.last?.contains(#""reason":"EIO","outcome":"unknown""#) == true, "\(lines)")
    #expect(broken.waitForEnd() == 74)
    try daemon.start()
    #expect(try daemon.last() >= answered)
    #expect(daemon.end() == 0)
  }

  @Test(
    .needs("strace"),
    arguments: [
      ("openat:error=ENOSPC", "-tail1"), ("fallocate:error=ENOSPC", "-tail1"),
      ("pwrite64:error=ENOSPC", "-tail1"), ("openat:error=EACCES", "-tail2"),
    ])
  func `18: a start that cannot make the tail fails with an error, and can be retried`(
    call: String, file: String
  ) throws {
    let daemon = try DaemonProcess()
    try daemon.fill(3)
    #expect(daemon.end() == 0)
    let wrapper = Disturbance.wrapper(call, onlyOn: daemon.journal + file)
    let full = try DaemonProcess(wrapper: wrapper, in: daemon.directory, waits: false)
    let code = full.waitForEnd()
    #expect(code == 74 || code == 78, "\(full.log)")
    #expect(
      full.log.contains(call.contains("ENOSPC") ? "ENOSPC" : "journal.db-tail"), "\(full.log)")
    try daemon.start()
    #expect(try daemon.last() == 3)
    #expect(daemon.end() == 0)
  }

  @Test
  func `18: a journal on a full disk can be read`() throws {
    let mount = try TemporaryMount(kibibytes: 512)
    guard mount.isMounted else { return }  // only root can mount
    let home = try TemporaryDirectory()
    let journal = mount.path + "/j.db"
    let writer = try DaemonProcess(["--journal", journal], in: home.path)
    let client = try TestSocket(writer.socket)
    _ = try client.call(#"{"id":1,"method":"cells.set","params":["a",7]}"#)
    client.close()
    #expect(writer.end() == 0)
    let filler = open(mount.path + "/filler", O_CREAT | O_WRONLY, 0o600)
    let chunk = [UInt8](repeating: 1, count: 4096)
    while write(filler, chunk, chunk.count) > 0 {}
    close(filler)
    let reader = try DaemonProcess(["--journal", journal, "--read-only"], in: home.path)
    let other = try TestSocket(reader.socket)
    #expect(
      try other.call(#"{"id":1,"method":"get","params":["cells/a"]}"#).contains(#""value":7"#))
    #expect(reader.end() == 0)
  }

  @Test
  func `18: a start without room to save a damaged tail keeps it, and can be retried`() throws {
    let mount = try TemporaryMount(kibibytes: 2048)
    guard mount.isMounted else { return }  // only root mounts
    let home = try TemporaryDirectory()
    let journal = mount.path + "/j.db"
    let daemon = try DaemonProcess(["--journal", journal], in: home.path)
    try daemon.fill(20)
    daemon.damageTail(at: daemon.killWithTail(journal) - 100, journal)
    let tail = Files.bytes(of: journal + "-tail1")
    let filler = open(mount.path + "/filler", O_CREAT | O_WRONLY, 0o600)
    let chunk = [UInt8](repeating: 1, count: 4096)
    var count = 0
    while write(filler, chunk, chunk.count) > 0 { count += chunk.count }
    // Room for a part of the copy.
    ftruncate(filler, off_t(count - 2 * chunk.count))
    close(filler)
    for _ in 0..<2 {
      try daemon.start(["--journal", journal], waits: false)
      #expect(daemon.waitForEnd() == 74)
      #expect(Files.bytes(of: journal + "-tail1") == tail)
      #expect(!Files.names(in: mount.path).contains { $0.contains(".lost") })
    }
    unlink(mount.path + "/filler")
    try daemon.start(["--journal", journal])
    #expect(Files.bytes(of: journal + "-tail1.lost") == tail)
    #expect(daemon.end() == 0)
  }
}
