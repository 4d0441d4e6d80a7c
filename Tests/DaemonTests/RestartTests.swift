import Glibc
import JSON
import TestSupport
import Testing

/// Connections survive a restart and the death of the daemon, if a service manager holds the sockets.
///
/// `Protocol/transcripts/restart.txt` has the lines, and `HistoryTests` the guarantees under load.
struct RestartTests {
  /// The end of a daemon.
  enum End: String, CaseIterable {
    case restart
    case kill
  }

  private let daemon: ManagedDaemon

  init() throws {
    daemon = try ManagedDaemon()
  }

  private func connect() throws -> TestSocket { try TestSocket(daemon.socket) }

  /// Ends the daemon once the manager holds all clients, and waits for the next one.
  private func end(_ end: End, clients: [TestSocket]) throws {
    try self.end(end, stored: clients.count)
    guard end == .restart else { return }
    for client in clients {
      #expect(try client.line()?.contains(#""method":"stopping""#) == true)
    }
  }

  /// Ends the daemon once the manager holds a number of clients, which may be sent something before.
  private func end(_ end: End, stored count: Int) throws {
    try daemon.settle(clients: count)
    switch end {
    case .kill: try daemon.killAndWait()
    case .restart: try daemon.restart()
    }
  }

  @Test(arguments: End.allCases)
  func `a half-read line is completed after a restart`(how: End) throws {
    let client = try connect()
    try client.send(bytes: Array(#"{"id":1,"method":"cells.set","params":{"name":"#.utf8))
    try end(how, clients: [client])
    try client.send(bytes: Array("\"x\",\"value\":5}}\n".utf8))
    #expect(try client.line()?.contains(#""result":{"value":5,"seq":1"#) == true)
  }

  @Test(arguments: End.allCases)
  func `a view of the client's own text is shown again, and writes nothing again`(
    how: End
  ) throws {
    let client = try connect()
    let text =
      #"view \"A\" (n: text)\nb = 7\ncells/{n} <> value\ncells/b <~ b\ncells/r/* ~> rows"#
    _ = try client.call(
      #"{"id":1,"method":"open","params":{"text":"\#(text)","view":"v","args":{"n":"a"}}}"#)
    _ = try client.call(#"{"id":2,"method":"set","params":["cells/b",8]}"#)
    try end(how, clients: [client])
    var lines: [String] = []
    while !lines.contains(where: {
      $0.contains(#""rows":{"value":[]"#) || $0.contains(#""value":null"#)
    }) {
      lines.append(try #require(try client.line()))
    }
    try client.send(
      #"{"id":3,"method":"intent","params":{"view":"v","name":"value","args":{"value":5}}}"#,
      #"{"id":4,"method":"get","params":["cells/*"]}"#)
    while !lines.contains(where: { $0.contains(#""id":4"#) }) {
      lines.append(try #require(try client.line()))
    }
    #expect(lines.last?.contains(#"{"cells/a":5,"cells/b":8}"#) == true)
    #expect(lines.contains { $0.contains(#""value":{"value":5}"#) })
  }

  @Test(arguments: End.allCases)
  func `what a client has is charged to its user again`(how: End) throws {
    let client = try connect()
    func usage() throws -> JSONValue? {
      guard case .object(let usage)? = try client.result(#"{"id":9,"method":"stats"}"#)["usage"]
      else { return nil }
      return usage["memory_user"]
    }
    for (method, params) in [
      ("subscribe", #"{"source":"cells/**","pick":"/a/b"}"#),
      ("subscribe", #"{"source":"events","filter":{"types":["cells.set"],"streams":["cells/a"]}}"#),
      ("bind", #"{"expr":"(cells/a, cells/b) | sum ~> cells/c"}"#),
      ("provide", #"{"service":"lamp","methods":{"blink":{}}}"#),
    ] {
      let answer = try client.call(#"{"id":1,"method":"\#(method)","params":\#(params)}"#)
      #expect(answer.contains(#""result""#), "\(answer)")
    }
    let before = try usage()
    guard case .number(let bytes)? = before else {
      Issue.record("no usage")
      return
    }
    #expect((bytes.int64 ?? 0) > 15_000)
    try end(how, clients: [client])
    #expect(try usage() == before)
  }

  @Test(arguments: End.allCases)
  func `a client that reads late gets its output once and whole`(how: End) throws {
    let (reader, writer) = (try connect(), try connect())
    _ = try reader.call(
      #"{"id":1,"method":"subscribe","params":{"source":"events","sub":"e"}}"#)
    let text = String(repeating: "x", count: 8_000)
    // More than the socket takes, so that the daemon has a part of a line left.
    for i in 1...60 {
      _ = try writer.call(
        #"{"id":1,"method":"cells.set","params":{"name":"c\#(i)","value":"\#(text)"}}"#)
    }
    try daemon.settle(clients: 2)
    if how == .kill { try daemon.killAndWait() } else { try daemon.restart() }
    var seen: [Int] = []
    var isAnnounced = how == .kill
    while seen.count < 60 {
      guard let line = try reader.line(),
        case .object(let frame) = try JSONValue(parsing: line),
        case .object(let params)? = frame["params"]
      else { break }
      if frame["method"] == .string("stopping") { isAnnounced = true }
      if frame["method"] == .string("next"), case .number(let seq)? = params["seq"] {
        seen.append(Int(seq.int64 ?? 0))
      }
    }
    #expect(seen == Array(1...60))
    #expect(isAnnounced)
  }

  @Test(arguments: End.allCases)
  func `subscriptions of each kind go on without a gap or a repeat`(how: End) throws {
    let (watcher, writer) = (try connect(), try connect())
    let wanted = [
      // First, because it records an event.
      #""source":"events","sub":"durable","durable":"mail""#,
      #""source":"cells/a","sub":"state""#, #""source":"cells/**","sub":"pattern""#,
      #""source":"cells/a","sub":"every","mode":"every""#, #""source":"events","sub":"events""#,
      #""source":"lists/l","sub":"list""#, #""source":"maps/m","sub":"map""#,
      #""source":"cells/a","sub":"part","pick":"/n""#,
    ]
    for params in wanted {
      try watcher.send(#"{"id":1,"method":"subscribe","params":{\#(params)}}"#)
      // The reader of all events says when it has caught up.
      let end = params.contains("durable") ? "caught_up" : #""result""#
      while !(try #require(try watcher.line()).contains(end)) {}
    }
    var expected: [String: [Int]] = [:]
    var last = 0
    for round in 1...3 {
      let calls = [
        (
          "cells.set", #""name":"a","value":{"n":\#(round)}"#,
          ["state", "pattern", "every", "part"]
        ),
        ("lists.append", #""name":"l","value":\#(round)"#, ["list"]),
        ("maps.put", #""name":"m","key":"k","value":\#(round)"#, ["map"]),
      ]
      for (method, params, subs) in calls {
        let result = try writer.result(#"{"id":1,"method":"\#(method)","params":{\#(params)}}"#)
        guard case .number(let seq)? = result["seq"] else {
          Issue.record("\(result)")
          return
        }
        last = Int(seq.int64 ?? 0)
        for sub in subs + ["events", "durable"] { expected[sub, default: []].append(last) }
      }
      try collect(expected, watcher)
      try end(how, clients: [watcher, writer])
    }
    #expect(try watcher.result(#"{"id":9,"method":"sync"}"#)["seq"] != nil)
    #expect(watcher.isSilent())
  }

  /// Reads the notifications that are expected in a round, and compares them with all expected ones.
  private func collect(_ expected: [String: [Int]], _ client: TestSocket) throws {
    var seen: [String: [Int]] = [:]
    while seen.values.map(\.count).reduce(0, +) < 3 * 2 + 6 {
      guard case .object(let frame)? = try client.line().map({ try JSONValue(parsing: $0) }),
        case .object(let params)? = frame["params"], case .string(let sub)? = params["sub"],
        case .number(let seq)? = params["seq"]
      else {
        Issue.record("no notification")
        return
      }
      guard frame["method"] == .string("next") else { continue }
      #expect(params["skipped"] == nil)
      seen[sub, default: []].append(Int(seq.int64 ?? 0))
    }
    for (sub, seqs) in expected {
      let new = seqs.suffix(seen[sub]?.count ?? 0)
      #expect(seen[sub] == Array(new), "\(sub)")
    }
  }

  @Test
  func `a durable reader acknowledges what it has from before the restart`() throws {
    let reader = try connect()
    _ = try reader.result(
      #"{"id":1,"method":"subscribe","params":{"source":"events","sub":"d","durable":"mail","max_unacked":2}}"#
    )
    for i in 1...3 {
      try reader.send(#"{"id":\#(i),"method":"cells.set","params":["a",\#(i)]}"#)
    }
    var lines: [String] = []
    while !lines.contains(where: { $0.contains("paused") }) {
      lines.append(try #require(try reader.line()))
    }
    try end(.kill, clients: [reader])
    // Two are not acknowledged, so nothing more is sent.
    try reader.send(#"{"id":9,"method":"ack","params":{"sub":"d","seq":2}}"#)
    lines = []
    func read(to text: String) throws {
      while !lines.contains(where: { $0.contains(text) }) {
        lines.append(try #require(try reader.line()))
      }
    }
    // The event may be read by another thread.
    try read(to: #""id":9"#)
    try read(to: #""method":"next""#)
    try reader.send(#"{"id":10,"method":"ping"}"#)
    try read(to: #""id":10"#)
    let answer = lines.first { $0.contains(#""id":9"#) }
    #expect(answer?.contains(#""unacked":1"#) == true, "\(lines)")
    let sent = lines.filter { $0.contains(#""method":"next""#) }
    #expect(sent.count == 1 && sent[0].contains(#""sub":"d","seq":4"#), "\(lines)")
  }

  @Test(arguments: End.allCases)
  func `a worker finishes the event that it had, and nobody else gets it`(how: End) throws {
    let (one, two, writer) = (try connect(), try connect(), try connect())
    for worker in [one, two] {
      _ = try worker.result(
        #"{"id":1,"method":"subscribe","params":{"source":"events","sub":"w","durable":"jobs","share":true,"filter":{"types":["cells.*"]}}}"#
      )
    }
    _ = try writer.result(#"{"id":1,"method":"cells.set","params":["a",1]}"#)
    let seq = try #require(try Self.seq(one.line()))
    #expect(two.isSilent())
    try end(how, clients: [one, two, writer])
    #expect(two.isSilent())
    let result = try one.result(#"{"id":2,"method":"ack","params":{"sub":"w","seq":\#(seq)}}"#)
    #expect(result["unacked"] == .number(JSONNumber(0)), "\(result)")
    _ = try writer.result(#"{"id":2,"method":"cells.set","params":["a",2]}"#)
    var workers: [TestSocket] = []
    #expect(
      holds {
        workers = [one, two].filter { !$0.isSilent(for: 0) }
        return !workers.isEmpty
      })
    // Nor does the other one get it later.
    #expect(workers.count == 1 && [one, two].count { !$0.isSilent() } == 1)
  }

  private static func seq(_ line: String?) throws -> Int? {
    guard case .object(let frame)? = try line.map({ try JSONValue(parsing: $0) }),
      case .object(let params)? = frame["params"], case .number(let seq)? = params["seq"]
    else { return nil }
    return Int(seq.int64 ?? 0)
  }

  @Test(arguments: End.allCases)
  func `a login, a lease, a lock and a binding of the connection stay`(how: End) throws {
    let client = try connect()
    _ = try client.result(#"{"id":1,"method":"users.log_in","params":{"name":"kim"}}"#)
    _ = try client.result(
      #"{"id":2,"method":"cells.set","params":{"name":"here","value":true,"_meta":{"lease":"connection"}}}"#
    )
    let lock = try client.result(#"{"id":3,"method":"locks.acquire","params":{"name":"door"}}"#)
    _ = try client.result(
      #"{"id":4,"method":"bind","params":{"expr":"cells/a ~> cells/b","binding":"b"}}"#)
    try end(how, clients: [client])
    #expect(
      try client.result(#"{"id":5,"method":"users.whoami"}"#)["value"]?.text.text.contains("kim")
        == true)
    let again = try client.result(#"{"id":6,"method":"locks.acquire","params":{"name":"door"}}"#)
    #expect(again["value"] == lock["value"])
    _ = try client.result(#"{"id":7,"method":"cells.set","params":["a",7]}"#)
    let value = try client.result(
      #"{"id":8,"method":"wait","params":{"source":"cells/b","op":"==","value":7}}"#)
    #expect(value["value"] == .number(JSONNumber(7)))
    // The lease ends with the connection, as before.
    client.close()
    let other = try connect()
    let gone = try other.result(
      #"{"id":1,"method":"wait","params":{"source":"cells/here","op":"exists","value":false}}"#)
    #expect(gone["gone"] == .bool(true))
  }

  @Test(arguments: End.allCases)
  func `a provider answers the queued call that it had, once`(how: End) throws {
    let (provider, caller) = (try connect(), try connect())
    _ = try provider.result(
      #"{"id":1,"method":"provide","params":{"service":"lamp","methods":{"blink":{"delivery":"queued"},"ask":{}}}}"#
    )
    let seq = try caller.result(#"{"id":1,"method":"lamp.blink","params":{"times":3}}"#)["value"]
    let call = try #require(try provider.line())
    #expect(call.contains(#""call":"q\#(seq?.text.text ?? "")""#), "\(call)")
    // A direct call of the earlier daemon must not be taken for one of the next.
    try caller.send(#"{"id":2,"method":"lamp.ask"}"#)
    let asked = try #require(try provider.line())
    #expect(asked.contains(#""call":"c1""#))
    _ = try provider.result(#"{"id":2,"method":"reply","params":{"call":"c1","value":1}}"#)
    _ = try caller.line()
    try end(how, clients: [provider, caller])
    #expect(provider.isSilent())
    let reply = try provider.result(
      #"{"id":3,"method":"reply","params":{"call":"q\#(seq?.text.text ?? "")","value":3}}"#)
    #expect(reply["call"] != nil, "\(reply)")
    try caller.send(#"{"id":3,"method":"lamp.ask"}"#)
    #expect(try provider.line()?.contains(#""call":"c1000000000001""#) == true)
  }

  @Test(arguments: End.allCases)
  func `live values of others are gone, those of providers that stay are not`(how: End) throws {
    let (watcher, provider) = (try connect(), try connect())
    _ = try watcher.result(
      #"{"id":1,"method":"subscribe","params":{"source":"live/**","sub":"l"}}"#)
    _ = try watcher.result(
      #"{"id":2,"method":"subscribe","params":{"source":"providers/*","sub":"p"}}"#)
    _ = try provider.result(
      #"{"id":1,"method":"publish","params":{"source":"door/open","value":true}}"#)
    #expect(try watcher.line()?.contains(#""source":"live/door/open","value":true"#) == true)
    _ = try provider.result(
      #"{"id":2,"method":"provide","params":{"service":"door","methods":{}}}"#)
    #expect(try watcher.line()?.contains("providers/door") == true)
    try end(how, clients: [watcher, provider])
    let lines = [try watcher.line() ?? "", try watcher.line() ?? ""]
    #expect(
      lines.contains { $0.contains(#""sub":"l","source":"live/door/open","gone":true"#) },
      "\(lines)")
    #expect(lines.contains { $0.contains(#""source":"providers/door","value""#) }, "\(lines)")
  }

  /// The part changes, and then the rest of the value: the change of the part was not sent yet.
  @Test(arguments: End.allCases)
  func `a part of a value that was not sent comes after a restart`(how: End) throws {
    let (watcher, writer) = (try connect(), try connect())
    _ = try watcher.result(
      #"{"id":1,"method":"subscribe","params":{"source":"cells/*","sub":"p","pick":"/p","min_interval_ms":2000}}"#
    )
    func set(_ id: Int, _ value: String) throws {
      _ = try writer.result(#"{"id":\#(id),"method":"cells.set","params":["a",\#(value)]}"#)
    }
    try set(1, #"{"p":0,"q":0}"#)
    #expect(try watcher.line()?.contains(#""value":0"#) == true)
    try set(2, #"{"p":1,"q":0}"#)
    try set(3, #"{"p":1,"q":1}"#)
    try end(how, stored: 2)
    while try #require(try watcher.line()).contains(#""value":1"#) == false {}
  }

  @Test(arguments: End.allCases)
  func `a live value that was not sent brings no old values again`(how: End) throws {
    let (watcher, writer) = (try connect(), try connect())
    _ = try writer.result(#"{"id":1,"method":"cells.set","params":["old",1]}"#)
    _ = try watcher.result(
      #"{"id":1,"method":"subscribe","params":{"source":"**","sub":"all","min_interval_ms":2000}}"#)
    _ = try writer.result(
      #"{"id":2,"method":"publish","params":{"source":"door/a","value":1}}"#)
    #expect(try watcher.line()?.contains("live/door/a") == true)
    _ = try writer.result(
      #"{"id":3,"method":"publish","params":{"source":"door/b","value":1}}"#)
    try end(how, stored: 2)
    try writer.send(#"{"id":4,"method":"cells.set","params":["new",2]}"#)
    var lines: [String] = []
    repeat {
      lines.append(try #require(try watcher.line()))
    } while lines.last?.contains("cells/new") != true
    #expect(!lines.contains { $0.contains("cells/old") }, "\(lines)")
  }

  @Test(arguments: End.allCases)
  func `views keep their handles, their place and what was searched`(how: End) throws {
    let client = try connect()
    _ = try client.result(#"{"id":1,"method":"open","params":{"binder":"chat","view":"c"}}"#)
    var lines = [try client.line() ?? ""]
    #expect(lines[0].contains(#""view":"c.1""#) && lines[0].contains(#""binder":"login""#))
    try client.send(
      #"{"id":2,"method":"intent","params":{"view":"c.1","name":"log_in","args":{"name":"kim"}}}"#)
    // The answer, the closed login, then the main view and its tabs.
    while !lines.contains(where: { $0.contains(#""binder":"profile""#) }) {
      lines.append(try #require(try client.line()))
    }
    let rooms = try #require(Self.view(in: lines, of: "rooms"))
    try client.send(
      #"{"id":3,"method":"intent","params":{"view":"\#(rooms)","name":"create","args":{"name":"lobby"}}}"#
    )
    try client.send(
      #"{"id":4,"method":"intent","params":{"view":"\#(rooms)","name":"enter","args":{"id":1}}}"#)
    while !lines.contains(where: { $0.contains(#""binder":"room""#) }) {
      lines.append(try #require(try client.line()))
    }
    let room = try #require(Self.view(in: lines, of: "room"))
    try client.send(#"{"id":5,"method":"sync"}"#)
    while !(try #require(try client.line()).contains(#""id":5"#)) {}
    while !client.isSilent(for: 300) { _ = try client.line() }
    try end(how, clients: [client])
    // Each view gets its content again, and no view is opened or closed.
    var views: Set<String> = []
    while !views.isSuperset(of: ["c", rooms, room]) || !client.isSilent(for: 300) {
      let line = try #require(try client.line(), "\(views)")
      #expect(line.contains(#""method":"next""#), "\(line)")
      if let view = line.split(separator: "\"view\":\"").last?.prefix(while: { $0 != "\"" }) {
        views.insert(String(view))
      }
    }
    try client.send(
      #"{"id":6,"method":"intent","params":{"view":"\#(room)","name":"send","args":{"text":"hi"}}}"#
    )
    var told = ""
    while !told.contains(#""text":"hi""#) { told = try #require(try client.line()) }
    #expect(told.contains(#""view":"\#(room)""#), "\(told)")
  }

  /// Returns the handle of the view that a binder has opened.
  private static func view(in lines: [String], of binder: String) -> String? {
    guard
      let line = lines.last(where: { $0.contains(#""opened""#) && $0.contains("\"\(binder)\"") }),
      case .object(let frame)? = try? JSONValue(parsing: line),
      case .object(let params)? = frame["params"], case .string(let view)? = params["view"]
    else { return nil }
    return view
  }

  // MARK: Gateways

  /// A configuration in which this user's programs act for a user, who may use `cells/a/**`.
  private static func gateway(_ names: String = #""tester@example.org":61001"#) -> String {
    """
    {"gateways":[{"user":\(getuid()),"names":{\(names)}}],
     "roles":[{"name":"staff","users":[61001,61002],"methods":["**"],
       "read":["cells/a/**"],"write":["cells/a/**"]}]}
    """
  }

  private static let actAs =
    #"{"id":1,"method":"act_as","params":{"name":"tester@example.org"}}"#

  @Test(arguments: End.allCases)
  func `15: a gateway's connection acts for its user, and never for the gateway`(how: End) throws {
    let daemon = try ManagedDaemon(configuration: Self.gateway())
    let client = try TestSocket(daemon.socket)
    _ = try client.result(Self.actAs)
    _ = try client.result(#"{"id":2,"method":"subscribe","params":{"source":"cells/a/**"}}"#)
    for round in 1...2 {
      try daemon.settle(clients: 1)
      if how == .kill { try daemon.killAndWait() } else { try daemon.restart() }
      if how == .restart { #expect(try client.line()?.contains("stopping") == true) }
      let peer = try client.result(#"{"id":3,"method":"whoami"}"#)
      #expect(peer["uid"] == .number(JSONNumber(61001)) && peer["role"] == .string("staff"))
      #expect(
        try client.call(#"{"id":4,"method":"cells.set","params":["z",1]}"#).contains("not_found"))
      _ = try client.result(#"{"id":5,"method":"cells.set","params":["a/b",\#(round)]}"#)
      #expect(try client.line()?.contains(#""source":"cells/a/b""#) == true)
    }
  }

  @Test(arguments: ["", #""tester@example.org":61002"#, #""tester@example.org":61003"#])
  func `a gateway's connection is closed if its user is another one or has no role`(
    names: String
  ) throws {
    let daemon = try ManagedDaemon(configuration: Self.gateway())
    let (client, other) = (try TestSocket(daemon.socket), try TestSocket(daemon.socket))
    _ = try client.result(Self.actAs)
    _ = try other.result(#"{"id":1,"method":"ping"}"#)
    try daemon.settle(clients: 2)
    Files.write(Self.gateway(names), to: daemon.configuration)
    try daemon.killAndWait()
    #expect(try client.line()?.contains(#""closing","params":{"reason":"restart""#) == true)
    #expect(try client.line() == nil)
    #expect(
      holds {
        daemon.log.contains("cannot go on: it acts for") || daemon.log.contains("another user")
      })
    #expect(try other.result(#"{"id":2,"method":"ping"}"#)["last"] != nil)
  }

  // MARK: An orderly stop

  @Test
  func `what timers of bindings write during a stop reaches the clients that go on`() throws {
    let (watcher, client) = (try connect(), try connect())
    _ = try watcher.result(#"{"id":1,"method":"subscribe","params":{"source":"events"}}"#)
    for i in 0..<40 {
      _ = try client.result(
        #"{"id":1,"method":"bind","params":{"expr":"cells/a | delay(\#(100 + 3 * i)ms) ~> cells/b\#(i)","binding":"b\#(i)","scope":"daemon"}}"#
      )
    }
    try daemon.settle(clients: 2)
    var seqs: [Int] = []
    /// Reads events up to a line that contains a text.
    func read(to text: String) throws {
      var line = ""
      repeat {
        line = try #require(try watcher.line())
        if line.contains(#""method":"next""#), let seq = try Self.seq(line) { seqs.append(seq) }
      } while !line.contains(text)
    }
    for round in 1...12 {
      _ = try client.result(#"{"id":2,"method":"cells.set","params":["a",\#(round)]}"#)
      // The other timers fire while the daemon stops.
      try read(to: #""stream":"cells/b0""#)
      try daemon.restart()
      #expect(try client.line()?.contains("stopping") == true)
      let last = try #require(try client.result(#"{"id":4,"method":"ping"}"#)["last"]).text.text
      try watcher.send(#"{"id":3,"method":"sync","params":{"seq":\#(last)}}"#)
      try read(to: #""id":3"#)
      #expect(seqs.last ?? 0 >= Int(last) ?? 0)
    }
    let first = seqs.first ?? 0
    #expect(seqs == Array(first..<first + seqs.count), "no gap")
  }

  @Test
  func `a client that was closed has its socket ended, and the manager keeps nothing`() throws {
    let (client, owner) = (try connect(), try connect())
    let hello = try client.result(#"{"id":1,"method":"hello"}"#)
    _ = try client.result(#"{"id":2,"method":"subscribe","params":{"source":"cells/a"}}"#)
    #expect(daemon.waitForStored(clients: 2))
    _ = try owner.result(
      #"{"id":1,"method":"kick","params":{"conn":\#(hello["conn"]?.text.text ?? "")}}"#)
    #expect(try client.line()?.contains(#""reason":"kicked""#) == true)
    #expect(try client.line() == nil)
    #expect(daemon.waitForStored(clients: 1), "\(daemon.stored)")
    owner.close()
    #expect(daemon.waitForStored(clients: 0), "\(daemon.stored)")
    #expect(daemon.stored.count == 1, "the memory: \(daemon.stored)")
  }

  @Test
  func `a client that leaves while the daemon is down is forgotten, with its lease`() throws {
    let (client, other) = (try connect(), try connect())
    _ = try client.result(
      #"{"id":1,"method":"cells.set","params":{"name":"here","value":true,"_meta":{"lease":"connection"}}}"#
    )
    _ = try other.result(#"{"id":1,"method":"subscribe","params":{"source":"cells/here"}}"#)
    #expect(daemon.waitForStored(clients: 2))
    kill(daemon.daemon, SIGSTOP)
    client.close()
    try daemon.killAndWait()
    #expect(try other.line()?.contains(#""gone":true"#) == true)
    #expect(daemon.waitForStored(clients: 1), "\(daemon.stored)")
  }

  @Test
  func `without room in the store a client is warned, and its connection ends`() throws {
    let small = try ManagedDaemon(store: 2)
    let (kept, other) = (try TestSocket(small.socket), try TestSocket(small.socket))
    for client in [kept, other] {
      _ = try client.result(#"{"id":1,"method":"subscribe","params":{"source":"cells/a"}}"#)
    }
    #expect(small.waitForStored(clients: 1))
    try small.restart()
    for client in [kept, other] {
      #expect(try client.line()?.contains(#""method":"stopping""#) == true)
    }
    #expect(try other.line() == nil)
    #expect(try kept.result(#"{"id":2,"method":"ping"}"#)["last"] != nil)
  }

  @Test
  func `a manager that stores nothing changes nothing`() throws {
    let plain = try ManagedDaemon(store: 0)
    let client = try TestSocket(plain.socket)
    _ = try client.result(#"{"id":1,"method":"subscribe","params":{"source":"cells/a"}}"#)
    try plain.restart()
    #expect(try client.line()?.contains(#""reason":"shutdown""#) == true)
    #expect(try client.line() == nil)
    #expect(plain.stored.isEmpty)
  }
}
