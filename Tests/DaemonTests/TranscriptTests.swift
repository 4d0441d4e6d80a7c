import Glibc
import JSON
import TestSupport
import Testing
import Wire

/// The transcripts of `Protocol/transcripts`, played against the real daemon.
///
/// A line `-> …` is sent, and a line `<- …` is expected byte for byte; `"…"` matches any value.
/// A word before the arrow names the client, which connects at its first line; `u4001` is a client
/// of the user 4001. `! end`, `! kill` and `! start OPTIONS` control the daemon. `! config JSON`
/// writes its configuration, and `! sql STATEMENT` changes its journal while it is down. `-- `
/// expects silence. `#` begins a comment.
///
/// After `! managed`, a service manager runs another daemon and holds the sockets of the clients.
/// Then `! kill`, `! restart` and `! stop` control this one.
struct TranscriptTests {
  private static let directory = #filePath.replacing(
    "Tests/DaemonTests/TranscriptTests.swift", with: "Protocol/transcripts")

  static let all = Files.names(in: directory)

  @Test(arguments: all)
  func `the daemon behaves as in the transcript`(name: String) throws {
    try play(name) { _, _ in }
  }

  /// A client of the same or of another user.
  private enum Client {
    case own(TestSocket)
    case other(OtherUser)

    func send(_ line: String) throws {
      switch self {
      case .own(let socket): try socket.send(line)
      case .other(let user): user.send(line)
      }
    }

    func line() throws -> String? {
      switch self {
      case .own(let socket): try socket.line()
      case .other(let user): user.line()
      }
    }

    var isSilent: Bool { if case .own(let socket) = self { socket.isSilent() } else { false } }
  }

  /// Plays a transcript.
  ///
  /// - Parameter onResult: Called with each method and its result.
  private func play(_ name: String, onResult: @escaping (String, JSONObject) -> Void) throws {
    let lines = Files.text(of: "\(Self.directory)/\(name)").split(
      separator: "\n", omittingEmptySubsequences: true)
    // Only root can become other users.
    if getuid() != 0, lines.contains(where: { $0.hasPrefix("u4001") }) { return }
    let daemon = try DaemonProcess()
    var managed: ManagedDaemon?
    chmod(daemon.directory, 0o755)
    var options: [String] = []
    var clients: [Substring: Client] = [:]
    let requests = Schema(named: "client-frame.schema.json")
    for line in lines where !line.hasPrefix("#") {
      let words = line.split(separator: " ", maxSplits: 1)
      let (mark, rest) = (words[0], words.count > 1 ? String(words[1]) : "")
      func client() throws -> Client {
        let name = mark.dropLast(2)
        if let client = clients[name] { return client }
        let client: Client
        if name.hasPrefix("u"), let uid = uid_t(name.dropFirst()) {
          client = .other(try OtherUser(uid: uid, groups: [], socket: daemon.socket))
        } else {
          let socket = try TestSocket(managed?.socket ?? daemon.socket)
          socket.asked?.onResult = onResult
          client = .own(socket)
        }
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
      case "--": #expect(try client().isSilent, "\(name): something came")
      case "!":
        let (word, operand) = Self.halves(rest)
        switch word {
        case "end": #expect(daemon.end() == 0)
        case "managed": managed = try ManagedDaemon()
        case "restart":
          try managed?.settle(clients: clients.count)
          try managed?.restart()
        case "stop": managed?.end()
        case "kill":
          if let managed {
            try managed.settle(clients: clients.count)
            try managed.killAndWait()
          } else {
            daemon.end(SIGKILL)
          }
        case "config":
          Files.write(operand, to: daemon.directory + "/binder.conf")
          options = ["--config", daemon.directory + "/binder.conf"]
        case "sql": _ = try daemon.sqlite(operand)
        case "start":
          clients = [:]
          try daemon.start(options + operand.split(separator: " ").map(String.init))
        default: Issue.record("\(name): \(line)")
        }
      default: Issue.record("\(name): \(line)")
      }
    }
    clients = [:]
    if !lines.contains("! end") { #expect(daemon.end() == 0) }
  }

  private static func halves(_ text: String) -> (String, String) {
    let words = text.split(separator: " ", maxSplits: 1).map(String.init)
    return (words.first ?? "", words.count > 1 ? words[1] : "")
  }

  @Test
  func `a result with one fault does not fit its schema`() throws {
    var (results, wrong, methods) = (0, 0, Set<String>())
    for name in Self.all {
      try play(name) { method, frame in
        guard let result = frame["result"] else { return }
        results += 1
        methods.insert(method)
        for mutation in Frames.schema.mutations(of: result, as: "results/\(method)") {
          wrong += 1
          guard Frames.schema.fault(in: mutation, as: "results/\(method)") == nil else { continue }
          Issue.record("\(method): \(mutation.text.text.prefix(300)) passes")
        }
        // Without its method, the frame must at least match no method.
        for broken in Self.broken(frame) {
          wrong += 1
          #expect(
            Frames.schema.fault(in: broken) != nil, "\(method): \(broken.text.text.prefix(300))")
        }
      }
    }
    #expect(
      results > 150 && methods.count > 50 && wrong > 5_000, "\(results) \(methods.count) \(wrong)")
  }

  /// Returns variants of a frame that no method returns.
  private static func broken(_ frame: JSONObject) -> [JSONValue] {
    guard case .object(let result)? = frame["result"] else { return [] }
    var unknown = result
    unknown["unknown"] = .null
    let typed = ["seq", "sub", "version", "epoch", "kind"].filter { result[$0] != nil }
    let others = typed.map { name in
      var other = result
      other[name] = .array([])
      return other
    }
    return ([unknown] + others).map { result in
      var frame = frame
      frame["result"] = .object(result)
      return .object(frame)
    }
  }

  @Test
  func `every error occurs in a transcript`() {
    let text = Self.all.map { Files.text(of: "\(Self.directory)/\($0)") }.joined()
    for name in ErrorName.allCases {
      #expect(text.contains(#""name":"\#(name.rawValue)""#), "\(name.rawValue)")
    }
  }

  @Test
  func `the schema of each result agrees with rpc.discover`() throws {
    let daemon = try DaemonProcess()
    let client = try TestSocket(daemon.socket)
    _ = try client.result(
      #"{"id":1,"method":"hello","params":{"limits":{"line":1000000}}}"#)
    let document = try client.result(#"{"id":2,"method":"rpc.discover"}"#).resolved
    guard case .array(let methods)? = document["methods"] else {
      Issue.record("no methods")
      return
    }
    var names: Set<String> = []
    for case .object(let method) in methods {
      guard case .string(let name)? = method["name"], case .object(let result)? = method["result"]
      else { continue }
      names.insert(name)
      #expect(
        result["schema"] == Frames.schema.definition("#/$defs/results/" + name),
        "results/\(name) of server-frame.schema.json: \(result["schema"]?.text.text ?? "")")
    }
    guard case .object(let known) = Frames.schema.definition("#/$defs/results") else {
      Issue.record("no results")
      return
    }
    #expect(Set(known.members.map(\.name)) == names)
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
  func `transcripts exist`() {
    #expect(Self.all.count > 5)
  }

  @Test
  func `the request schema accepts all valid ids, and refuses most invalid ones`()
    throws
  {
    let requests = Schema(named: "client-frame.schema.json")
    let daemon = try DaemonProcess()
    let client = try TestSocket(daemon.socket, isRecorded: false)
    func check(_ id: String, isTaken: Bool, isKnown: Bool = true) throws {
      let line = #"{"id":"\#(id)","method":"ping"}"#
      #expect(try client.call(line).contains("result") == isTaken, "\(id)")
      let fault = requests.fault(in: try JSONValue(parsing: line))
      #expect((fault == nil) == (isTaken || !isKnown), "\(id)")
    }
    for (scalar, bytes) in [("x", 1), ("é", 2), ("漢", 3), ("😀", 4)] {
      let most = 128 / bytes
      try check(String(repeating: scalar, count: most), isTaken: true)
      try check(String(repeating: scalar, count: most + 1), isTaken: false)
    }
    let mixed = String(repeating: "xé", count: 42)
    try check(mixed + "xx", isTaken: true)
    try check(mixed + "xxx", isTaken: false, isKnown: false)
  }
}
