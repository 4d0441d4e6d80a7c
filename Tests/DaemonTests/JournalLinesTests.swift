import Glibc
import TestSupport
import Testing

/// Export and import of journals, and files that they must not replace.
struct JournalLinesTests {
  let directory: TemporaryDirectory
  var lines: String { directory.path + "/lines" }

  init() throws {
    directory = try TemporaryDirectory()
  }

  private func binderd(_ words: [String], _ code: CInt = 0) throws -> String {
    try run([DaemonProcess.executable, "--config", "/dev/null"] + words, code, isWithErrors: true)
  }

  private func identity(_ path: String) -> [UInt] {
    var status = stat()
    return stat(path, &status) == 0 ? [UInt(status.st_dev), UInt(status.st_ino)] : []
  }

  // MARK: Existing files

  @Test
  func `a backup or export never replaces its own journal, under any name`() throws {
    let daemon = try DaemonProcess()
    try daemon.fill(3)
    let journal = daemon.journal
    let (soft, hard) = (directory.path + "/soft", directory.path + "/hard")
    symlink(journal, soft)
    #expect(link(journal, hard) == 0)
    let before = identity(journal)
    for work in ["--backup", "--export"] {
      for target in [journal, soft, hard, journal + "-wal", journal + "-tail1", journal + ".lock"] {
        let said = try binderd([work, target, "--journal", journal, "--force"], 78)
        #expect(said.contains("\(target) is part of the source journal, \(journal)"))
      }
    }
    #expect(identity(journal) == before)
    #expect(access(journal + ".old", F_OK) != 0)
    try daemon.fill(3)
    try daemon.killAndStart()
    #expect(try daemon.last() == 6)
  }

  @Test
  func `a journal in use is not replaced by a backup or export of another`() throws {
    let (daemon, other) = (try DaemonProcess(), try DaemonProcess())
    try daemon.fill(2)
    let soft = directory.path + "/soft"
    symlink(daemon.journal, soft)
    for work in ["--backup", "--export"] {
      for target in [daemon.journal, soft] {
        let said = try binderd([work, target, "--journal", other.journal, "--force"], 78)
        #expect(said.contains("\(daemon.journal): the journal is in use by pid \(daemon.pid) "))
      }
    }
    try daemon.killAndStart()
    #expect(try daemon.last() == 2)
  }

  // MARK: Export

  @Test
  func `a forced export keeps the replaced file, and leaves no other files`()
    throws
  {
    let daemon = try DaemonProcess()
    try daemon.fill(2)
    Files.write("old", to: lines)
    #expect(
      try binderd(["--export", lines, "--journal", daemon.journal], 1).contains(
        "--force replaces it"))
    _ = try binderd(["--export", lines, "--journal", daemon.journal, "--force"])
    #expect(Files.text(of: lines).hasSuffix("{\"end\":{\"events\":2}}\n"))
    #expect(Files.text(of: lines + ".old") == "old")
    #expect(Files.names(in: directory.path).sorted() == ["lines", "lines.old"])
  }

  @Test
  func `a failed export keeps the existing file`() throws {
    let daemon = try DaemonProcess()
    try daemon.fill(20)
    try daemon.waitUntilMoved(20)
    daemon.end(SIGKILL)
    _ = try daemon.sqlite("UPDATE event SET data = '0' WHERE seq = 8")
    Files.write("old", to: lines)
    let said = try binderd(["--export", lines, "--journal", daemon.journal, "--force"], 1)
    #expect(said.contains("event 8 of the journal is damaged"))
    #expect(Files.text(of: lines) == "old")
    #expect(Files.names(in: directory.path) == ["lines"])
  }

  // MARK: Import

  private func write(_ events: [(stream: String, type: String, data: String)]) {
    var text = #"{"journal":{"format":1,"epoch":"e"}}"# + "\n"
    for (i, event) in events.enumerated() {
      text +=
        #"{"seq":\#(i + 1),"time":\#(i + 1),"stream":"\#(event.stream)","version":1,"previous":0,"#
        + #""type":"\#(event.type)","data":\#(event.data)}"# + "\n"
    }
    Files.write(text + #"{"end":{"events":\#(events.count)}}"# + "\n", to: lines)
  }

  @Test(arguments: [
    ("lists/a", "lists.inserted", #"{"at":999,"value":1}"#, "index 999 is not within a list of 0"),
    ("cells/b", "cells.set", "{}", "its data is invalid"),
    ("users/kim", "users.token_issued", #"{"id":-1,"hash":"x"}"#, "number -1 is not after 0"),
    ("feeds/a", "feeds.dropped", #"{"at":-1}"#, "there is no feed a"),
    ("chat/rooms/7", "chat.left", #"{"id":7,"name":"kim"}"#, "there is no room 7"),
  ])
  func `an event that a service refuses is named and not imported`(
    stream: String, type: String, data: String, rule: String
  ) throws {
    write([("cells/a", "cells.set", #"{"value":1}"#), (stream, type, data)])
    let journal = directory.path + "/journal.db"
    let said = try binderd(["--import", lines, "--journal", journal], 1)
    #expect(said.contains("event 2 of the journal is damaged: \(type) in \(stream): \(rule)"))
    #expect(Files.names(in: directory.path).allSatisfy { $0 == "lines" || $0.hasSuffix(".lock") })
  }

  @Test
  func `a daemon names an invalid event and ends without a crash`() throws {
    let daemon = try DaemonProcess()
    try daemon.fill(1)
    daemon.end()
    try daemon.append(
      seq: 2, stream: "lists/a", version: 1, previous: 0, type: "lists.inserted",
      data: #"{"at":-9223372036854775808,"value":1}"#)
    try daemon.start(waits: false)
    #expect(daemon.waitForEnd() == 78)
    #expect(
      daemon.log.contains(
        "event 2 of the journal is damaged: lists.inserted in lists/a: index -9223372036854775808"))
  }

  @Test
  func `after the last number a command is refused, and the daemon continues`() throws {
    write([
      ("people/\(Int.max)", "people.created", ##"{"name":"x","color":"#808080"}"##)
    ])
    let daemon = try DaemonProcess()
    daemon.end()
    _ = try binderd(["--import", lines, "--journal", daemon.journal, "--force"])
    try daemon.start()
    let client = try TestSocket(daemon.socket)
    #expect(
      try client.call(#"{"id":1,"method":"people.create","params":{"name":"y"}}"#)
        .contains(#""reason":"too_many""#))
    #expect(try daemon.last() == 1)
  }
}
