import Glibc
import TestSupport
import Testing

/// The results and error messages of the journal tools.
struct JournalToolTests {
  let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  private func binderd(_ words: [String], _ code: CInt = 0) throws -> String {
    try run([DaemonProcess.executable, "--config", "/dev/null"] + words, code, isWithErrors: true)
  }

  /// Returns owner, group and mode.
  private func rights(_ path: String) -> [UInt32] {
    var status = stat()
    guard stat(path, &status) == 0 else { return [] }
    return [status.st_uid, status.st_gid, status.st_mode & 0o777]
  }

  /// Returns a daemon that has ended, and a backup of its journal.
  private func journalAndBackup() throws -> (daemon: DaemonProcess, backup: String) {
    let daemon = try DaemonProcess()
    try daemon.fill(2)
    daemon.end()
    let backup = directory.path + "/b.db"
    _ = try binderd(["--backup", backup, "--journal", daemon.journal])
    return (daemon, backup)
  }

  @Test(.enabled(if: geteuid() == 0))
  func `a journal restored by root keeps the owner of the old one`() throws {
    let (daemon, backup) = try journalAndBackup()
    for file in [daemon.journal, daemon.journal + ".lock"] {
      chown(file, 4001, 4002)
      chmod(file, 0o640)
    }
    _ = try binderd(["--restore", backup, "--journal", daemon.journal, "--force"])
    #expect(rights(daemon.journal) == [4001, 4002, 0o640])
    #expect(rights(daemon.journal + ".old") == [4001, 4002, 0o640])
    #expect(rights(daemon.journal + ".lock") == [4001, 4002, 0o640])
  }

  @Test(.enabled(if: geteuid() == 0))
  func `a new journal made by root belongs to the owner of the directory`() throws {
    let (daemon, backup) = try journalAndBackup()
    let state = directory.path + "/state"
    mkdir(state, 0o750)
    chown(state, 4001, 4002)
    let lines = directory.path + "/lines"
    _ = try binderd(["--export", lines, "--journal", daemon.journal])
    for (work, origin) in [("--restore", backup), ("--import", lines)] {
      let journal = state + "/journal\(work).db"
      _ = try binderd([work, origin, "--journal", journal])
      #expect(rights(journal) == [4001, 4002, 0o600])
      #expect(rights(journal + ".lock") == [4001, 4002, 0o600])
    }
    // A backup belongs to the user who makes it.
    let copy = state + "/copy.db"
    _ = try binderd(["--backup", copy, "--journal", daemon.journal])
    #expect(rights(copy) == [0, 0, 0o600])
  }

  @Test
  func `a journal in use is not restored, and the error names the process`() throws {
    let (daemon, backup) = try journalAndBackup()
    try daemon.start()
    for work in ["--restore", "--import"] {
      let said = try binderd([work, backup, "--journal", daemon.journal, "--force"], 78)
      #expect(
        said == "binderd: \(daemon.journal) is in use by pid \(daemon.pid); stop that first: "
          + "kill \(daemon.pid)\n")
    }
  }

  @Test
  func `a tool refuses a journal with another epoch`() throws {
    let (daemon, _) = try journalAndBackup()
    let target = directory.path + "/target"
    let works = [["--backup", target], ["--export", target], ["--verify"], ["--info"]]
    for work in works {
      let said = try binderd(work + ["--journal", daemon.journal, "--epoch", "0123abcd"], 78)
      #expect(said.contains("\(daemon.journal) is another journal: its epoch is "))
      #expect(said.contains(", not 0123abcd"))
    }
    #expect(Files.names(in: directory.path) == ["b.db"])
    let epoch = try daemon.sqlite("SELECT value FROM journal WHERE key = 'epoch'")
      .split(separator: "\n")[0]
    for work in works {
      _ = try binderd(work + ["--journal", daemon.journal, "--epoch", "\(epoch)", "--force"])
    }
  }

  @Test
  func `a daemon reports the absolute path of its journal`() throws {
    let daemon = try DaemonProcess(
      wrapper: ["sh", "-c", #"cd "$0" && exec "$@""#, directory.path],
      waits: false)
    daemon.end(SIGKILL)
    try daemon.start(["--journal", "here.db"])
    let client = try TestSocket(daemon.socket)
    #expect(
      try client.call(#"{"id":1,"method":"journal.info"}"#)
        .contains(#""path":"\#(directory.path)/here.db""#))
  }

  @Test
  func `values are removed from a journal that is not in use`() throws {
    let daemon = try DaemonProcess()
    try daemon.fill(40, value: "\"\(String(repeating: "x", count: 30_000))\"")
    let client = try TestSocket(daemon.socket)
    for line in [
      #"{"id":1,"method":"lists.append","params":["jobs",1]}"#,
      #"{"id":1,"method":"maps.put","params":["hosts","a",1]}"#,
      #"{"id":1,"method":"cells.set","params":["other/one",1]}"#,
    ] {
      #expect(try client.call(line).contains("result"))
    }
    client.close()
    let word = ["--remove", "*/*", "--journal", daemon.journal]
    #expect(try binderd(word, 78).contains("in use by"))
    daemon.end()
    let said = try binderd(word)
    let bytes = said.split(separator: " ").compactMap { Int($0) }
    #expect(said.hasPrefix("42 values removed, "), "\(said)")
    #expect(bytes.count == 2 && 1_200_000..<1_300_000 ~= bytes[1], "\(said)")
    #expect(try binderd(word, 1).hasPrefix("0 values removed"))
    let misuse = ["--remove", "cells//a", "--journal", daemon.journal]
    #expect(try binderd(misuse, 64).contains("--remove takes a pattern"))
    try daemon.start()
    let after = try TestSocket(daemon.socket)
    #expect(
      try after.call(#"{"id":1,"method":"get","params":["cells/*"]}"#)
        .contains(#""values":{}"#))
    #expect(
      try after.call(#"{"id":1,"method":"get","params":["cells/other/one"]}"#)
        .contains(#""value":1"#))
    // Removed values are still in the history.
    let past = #"{"id":1,"method":"history","params":{"source":"cells/n7","at":{"seq":20}}}"#
    #expect(try after.call(past).contains("xxxx"))
    after.close()
    daemon.end()
    // The next start loads only the remaining values.
    let kept = try daemon.sqlite(
      "SELECT length(data) FROM snapshot WHERE service = 'cells' ORDER BY seq DESC LIMIT 1")
    #expect(Int(kept.split(separator: "\n")[0]).map { $0 < 1_000 } == true, "\(kept)")
  }

  @Test
  func `reading a backup leaves no files beside it`() throws {
    let (_, backup) = try journalAndBackup()
    for work in ["--verify", "--info"] { _ = try binderd([work, "--journal", backup]) }
    #expect(Files.names(in: directory.path) == ["b.db"])
  }

  @Test
  func `a backup needs a file in an existing directory`() throws {
    let (daemon, _) = try journalAndBackup()
    #expect(
      try binderd(["--backup", "-", "--journal", daemon.journal], 64)
        .contains("--backup takes a file, not '-'; --export - writes to the standard output"))
    #expect(
      try binderd(["--backup", "/nowhere/b.db", "--journal", daemon.journal], 78)
        == "binderd: /nowhere/b.db: there is no directory /nowhere\n")
  }
}
