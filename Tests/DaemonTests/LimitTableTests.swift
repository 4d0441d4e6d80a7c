import Glibc
import JSON
import TestSupport
import Testing
import Wire

/// The real daemon shows and enforces every limit; a violation names it and its maximum.
struct LimitTableTests {
  private static let limits: [(LimitName, Int)] = [
    (.lineIn, 1_000_000), (.lineOut, 4_096), (.lineOutMax, 8_192), (.flood, 4_000), (.batch, 2),
    (.atomic, 10_000), (.subscriptions, 1), (.views, 1), (.bindings, 1), (.filterCost, 1),
    (.inFlight, 1), (.allInFlight, 2), (.held, 1), (.outputSoft, 1_024), (.outputHard, 6_000),
    (.memoryPerUser, 70_000), (.journalRatePerUser, 2_000_000),
    (.journalBurstPerUser, 3_000_000), (.diskReserve, 1), (.state, 1_500_000),
    (.statePerUser, 1_200_000), (.connections, 12), (.connectionsPerUser, 1),
    (.partialLine, 30_000), (.stall, 300), (.call, 30_000),
    (.leaseGrace, 6_000), (.leasesPerUser, 9), (.locksPerUser, 8), (.providersPerUser, 7),
    (.queuedPerUser, 6), (.badLines, 3), (.commandBytes, 4), (.idBytes, 4),
  ]

  private let place: TemporaryDirectory
  private let daemon: DaemonProcess

  init() throws {
    place = try TemporaryDirectory()
    chmod(place.path, 0o755)
    Self.configure(place)
    daemon = try DaemonProcess(["--config", place.path + "/binder.conf"], in: place.path)
  }

  /// Writes the configuration.
  ///
  /// - Parameter short: Limits of time that other requests reach on a busy machine.
  private static func configure(_ place: TemporaryDirectory, short: [LimitName: Int] = [:]) {
    let members = limits.map { name, max in #""\#(name.rawValue)":\#(short[name] ?? max)"# }
    Files.write(
      #"{"socket_mode":"0666","limits":{\#(members.joined(separator: ","))},"#
        + #""roles":[{"name":"panel","users":[4001],"methods":["**"]}]}"#,
      to: place.path + "/binder.conf")
  }

  /// Lowers a limit of the running daemon.
  private func shorten(_ name: LimitName, to max: Int) throws {
    Self.configure(place, short: [name: max])
    let owner = try TestSocket(daemon.socket)
    defer { owner.close() }
    #expect(try owner.call(#"{"id":1,"method":"reload"}"#).contains(#""changed":["limits"]"#))
  }

  /// Checks that the error of the last line, or `closing`, names the limit and its maximum.
  private func expect(_ name: LimitName, _ max: Int, _ line: String?) {
    #expect(line?.contains(#""limit":"\#(name.rawValue)","max":\#(max)"#) == true, "\(line ?? "-")")
  }

  private func call(_ method: String, _ params: String) -> String {
    #"{"id":1,"method":"\#(method)","params":\#(params)}"#
  }

  /// Returns lines of which the last violates a limit.
  private func lines(_ name: LimitName) -> [String]? {
    func call(_ method: String, _ params: String) -> String {
      #"{"id":1,"method":"\#(method)","params":\#(params)}"#
    }
    func text(_ count: Int) -> String { String(repeating: "x", count: count) }
    func many(_ count: Int, _ element: String) -> String {
      "[" + [String](repeating: element, count: count).joined(separator: ",") + "]"
    }
    let toggle = #"{"method":"cells.toggle","params":["a"]}"#
    return switch name {
    case .lineIn: [text(1_000_001)]
    case .lineOut:
      [call("set", "[\"cells/out/a\",\"\(text(4_000))\"]"), call("get", #"["cells/out/**"]"#)]
    case .lineOutMax:
      [
        call("hello", #"{"limits":{"line":1000000}}"#),
        call("set", "[\"cells/max/a\",\"\(text(8_000))\"]"), call("get", #"["cells/max/**"]"#),
      ]
    case .depth: [String(repeating: "[", count: 65)]
    case .members:
      [call("ping", "{" + (0..<4_097).map { #""\#($0)":0"# }.joined(separator: ",") + "}")]
    case .batch: [many(3, #"{"id":1}"#)]
    case .atomic: [call("atomic", "[\(many(10_001, toggle))]")]
    case .call: [call("atomic", "[\(many(10_000, toggle))]")]
    case .subscriptions: [String](repeating: call("subscribe", #"["cells/a"]"#), count: 2)
    case .views: [String](repeating: call("open", #"["system"]"#), count: 2)
    case .bindings:
      [call("bind", #"["cells/a ~> cells/b"]"#), call("bind", #"["cells/c ~> cells/d"]"#)]
    case .commandBytes: [call("cells.set", #"{"name":"a","value":1,"_meta":{"cmd":"12345"}}"#)]
    case .idBytes: [#"{"id":"12345","method":"ping"}"#]
    default: nil
    }
  }

  private let wait = #"{"id":1,"method":"wait","params":{"source":"cells/never"}}"#

  @Test
  func `every limit can be set and is shown`() throws {
    let client = try TestSocket(daemon.socket)
    for method in ["hello", "stats"] {
      guard
        case .object(let shown)? = try client.result(#"{"id":1,"method":"\#(method)"}"#)["limits"]
      else {
        Issue.record("\(method) shows no limits")
        continue
      }
      #expect(shown.members.count == LimitName.allCases.count)
      for (name, max) in Self.limits {
        #expect(shown[name.rawValue] == .number(JSONNumber(max)), "\(name.rawValue)")
      }
    }
  }

  @Test
  func `a line over a limit is answered with the name of the limit`() throws {
    var names: [LimitName] = []
    for name in LimitName.allCases.filter({ $0 != .call }) + [.call] {
      guard let lines = lines(name) else { continue }
      var max = Self.limits.first { $0.0 == name }?.1 ?? Limits()[name]
      if name == .call {
        max = 20
        try shorten(.call, to: max)
      }
      let client = try TestSocket(daemon.socket, isRecorded: false)
      for line in lines.dropLast() {
        let answer = try client.call(line)
        #expect(errorName(answer) == nil, "\(answer)")
      }
      let answer = try client.call(lines[lines.count - 1])
      // A client with a larger line limit gets its own limit in the error.
      expect(name == .lineOutMax ? .lineOut : name, max, in: error(answer), answer)
      // The connection stays usable.
      #expect(try client.call(#"{"id":2,"method":"ping"}"#).contains(#""id":2,"result""#))
      client.close()
      names.append(name)
    }
    #expect(names.count == 13)
  }

  @Test
  func `too many requests in flight are refused`() throws {
    let clients = try (0..<3).map { _ in try TestSocket(daemon.socket) }
    try clients[0].send(wait, wait)
    try expect(.inFlight, 1, inNextOf: clients[0])
    try clients[1].send(wait)
    _ = try clients[1].call(#"{"id":2,"method":"ping"}"#)
    try clients[2].send(wait)
    try expect(.allInFlight, 2, inNextOf: clients[2])
  }

  @Test
  func `the last line before a disconnect names the exceeded limit`() throws {
    func lastLine(_ sent: [UInt8]) throws -> String? {
      let client = try TestSocket(daemon.socket, isRecorded: false)
      // The daemon may disconnect before it has read all.
      try? client.send(bytes: sent)
      return try client.lines().last
    }
    let cases: [(LimitName, Int, [UInt8])] = [
      (.badLines, 3, Array("1\n1\n1\n".utf8)),
      (.flood, 4_000, [UInt8](repeating: 0x78, count: 1_100_000)),
      (.partialLine, 300, Array("{".utf8)),
    ]
    for (name, max, sent) in cases {
      if name == .partialLine { try shorten(name, to: max) }
      let line = try lastLine(sent)
      expect(name, max, in: closing(line), line)
    }
    var clients: [TestSocket] = []
    for _ in 0..<12 { clients.append(try TestSocket(daemon.socket)) }
    for client in clients { _ = try client.call(#"{"id":2,"method":"ping"}"#) }
    let line = try lastLine([])
    expect(.connections, 12, in: closing(line), line)
  }

  @Test(.enabled(if: getuid() == 0, "only root can become other users"))
  func `the number of connections of a user is limited`() throws {
    let first = try OtherUser(uid: 4001, groups: [], socket: daemon.socket)
    #expect(first.call(#"{"id":2,"method":"ping"}"#)?.contains("result") == true)
    let line = try OtherUser(uid: 4001, groups: [], socket: daemon.socket).line()
    expect(.connectionsPerUser, 1, in: closing(line), line)
  }

  @Test
  func `a client that does not read is disconnected, by bytes or by time`() throws {
    let client = try TestSocket(daemon.socket)
    _ = try client.call(
      #"{"id":1,"method":"set","params":["cells/a","\#(String(repeating: "x", count: 3_000))"]}"#)
    let get = #"{"id":1,"method":"get","params":["cells/a"]}"#
    // A batch is answered at once whatever is queued; single answers wait for the client to read.
    for line in ["[\(get),\(get)]", get] {
      let deaf = try TestSocket(daemon.socket, isRecorded: false)
      _ = try deaf.call(get)
      let bytes = Array((line + "\n").utf8)
      var isOpen = true
      for _ in 0..<20_000 where isOpen {
        if deaf.sendNow(bytes) < bytes.count { usleep(1_000) }
        guard case .object(let stats)? = try client.result(#"{"id":1,"method":"stats"}"#)["stats"]
        else { break }
        isOpen = stats["connections"] != .number(JSONNumber(1))
      }
      #expect(!isOpen, "\(line)")
    }
  }

  // MARK: Expectations

  private func closing(_ line: String?) -> JSONObject? {
    guard let line, case .object(let frame)? = try? JSONValue(parsing: line),
      case .object(let params)? = frame["params"]
    else { return nil }
    return params
  }

  private func expect(_ name: LimitName, _ max: Int, inNextOf client: TestSocket) throws {
    let line = try client.line()
    expect(name, max, in: error(line), line)
  }

  private func expect(_ name: LimitName, _ max: Int, in data: JSONObject?, _ line: String?) {
    #expect(data?["limit"] == .string(name.rawValue), "\(line ?? "nothing") for \(name.rawValue)")
    #expect(data?["max"] == .number(JSONNumber(max)), "\(name.rawValue)")
  }
}
