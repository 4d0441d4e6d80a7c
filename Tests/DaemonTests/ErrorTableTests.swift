import Glibc
import JSON
import TestSupport
import Testing
import Wire

/// The real daemon returns every error of the table, with the documented data.
struct ErrorTableTests {
  private static let configuration = """
    { "socket_mode": "0666",
      "roles": [{ "name": "panel", "users": [4001], "methods": ["**"], "read": ["cells/lamp"] }],
      "limits": { "line_in": 2000, "line_out": 1024, "batch": 2, "subs": 2, "filter": 1, "inflight": 2,
        "inflight_all": 2 } }
    """

  /// Checks an error against its row of the table.
  private func check(_ line: String?, _ name: ErrorName) throws {
    guard let line, case .object(let frame) = try JSONValue(parsing: line),
      case .object(let error)? = frame["error"], case .object(let data)? = error["data"]
    else {
      Issue.record("\(name.rawValue) was wanted: \(line ?? "the end")")
      return
    }
    #expect(data["name"] == .string(name.rawValue), "\(line)")
    #expect(error["code"] == .number(JSONNumber(name.code)))
    #expect(data["retry"] == .bool(name.row.retry))
    #expect(error["message"] != .string(""))
    let members = Set(data.members.map(\.name)).subtracting(["name", "retry"])
    #expect(members.isSuperset(of: name.row.data), "\(line)")
    #expect(members.subtracting(name.row.data).isSubset(of: name.row.optional), "\(line)")
  }

  /// Returns lines of which the last is answered with the error.
  private static func lines(_ name: ErrorName) -> [String]? {
    func call(_ method: String, _ params: String) -> String {
      #"{"id":1,"method":"\#(method)","params":\#(params)}"#
    }
    switch name {
    case .parseError: return [#"{"id":1"#]
    case .invalidRequest: return ["1"]
    case .methodNotFound: return [call("cells.sett", "{}")]
    case .invalidParams: return [call("cells.set", #"{"name":"a"}"#)]
    case .lineTooLong: return [String(repeating: "x", count: 2_001)]
    case .limitReached:
      return [String](repeating: call("subscribe", #"["cells/a"]"#), count: 3)
    case .unsupported: return [call("hello", #"{"protocol":[9]}"#)]
    case .resultTooLarge:
      return [
        call("cells.set", "[\"big\",\"\(String(repeating: "x", count: 1_500))\"]"),
        call("get", #"["cells/**"]"#),
      ]
    case .rejected: return [call("cells.set", #"["a","x"]"#), call("cells.add", #"["a"]"#)]
    case .notFound: return [call("get", #"["cellar/a"]"#)]
    case .alreadyExists:
      return [String](repeating: call("subscribe", #"{"source":"cells/a","sub":"s"}"#), count: 2)
    case .conflict:
      return [
        call("cells.set", #"{"name":"never","value":1,"_meta":{"expect":{"cells/never":7}}}"#)
      ]
    case .cmdReused:
      return [
        call("cells.set", #"{"name":"a","value":1,"_meta":{"cmd":"c"}}"#),
        call("cells.set", #"{"name":"a","value":2,"_meta":{"cmd":"c"}}"#),
      ]
    case .seqExpired:
      return [
        call("cells.set", #"["a",1]"#), call("cells.set", #"["a",2]"#),
        call("journal.compact", #"{"before":{"seq":2}}"#),
        call("subscribe", #"{"source":"events","from":{"after":0}}"#),
      ]
    case .seqFuture: return [call("sync", "[1000000]")]
    case .epochMismatch: return [call("subscribe", #"{"source":"events","epoch":"another"}"#)]
    case .notBindable: return [call("bind", #"["cells/a <> cells/b | round(1)"]"#)]
    case .bindingCycle:
      return [call("bind", #"["cells/a ~> cells/b"]"#), call("bind", #"["cells/b ~> cells/a"]"#)]
    case .tooExpensive:
      return [call("subscribe", #"{"source":"events","filter":{"types":["a","b"]}}"#)]
    case .timeout:
      return [call("wait", #"{"source":"cells/never","_meta":{"timeout_ms":5}}"#)]
    case .internalError, .overloaded, .batchTooLarge, .permissionDenied, .shuttingDown, .readOnly,
      .cancelled, .unavailable:
      return nil  // these need more than lines; see the tests
    }
  }

  private let place: TemporaryDirectory
  private let daemon: DaemonProcess

  init() throws {
    place = try TemporaryDirectory()
    chmod(place.path, 0o755)
    Files.write(Self.configuration, to: place.path + "/binder.conf")
    daemon = try DaemonProcess(["--config", place.path + "/binder.conf"], in: place.path)
  }

  private let wait = #"{"id":1,"method":"wait","params":{"source":"cells/never"}}"#

  @Test
  func `every error of the table has its documented data`() throws {
    var missing = Set(ErrorName.allCases)
    func expect(_ name: ErrorName, _ line: String?) throws {
      try check(line, name)
      missing.remove(name)
    }
    for name in ErrorName.allCases {
      guard let lines = Self.lines(name) else { continue }
      let client = try TestSocket(daemon.socket, isRecorded: false)
      for line in lines.dropLast() { _ = try client.call(line) }
      try expect(name, client.call(lines[lines.count - 1]))
      client.close()
    }

    let provider = try TestSocket(daemon.socket)
    _ = try provider.call(
      #"{"id":1,"method":"provide","params":{"service":"lamp","methods":{"blink":{}}}}"#)
    provider.close()

    let client = try TestSocket(daemon.socket, isRecorded: false)
    try expect(.unavailable, client.call(#"{"id":1,"method":"lamp.blink"}"#))
    try expect(.batchTooLarge, client.call(#"[{"id":1},{"id":2},{"id":3}]"#))
    try client.send(wait, #"{"id":2,"method":"cancel","params":[1]}"#)
    try expect(.cancelled, client.line())
    #expect(try client.line()?.contains(#""was":"active""#) == true)

    // One call more than the limit for all clients together.
    let crowd = [try TestSocket(daemon.socket), try TestSocket(daemon.socket)]
    for other in crowd {
      try other.send(wait)
      // Its answer shows that the wait has begun.
      #expect(try other.call(#"{"id":2,"method":"ping"}"#).contains(#""id":2,"result""#))
    }
    var answer: String?
    for _ in 0..<1_000 where answer == nil {
      try client.send(
        #"{"id":1,"method":"wait","params":{"source":"cells/never","_meta":{"timeout_ms":1}}}"#)
      if let line = try client.line(), line.contains("overloaded") { answer = line }
    }
    try expect(.overloaded, answer)

    if getuid() == 0 {
      let panel = try OtherUser(uid: 4001, groups: [], socket: daemon.socket)
      try expect(
        .permissionDenied,
        panel.call(#"{"id":1,"method":"cells.set","params":["lamp",true]}"#))
    } else {
      missing.remove(.permissionDenied)
    }

    // A pending wait does not delay the shutdown.
    kill(daemon.pid, SIGTERM)
    for other in crowd { try expect(.shuttingDown, other.line()) }
    #expect(daemon.waitForEnd() == 0)

    _ = try daemon.sqlite("UPDATE event SET data = '{}' WHERE seq = (SELECT max(seq) FROM event)")
    try daemon.start(["--config", place.path + "/binder.conf", "--read-only"])
    let reader = try TestSocket(daemon.socket)
    try expect(.readOnly, reader.call(#"{"id":1,"method":"cells.set","params":["a",1]}"#))
    var after = 0
    var line = ""
    while !line.contains("internal_error"), after < 100 {
      line = try reader.call(
        #"{"id":1,"method":"history","params":{"source":"events","after":\#(after),"limit":1}}"#)
      after += 1
    }
    try expect(.internalError, line)
    #expect(missing.isEmpty)
  }
}
