import Glibc
import JSON
import TestSupport
import Testing

/// Faults 22 to 24: owners and versions of socket and journal.
struct JournalOwnerTests {
  // MARK: 22: files at the path of the socket

  @Test
  func `22: an abandoned socket is replaced, and no other file is touched`() throws {
    let daemon = try DaemonProcess()
    daemon.end(SIGKILL)
    #expect(access(daemon.socket, F_OK) == 0)
    try daemon.start()
    #expect(try daemon.last() == 0)

    func start(_ socket: String, _ journal: String) throws -> (CInt, String) {
      let other = try DaemonProcess(
        ["--socket", socket, "--journal", journal], waits: false)
      return (other.waitForEnd(), other.log)
    }
    var (code, log) = try start(daemon.socket, daemon.directory + "/other.db")
    #expect(code == 69)
    #expect(log.contains("listens at \(daemon.socket) already: pid \(daemon.pid) (binderd)"))
    #expect(try daemon.last() == 0)

    let file = daemon.directory + "/file"
    close(open(file, O_CREAT | O_WRONLY, 0o600))
    (code, log) = try start(file, daemon.directory + "/other.db")
    #expect(code == 69)
    #expect(log.contains("\(file) is not a socket"))
    #expect(access(file, F_OK) == 0)

    (code, log) = try start(
      daemon.directory + "/" + String(repeating: "x", count: 120), daemon.directory + "/other.db")
    #expect(code == 69)
    #expect(log.lowercased().contains("name too long"))
  }

  // MARK: 23: two daemons, one journal

  @Test
  func `23: a second daemon on a journal names the first and ends`() throws {
    let daemon = try DaemonProcess()
    try daemon.fill(3)
    let other = try DaemonProcess(
      ["--socket", daemon.directory + "/other.sock", "--journal", daemon.journal], waits: false)
    #expect(other.waitForEnd() == 78)
    #expect(other.log.contains("the journal is in use by pid \(daemon.pid) started "))
    #expect(try daemon.last() == 3)
  }

  @Test
  func `23: a journal has one daemon under all of its names`() throws {
    let daemon = try DaemonProcess()
    try daemon.fill(3)
    let (soft, hard) = (daemon.directory + "/soft.db", daemon.directory + "/hard.db")
    symlink(daemon.journal, soft)
    #expect(link(daemon.journal, hard) == 0)
    for name in [soft, hard] {
      let other = try DaemonProcess(
        ["--socket", daemon.directory + "/other.sock", "--journal", name], waits: false)
      #expect(other.waitForEnd() == 78)
      #expect(other.log.contains("the journal is in use by "), "\(other.log)")
      let compaction = try run(
        [DaemonProcess.executable, "--compact", "--before", "3", "--journal", name], 78,
        isWithErrors: true)
      #expect(compaction.contains("the journal is in use by "), "\(compaction)")
    }
    try daemon.fill(2)
    #expect(daemon.end() == 0)
    // The journal is not in use, so any name works.
    let other = try DaemonProcess(["--journal", soft])
    #expect(try other.last() == 5)
    #expect(other.end() == 0)
  }

  @Test
  func `23: a copy of a journal and a served backup get new epochs`() throws {
    let daemon = try DaemonProcess()
    try daemon.fill(3)
    let epoch = try daemon.epoch()
    let (copy, backup) = (daemon.directory + "/copy.db", daemon.directory + "/backup.db")
    _ = try run([DaemonProcess.executable, "--backup", backup, "--journal", daemon.journal])
    #expect(daemon.end() == 0)
    _ = try run(["cp", "-a", daemon.journal, copy])
    for name in [copy, backup] {
      let other = try DaemonProcess(["--journal", name])
      let renewed = try other.epoch()
      #expect(renewed != epoch)
      #expect(other.log.contains("the journal was copied or moved here"))
      let client = try TestSocket(other.socket)
      let answer = try client.call(
        #"{"id":1,"method":"subscribe","params":{"source":"events","from":{"after":2},"epoch":\#(epoch?.text.text ?? "")}}"#
      )
      #expect(errorName(answer) == "epoch_mismatch", "\(answer)")
      client.close()
      // Only once: after that it is an independent journal.
      try other.killAndStart(["--journal", name])
      #expect(try other.epoch() == renewed)
      #expect(other.end() == 0)
    }
    try daemon.start()
    #expect(try daemon.epoch() == epoch)
  }

  // MARK: 24: other versions

  @Test
  func `24: a journal of a newer format is refused with both versions, and not touched`() throws {
    let daemon = try DaemonProcess()
    try daemon.fill(3)
    daemon.end()
    _ = try daemon.sqlite("PRAGMA user_version = 9; PRAGMA wal_checkpoint(TRUNCATE)")
    let before = try run(["cksum", daemon.journal])
    try daemon.start(waits: false)
    #expect(daemon.waitForEnd() == 78)
    #expect(daemon.log.contains("the journal has format 9, this program knows up to 3"))
    #expect(try run(["cksum", daemon.journal]) == before)
  }

  @Test
  func `24: events of an unknown type are retained and shown`() throws {
    let daemon = try DaemonProcess()
    try daemon.fill(1)
    daemon.end()
    try daemon.append(
      seq: 2, stream: "later/x", version: 1, previous: 0, type: "later.invented", data: #"{"a":1}"#)
    try daemon.start()
    #expect(
      daemon.log.contains("1 events of the service 'later', which this program does not have"))
    let client = try TestSocket(daemon.socket)
    #expect(
      try client.call(#"{"id":1,"method":"history","params":{"source":"events"}}"#)
        .contains(#""type":"later.invented","stream":"later/x","version":1"#))
    #expect(
      try client.call(#"{"id":1,"method":"cells.set","params":["a",1]}"#).contains(#""seq":3"#))
  }

  @Test
  func `24: an event of a newer form is named with its version, and nothing is written`() throws {
    let daemon = try DaemonProcess()
    try daemon.fill(1)
    try daemon.waitUntilMoved(1)
    daemon.end(SIGKILL)
    try daemon.append(
      seq: 2, stream: "cells/n0", version: 2, previous: 1, type: "cells.set@2", data: #"{"v":1}"#)
    try daemon.start(waits: false)
    #expect(daemon.waitForEnd() == 78)
    #expect(
      daemon.log.contains(
        "event 2: it is cells.set@2, and this program knows cells.set up to version 1"))
    try daemon.start(["--read-only"])
    let client = try TestSocket(daemon.socket)
    #expect(
      try client.call(#"{"id":1,"method":"get","params":["cells/n0"]}"#).contains(#""value":1"#))
    #expect(
      try client.call(#"{"id":1,"method":"history","params":{"source":"events","after":1}}"#)
        .contains(#""type":"cells.set@2""#))
  }

  @Test
  func `24: a journal of version 1 is upgraded, and works`() throws {
    let daemon = try DaemonProcess()
    try daemon.fill(20)
    daemon.end()
    _ = try daemon.sqlite(
      """
      DROP TABLE removal; DELETE FROM journal WHERE key <> 'epoch'; PRAGMA user_version = 1;
      PRAGMA wal_checkpoint(TRUNCATE)
      """)
    #expect(try daemon.verify().contains("20 of 20"))
    try daemon.start()
    let client = try TestSocket(daemon.socket)
    #expect(
      try client.call(#"{"id":1,"method":"journal.compact","params":{"before":{"seq":9}}}"#)
        .contains(#""first":9"#))
    #expect(try daemon.sqlite("PRAGMA user_version") == "3\n")
  }

  // MARK: 22: the path of the journal

  @Test
  func `22: a journal in a directory of another user is refused`() throws {
    guard getuid() == 0 else { return }  // only root can change owners
    let home = try TemporaryDirectory()
    let foreign = home.path + "/foreign"
    mkdir(foreign, 0o700)
    func refusal() throws -> String {
      let daemon = try DaemonProcess(
        ["--socket", home.path + "/s", "--journal", foreign + "/j.db"], waits: false)
      #expect(daemon.waitForEnd() == 78)
      return daemon.log
    }
    chown(foreign, 4_900, 0)
    #expect(try refusal().contains("\(foreign) belongs to user 4900"), "whatever its mode")
    chown(foreign, 0, 0)
    chmod(foreign, 0o777)
    #expect(try refusal().contains("\(foreign) is writable for everyone"))
    chmod(foreign, 0o770)
    chown(foreign, 0, 4_900)
    #expect(try refusal().contains("\(foreign) is writable for group 4900"))
    #expect(Files.names(in: foreign).isEmpty)
  }

  @Test
  func `22: a path that is not a regular file is refused immediately`() throws {
    let home = try TemporaryDirectory()
    let fifo = home.path + "/fifo"
    mkfifo(fifo, 0o600)
    for arguments in [["--journal", fifo], ["--journal", fifo, "--read-only"]] {
      let daemon = try DaemonProcess(arguments, waits: false)
      #expect(daemon.waitForEnd() == 78)
      #expect(daemon.log.contains("\(fifo) is not a regular file"))
    }
    for word in ["--verify", "--info", "--compact"] {
      let said = try run(
        [DaemonProcess.executable, word, "--journal", fifo], 78, isWithErrors: true)
      #expect(said.contains("\(fifo) is not a regular file"), "\(word)")
    }
  }
}
