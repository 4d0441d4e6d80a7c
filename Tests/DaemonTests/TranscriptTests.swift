import Glibc
import JSON
import TestSupport
import Testing

/// The transcripts of `Protocol/transcripts`, played against the real daemon.
///
/// A line `-> …` is sent and a line `<- …` is what comes, to the byte but for `"…"`, which stands for
/// any value. A word before the arrow names the client, which connects at its first line. `! end`,
/// `! kill` and `! start` are done to the daemon; `-- ` says that nothing more has come; `#` is for
/// people.
struct TranscriptTests {
  private static let directory = #filePath.replacing(
    "Tests/DaemonTests/TranscriptTests.swift", with: "Protocol/transcripts")

  static let all = Files.names(in: directory)

  @Test(arguments: all)
  func `the daemon does what the transcript says`(name: String) throws {
    let daemon = try DaemonProcess()
    var clients: [Substring: TestSocket] = [:]
    let requests = Schema(named: "client-frame.schema.json")
    let lines = Files.text(of: "\(Self.directory)/\(name)").split(
      separator: "\n", omittingEmptySubsequences: true)
    for line in lines where !line.hasPrefix("#") {
      let words = line.split(separator: " ", maxSplits: 1)
      let (mark, rest) = (words[0], words.count > 1 ? String(words[1]) : "")
      func client() throws -> TestSocket {
        let name = mark.dropLast(2)
        let client = try clients[name] ?? TestSocket(daemon.socket)
        clients[name] = client
        return client
      }
      switch mark.suffix(2) {
      case "->":
        if let value = try? JSONValue(parsing: rest), !name.hasPrefix("faults") {
          #expect(requests.fault(in: value) == nil, "\(rest)")
        }
        try client().send(rest)
      case "<-":
        let came = try client().line()
        let isExpected = matches(came ?? "(the end)", rest)
        #expect(isExpected, "\(name): \(rest)\ncame: \(came ?? "(the end)")")
        guard isExpected else { return }
      case "--": #expect(try client().isSilent(), "\(name): something came")
      case "!":
        switch rest {
        case "end": #expect(daemon.end() == 0)
        case "kill": daemon.end(SIGKILL)
        case "start":
          clients = [:]
          try daemon.start()
        default: Issue.record("\(name): \(line)")
        }
      default: Issue.record("\(name): \(line)")
      }
    }
    clients = [:]
    if !lines.contains("! end") { #expect(daemon.end() == 0) }
  }

  private func matches(_ line: String, _ expected: String) -> Bool {
    if line == expected { return true }
    guard expected.contains("…"), let line = try? JSONValue(parsing: line),
      let expected = try? JSONValue(parsing: expected)
    else { return false }
    return matches(line, expected)
  }

  private func matches(_ value: JSONValue, _ expected: JSONValue) -> Bool {
    switch (value, expected) {
    case (_, .string("…")): true
    case (.array(let values), .array(let expected)):
      values.count == expected.count && zip(values, expected).allSatisfy(matches)
    case (.object(let object), .object(let expected)):
      object.members.map(\.name) == expected.members.map(\.name)
        && zip(object.members, expected.members).allSatisfy { matches($0.value, $1.value) }
    default: value.text == expected.text
    }
  }

  @Test
  func `there are transcripts`() {
    #expect(Self.all.count > 5)
  }
}
