import Glibc
import JSON
import TestSupport
import Testing

/// Read-only journals: verified, or served without changes.
struct ReadingTests {
  private func verify(_ journal: String, _ code: CInt = 0) throws -> String {
    try run(
      [DaemonProcess.executable, "--verify", "--journal", journal], code, isWithErrors: true)
  }

  private func fill(_ daemon: DaemonProcess, _ count: Int) throws {
    let client = try TestSocket(daemon.socket)
    for i in 0..<count {
      #expect(
        try client.call(#"{"id":1,"method":"cells.set","params":["n\#(i)",1]}"#).contains("seq"))
    }
  }

  @Test
  func `reading a missing journal creates none`() throws {
    let directory = try TemporaryDirectory()
    for name in ["missing.db", "missing/journal.db", "empty.db"] {
      let journal = directory.path + "/" + name
      if name == "empty.db" { close(open(journal, O_CREAT | O_WRONLY, 0o600)) }
      #expect(try verify(journal, 78).contains("no journal at \(journal)"))
      let daemon = try DaemonProcess(["--journal", journal, "--read-only"], waits: false)
      #expect(daemon.waitForEnd() == 78)
      #expect(daemon.log.contains("no journal at \(journal)"))
    }
    #expect(Files.names(in: directory.path) == ["empty.db"])
  }

  @Test
  func `a journal is verified while a daemon writes it`() throws {
    let daemon = try DaemonProcess()
    try fill(daemon, 20)
    #expect(try verify(daemon.journal).contains("20 of 20 events read back"))
    try fill(daemon, 5)
    #expect(try verify(daemon.journal).contains("25 of 25 events read back"))
    #expect(daemon.end() == 0)
  }

  @Test
  func `a journal that one daemon writes is not served by another`() throws {
    let daemon = try DaemonProcess()
    let other = try DaemonProcess(
      ["--socket", daemon.directory + "/other.sock", "--journal", daemon.journal, "--read-only"],
      waits: false)
    #expect(other.waitForEnd() == 78)
    #expect(other.log.contains("the journal is in use by pid \(daemon.pid) started "))
  }

  @Test
  func `a journal that is served read-only is not written by another daemon`() throws {
    let daemon = try DaemonProcess()
    try fill(daemon, 3)
    daemon.end()
    try daemon.start(["--read-only"])
    let other = try DaemonProcess(
      ["--socket", daemon.directory + "/other.sock", "--journal", daemon.journal], waits: false)
    #expect(other.waitForEnd() == 78)
    #expect(other.log.contains("the journal is in use by "))
  }

  @Test(arguments: [SIGTERM, SIGKILL])
  func `a journal on a read-only disk is verified and served`(end: CInt) throws {
    let mount = try TemporaryMount(kibibytes: 4096)
    guard mount.isMounted else { return }  // needs root
    let writer = try DaemonProcess(in: mount.path)
    try fill(writer, 10)
    writer.end(end)
    try mount.makeReadOnly()
    #expect(try verify(writer.journal).contains("10 of 10 events read back"))

    let reader = try DaemonProcess(["--journal", writer.journal, "--read-only"])
    let client = try TestSocket(reader.socket)
    #expect(
      try client.call(#"{"id":1,"method":"get","params":["cells/n9"]}"#).contains(#""value":1"#))
    #expect(
      try client.call(#"{"id":1,"method":"history","params":{"source":"events","after":9}}"#)
        .contains(#""stream":"cells/n9""#))
    #expect(
      try client.call(#"{"id":1,"method":"cells.set","params":["a",1]}"#)
        .contains(#""reason":"read_only","outcome":"none""#))
    client.close()
    #expect(reader.end() == 0)
  }

  @Test
  func `a journal without a lock file is read, and no lock file is created`() throws {
    let daemon = try DaemonProcess()
    try fill(daemon, 3)
    daemon.end()
    unlink(daemon.journal + ".lock")
    #expect(try verify(daemon.journal).contains("3 of 3"))
    try daemon.start(["--read-only"])
    #expect(daemon.end() == 0)
    #expect(access(daemon.journal + ".lock", F_OK) != 0)
  }
}
