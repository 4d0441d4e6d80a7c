import JSON
import TestSupport
import Testing

/// A journal that is exported and imported again is the same.
struct JournalRoundTripTests {
  /// The number of members: more than a client may send in an object.
  private static let count = 5_000

  private func binderd(_ words: [String]) throws -> String {
    try run([DaemonProcess.executable, "--config", "/dev/null"] + words, 0, isWithErrors: true)
  }

  /// Sends `count` requests in pipelined blocks of 100.
  private func call(_ client: TestSocket, _ request: (Int) -> String) throws {
    for start in stride(from: 0, to: Self.count, by: 100) {
      for i in start..<start + 100 { try client.send(request(i)) }
      for _ in 0..<100 {
        let answer = try client.line() ?? ""
        #expect(answer.contains(#""result":"#), "\(answer)")
      }
    }
  }

  /// Returns the values of all stored sources, as a client reads them.
  private func values(of daemon: DaemonProcess) throws -> [JSONValue?] {
    let client = try TestSocket(daemon.socket)
    _ = try client.call(#"{"id":1,"method":"hello","params":{"limits":{"line":16777216}}}"#)
    return try ["cells/**", "lists/**", "maps/**", "people/**", "bindings/**"].map {
      let answer = try client.call(#"{"id":1,"method":"get","params":{"source":"\#($0)"}}"#)
      let frame = try JSONText(parsing: answer, maxMembers: JSONLimits.anyMembers)
      return frame.members?["result"]?.members?["values"]?.value
    }
  }

  @Test
  func `a journal with 5,000 of everything is exported, imported and exported unchanged`() throws {
    let daemon = try DaemonProcess()
    let client = try TestSocket(daemon.socket)
    try call(client) { #"{"id":1,"method":"cells.set","params":["n\#($0)",{"v":[\#($0),1.50]}]}"# }
    try call(client) { #"{"id":1,"method":"lists.append","params":["l",\#($0)]}"# }
    try call(client) { #"{"id":1,"method":"lists.append","params":["l\#($0)",\#($0)]}"# }
    try call(client) { #"{"id":1,"method":"maps.put","params":["m","k\#($0)",\#($0)]}"# }
    try call(client) {
      #"{"id":1,"method":"cells.add","params":{"name":"c","_meta":{"cmd":"once-\#($0)"}}}"#
    }
    try call(client) { #"{"id":1,"method":"people.create","params":{"name":"p\#($0)"}}"# }
    // An event whose data is an object of 5,000 members.
    let bound = try client.call(
      #"{"id":1,"method":"bind","params":{"expr":"maps/m ~> cells/copy","scope":"daemon"}}"#)
    #expect(bound.contains(#""binding":"#), "\(bound)")
    // The maximum depth of a value.
    let deep = String(repeating: "[", count: 54) + String(repeating: "]", count: 54)
    _ = try client.call(#"{"id":1,"method":"cells.set","params":["deep",\#(deep)]}"#)
    client.close()
    let before = try values(of: daemon)
    // Write snapshots: these services hold more members than a client may send.
    #expect(daemon.end() == 0)

    let directory = try TemporaryDirectory()
    let (lines, again) = (directory.path + "/lines", directory.path + "/again")
    _ = try binderd(["--export", lines, "--journal", daemon.journal])
    let new = try DaemonProcess(waits: false)
    new.end()
    _ = try binderd(["--import", lines, "--journal", new.journal, "--force"])
    _ = try binderd(["--export", again, "--journal", new.journal])
    /// Returns all lines except the head, which names the journal.
    func body(_ path: String) -> Substring {
      let text = Files.text(of: path)
      return text[(text.firstIndex(of: "\n") ?? text.endIndex)...]
    }
    #expect(body(lines).contains(#"{"snapshot":"#))
    #expect(body(lines) == body(again))
    try new.start()
    #expect(try values(of: new) == before, "members in whatever order")
    // A command from before the export is still known.
    let client2 = try TestSocket(new.socket)
    #expect(
      try client2.call(
        #"{"id":1,"method":"cells.add","params":{"name":"c","_meta":{"cmd":"once-7"}}}"#
      ).contains(#""replayed":true"#))
  }
}
