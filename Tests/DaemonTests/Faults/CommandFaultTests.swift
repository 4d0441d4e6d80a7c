import Glibc
import JSON
import TestSupport
import Testing

/// Rows 39 and 40 of the faults: commands of bindctl that read or change many values at once.
struct CommandFaultTests {
  let bench: FaultBench
  let client: TestSocket

  init() throws {
    bench = try FaultBench()
    client = try TestSocket(bench.daemon.socket)
  }

  private func finish() throws {
    client.close()
    try bench.checkWellBeing()
  }

  /// Runs bindctl, with a temporary directory that must be empty afterwards.
  private func bindctl(_ words: String..., code: CInt) throws -> String {
    let place = try TemporaryDirectory()
    let output = try run(
      [
        "env", "TMPDIR=\(place.path)", "BINDER_SOCKET=\(bench.daemon.socket)",
        DaemonProcess.programs + "/bindctl",
      ] + words, code, isWithErrors: true)
    #expect(Files.names(in: place.path).isEmpty, "\(words) left something behind")
    return output
  }

  @Test
  func `39: a comparison with what is no daemon and no journal, or with a damaged one, is refused`()
    throws
  {
    _ = try client.call(#"{"id":1,"method":"cells.set","params":["a",1]}"#)
    let place = try TemporaryDirectory()
    let copy = place.path + "/copy.db"
    _ = try bindctl(
      "session", "--journal", copy, "--", DaemonProcess.programs + "/bindctl", "set", "cells/a",
      "1", code: 0)
    #expect(try bindctl("diff", "--with", copy, "cells/a", code: 0).isEmpty)
    _ = try client.call(#"{"id":1,"method":"cells.set","params":["a",2]}"#)
    #expect(
      try bindctl("diff", "--with", copy, "cells/a", code: 1) == "- cells/a 1\n+ cells/a 2\n")

    #expect(
      try bindctl("diff", "--with", place.path + "/none", code: 1).contains("no journal at"))
    let text = place.path + "/text"
    Files.write("no journal", to: text)
    #expect(try bindctl("diff", "--with", text, code: 1).contains("is not a journal"))
    // A socket of which nobody takes connections.
    let dead = try DaemonProcess()
    _ = dead.end(SIGKILL)
    #expect(try bindctl("diff", "--with", dead.socket, code: 3).contains("no daemon answers"))
    // A damaged event: no value is guessed.
    _ = try run(["sqlite3", copy, "UPDATE event SET data = '{\"value\":7}' WHERE seq = 1"])
    _ = try run(["sqlite3", copy, "DELETE FROM snapshot"])
    let damaged = try bindctl("diff", "--with", copy, "cells/a", code: 1)
    #expect(damaged.contains("damaged"), "\(damaged)")
    try finish()
  }

  @Test
  func `40: a pattern with more cells than one commit takes is refused, and all of them stay`()
    throws
  {
    for part in 0..<2 {
      let calls = (0..<1000).map {
        #"{"method":"cells.set","params":["x/\#(part * 1000 + $0)",1]}"#
      }
      _ = try client.call(
        #"{"id":1,"method":"atomic","params":{"calls":[\#(calls.joined(separator: ","))]}}"#)
    }
    let last = try client.result(#"{"id":2,"method":"ping"}"#)["last"]
    let refusal = try bindctl("remove", "cells/x/*", "--yes", code: 1)
    #expect(
      refusal == "bindctl: 2000 cells match 'cells/x/*', and a commit removes at most 1024\n",
      "\(refusal.prefix(300))")
    #expect(
      try client.result(#"{"id":2,"method":"ping"}"#)["last"] == last, "nothing was written")
    #expect(
      try bindctl("remove", "cells/x/1*", "--yes", code: 5).contains("is not a source name"))
    try finish()
  }
}
