import Glibc
import TestSupport
import Testing

/// Fault 31: a journal of a daemon with another name.
struct ForeignJournalTests {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  /// Returns a daemon with another name that has written a journal and has ended.
  private func makeOther(endedBy signal: CInt = SIGTERM) throws -> DaemonProcess {
    let other = try DaemonProcess(program: DaemonProcess.other)
    try other.fill(3)
    other.end(signal)
    return other
  }

  /// The files of a journal with size and hash; SQLite's shared memory has no content.
  private func content(of daemon: DaemonProcess) -> [String] {
    let names = Files.names(in: daemon.directory)
      .filter { $0.hasPrefix("journal") && !$0.hasSuffix("-shm") }
    return names.sorted().map {
      let bytes = Files.bytes(of: daemon.directory + "/" + $0)
      return "\($0): \(bytes.count) bytes, \(bytes.hashValue)"
    }
  }

  private func refusal(of program: String, _ words: [String]) throws -> String {
    try run([program, "--config", "/dev/null"] + words, 78, isWithErrors: true)
  }

  private func info(_ journal: String) throws -> String {
    try run([DaemonProcess.executable, "--info", "--journal", journal])
  }

  @Test(arguments: [SIGTERM, SIGKILL])
  func `31: a daemon refuses the journal of another one, and changes nothing`(
    signal: CInt
  ) throws {
    let other = try makeOther(endedBy: signal)
    let before = content(of: other)
    let socket = directory.path + "/bus.sock"
    for words in [[], ["--read-only"], ["--compact"], ["--remove", "cells/**"], ["--verify"]] {
      let said = try refusal(
        of: DaemonProcess.executable, words + ["--journal", other.journal, "--socket", socket])
      #expect(
        said.contains("\(other.journal) is the journal of otherd, not of binderd"), "\(words)")
    }
    #expect(content(of: other) == before)
    try other.start()
    #expect(try other.last() == 3)
  }

  @Test
  func `31: a journal without a name belongs to binderd`() throws {
    let daemon = try DaemonProcess()
    try daemon.fill(2)
    daemon.end()
    #expect(try daemon.sqlite("SELECT count(*) FROM journal WHERE key = 'daemon'") == "0\n")
    let said = try refusal(
      of: DaemonProcess.other, ["--journal", daemon.journal, "--socket", directory.path + "/s"])
    #expect(
      said.contains(
        "\(daemon.journal) is the journal of binderd, not of otherd; start binderd on it, or name"
          + " another journal with --journal; a copy for otherd: binderd --export FILE, then"
          + " otherd --import FILE --adopt"))
    try daemon.start()
    #expect(try daemon.last() == 2)
  }

  @Test
  func `31: copies of a journal keep its name`() throws {
    let other = try makeOther()
    let name = { (file: String) in directory.path + "/" + file }
    let (program, source) = (DaemonProcess.other, ["--journal", other.journal])
    #expect(try info(other.journal).contains(#""daemon":"otherd""#))
    _ = try run([program, "--backup", name("b.db")] + source)
    _ = try run([program, "--export", name("lines")] + source)
    _ = try run([program, "--copy", name("copy.db")] + source)
    _ = try run([program, "--restore", name("b.db"), "--journal", name("restored.db")])
    _ = try run([program, "--import", name("lines"), "--journal", name("imported.db")])
    for file in ["b.db", "copy.db", "restored.db", "imported.db"] {
      #expect(try info(name(file)).contains(#""daemon":"otherd""#), "\(file)")
    }
    // Programs that interpret nothing copy any journal.
    _ = try run([DaemonProcess.executable, "--backup", name("c.db"), "--adopt"] + source)
    #expect(try info(name("c.db")).contains(#""daemon":"otherd""#))
  }

  @Test
  func `31: a daemon makes a journal of that of another one only with --adopt`() throws {
    let other = try makeOther()
    let (backup, lines) = (directory.path + "/b.db", directory.path + "/lines")
    let target = directory.path + "/new.db"
    _ = try run([DaemonProcess.other, "--backup", backup, "--journal", other.journal])
    _ = try run([DaemonProcess.other, "--export", lines, "--journal", other.journal])
    let works: [(words: [String], origin: String)] = [
      (["--restore", backup, "--journal", target], backup),
      (["--import", lines, "--journal", target], lines),
      (["--copy", target, "--journal", other.journal], other.journal),
      (["--branch", target, "--journal", other.journal], other.journal),
    ]
    for work in works {
      let said = try refusal(of: DaemonProcess.executable, work.words)
      #expect(
        said == "binderd: \(work.origin) is of otherd, not of binderd; use otherd, or --adopt to"
          + " make a journal for binderd of it\n")
      #expect(access(target, F_OK) != 0)
      _ = try run([DaemonProcess.executable, "--config", "/dev/null", "--adopt"] + work.words)
      #expect(try info(target).contains(#""daemon":"binderd""#))
      let daemon = try DaemonProcess(["--journal", target])
      #expect(try daemon.last() == 3)
      daemon.end()
      for end in ["", ".lock"] { unlink(target + end) }
    }
  }
}
