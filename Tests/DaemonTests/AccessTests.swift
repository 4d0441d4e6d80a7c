import Glibc
import JSON
import TestSupport
import Testing

/// Access: roles, rights and their configuration file.
///
/// The clients run as other users, which needs root.
@Suite(.serialized, .enabled(if: getuid() == 0, "only root can become other users"))
struct AccessTests {
  /// A daemon with a world-accessible socket, and its configuration.
  private final class Guarded {
    let directory: TemporaryDirectory
    let daemon: DaemonProcess

    init(_ roles: String) throws {
      directory = try TemporaryDirectory()
      chmod(directory.path, 0o755)
      Files.write(Self.text(roles), to: directory.path + "/binder.conf")
      daemon = try DaemonProcess(
        ["--config", directory.path + "/binder.conf"], in: directory.path)
    }

    private static func text(_ members: String) -> String {
      "{ \"socket_mode\": \"0666\", // for everybody\n \(members) }\n"
    }

    /// Replaces the file without a reload.
    func configure(_ members: String) {
      Files.write(Self.text(members), to: directory.path + "/binder.conf")
    }

    /// Connects a client of another user.
    func client(uid: uid_t, groups: [gid_t] = []) throws -> OtherUser {
      try OtherUser(uid: uid, groups: groups, socket: daemon.socket)
    }

    func logs(_ text: String) -> Bool { daemon.logs(text) }
  }

  private static let panel = """
    "roles": [
      { "name": "panel", "users": [4001], "groups": [4900],
        "methods": ["cells.set"], "read": ["cells/lamp"], "write": ["cells/lamp"] }
    ]
    """

  @Test
  func `a user without a role gets an error and is disconnected, and the log names the user`()
    throws
  {
    let guarded = try Guarded(Self.panel)
    let stranger = try guarded.client(uid: 4002)
    stranger.send(#"{"id":1,"method":"ping"}"#)
    let last = try #require(stranger.line())
    #expect(last.contains(#""method":"closing","params":{"reason":"permission_denied","epoch""#))
    #expect(stranger.line() == nil)
    #expect(guarded.logs("refused uid 4002 pid \(stranger.pid): to connect, it has no role"))
    #expect(guarded.daemon.end() == 0)
  }

  @Test
  func `2: the connections of each user are limited separately`() throws {
    let guarded = try Guarded(
      #""roles": [{"name": "any", "users": ["*"], "methods": ["**"]}], "#
        + #""limits": {"connections_user": 2}"#)
    let ping = #"{"id":1,"method":"ping"}"#
    var inside: [OtherUser] = []
    for _ in 0..<2 {
      inside.append(try guarded.client(uid: 4001))
      #expect(inside.last?.call(ping)?.contains(#""result""#) == true)
    }
    let third = try guarded.client(uid: 4001)
    #expect(
      third.line()?.contains(
        #""reason":"too_many_connections","limit":"connections_user","max":2,"#) == true)
    #expect(third.line() == nil)
    #expect(try guarded.client(uid: 4002).call(ping)?.contains(#""result""#) == true)
    #expect(try TestSocket(guarded.daemon.socket).call(ping).contains(#""result""#))
    inside.removeLast()
    #expect(
      try holds { try guarded.client(uid: 4001).call(ping)?.contains(#""result""#) == true },
      "there is room again")
  }

  @Test(arguments: [(4001, []), (4002, [4900]), (4002, [100, 4900])] as [(uid_t, [gid_t])])
  func `a role applies to a user or to any of the user's groups`(uid: uid_t, groups: [gid_t]) throws
  {
    let guarded = try Guarded(Self.panel)
    let client = try guarded.client(uid: uid, groups: groups)
    #expect(client.call(#"{"id":1,"method":"whoami"}"#)?.contains(#""role":"panel""#) == true)
    #expect(
      client.call(#"{"id":2,"method":"cells.set","params":["lamp",1]}"#)?
        .contains(#""value":1"#) == true)
    #expect(
      client.call(#"{"id":3,"method":"cells.set","params":["door",1]}"#)?
        .contains(#""name":"not_found""#) == true)
    #expect(
      client.call(#"{"id":4,"method":"reload"}"#)?.contains(#""name":"method_not_found""#) == true)
    #expect(guarded.logs("refused uid \(uid) pid \(client.pid): to write cells/door, as panel"))
    #expect(guarded.logs("refused uid \(uid) pid \(client.pid): to call reload, as panel"))
  }

  private static let willing = """
    "limits": { "lease_grace_ms": 50 },
    "roles": [
      { "name": "panel", "groups": [4900],
        "methods": ["will", "cells.set"], "read": ["cells/*"], "write": ["cells/lamp"] }
    ]
    """

  @Test
  func `a will has the role of its connection, also when it runs after a restart`() throws {
    let guarded = try Guarded(Self.willing)
    let will =
      #"{"id":1,"method":"will","params":{"calls":[{"method":"cells.set","params":["lamp",1]}]}}"#
    func lamp() throws -> String {
      let owner = try TestSocket(guarded.daemon.socket)
      defer { owner.close() }
      _ = try owner.call(#"{"id":1,"method":"wait","params":{"source":"cells/lamp"}}"#)
      return try owner.call(#"{"id":1,"method":"cells.remove","params":["lamp"]}"#)
    }
    // The group is known only to the kernel: no file of the system names the user as its member.
    let client = try guarded.client(uid: 4002, groups: [4900])
    #expect(client.call(will)?.contains(#""value":"lease/"#) == true)
    kill(client.pid, SIGKILL)
    #expect(try lamp().contains(#""value":true"#))

    let other = try guarded.client(uid: 4002, groups: [4900])
    #expect(other.call(will)?.contains(#""value":"lease/"#) == true)
    try guarded.daemon.killAndStart(["--config", guarded.directory.path + "/binder.conf"])
    #expect(try lamp().contains(#""value":true"#))
    #expect(!guarded.daemon.log.contains("was not run"))
  }

  @Test
  func `repeated refusals of a client do not fill the log`() throws {
    let guarded = try Guarded(Self.panel)
    let client = try guarded.client(uid: 4001)
    for _ in 0..<1_000 { _ = client.call(#"{"id":4,"method":"reload"}"#) }
    let lines = guarded.daemon.log.split(separator: "\n").count { $0.contains("refused uid 4001") }
    #expect(1...10 ~= lines)
    // Another process gets its own line, and the shutdown writes the remaining counts.
    let other = try guarded.client(uid: 4001)
    _ = other.call(#"{"id":4,"method":"reload"}"#)
    #expect(guarded.logs("refused uid 4001 pid \(other.pid): to call reload, as panel"))
    #expect(guarded.daemon.end() == 0)
    let mine = guarded.daemon.log.split(separator: "\n").filter {
      $0.contains("pid \(client.pid):")
    }
    let again = mine.compactMap { $0.split(separator: "; ").last?.split(separator: " ").first }
      .compactMap { Int($0) }.reduce(0, +)
    #expect(mine.count { !$0.contains("times more") } + again == 1_000)
  }

  @Test
  func `a reload changes roles, and disconnects only clients without a role`()
    throws
  {
    let guarded = try Guarded(Self.panel)
    let owner = try TestSocket(guarded.daemon.socket)
    let (panel, other) = (
      try guarded.client(uid: 4001), try guarded.client(uid: 4002, groups: [4900])
    )
    for client in [panel, other] {
      #expect(
        client.call(#"{"id":1,"method":"subscribe","params":{"source":"cells/lamp","sub":"s"}}"#)?
          .contains(#""gone":true"#) == true)
    }
    guarded.configure(
      """
      "limits": { "subs": 1 },
      "roles": [ { "name": "wide", "users": [4001], "methods": ["**"], "read": ["**"] } ]
      """)
    let report = try owner.call(#"{"id":1,"method":"reload"}"#)
    #expect(report.contains(#""changed":["limits","roles"],"needs_restart":[],"#))
    #expect(other.line()?.contains(#""reason":"permission_denied""#) == true)
    #expect(guarded.logs("refused uid 4002 pid \(other.pid): to stay, it has no role any more"))
    #expect(panel.call(#"{"id":2,"method":"whoami"}"#)?.contains(#""role":"wide""#) == true)
    #expect(
      panel.call(#"{"id":3,"method":"subscribe","params":{"source":"cells/*"}}"#)?
        .contains(#""name":"limit_reached""#) == true, "the limit holds for all")
    _ = try owner.call(#"{"id":2,"method":"cells.set","params":["lamp",7]}"#)
    #expect(panel.line()?.contains(#""sub":"s","seq":1,"value":7"#) == true, "it goes on")
  }

  @Test
  func `a reload warns of bindings whose creators have lost a right`() throws {
    let guarded = try Guarded(
      #""roles": [ { "name": "wide", "users": [4001], "read": ["**"], "write": ["**"] } ]"#)
    let owner = try TestSocket(guarded.daemon.socket)
    let maker = try guarded.client(uid: 4001)
    _ = try owner.call(#"{"id":1,"method":"cells.set","params":["secret",7]}"#)
    for (name, from) in [("leak", "secret"), ("fine", "lamp")] {
      let bound = maker.call(
        #"{"id":1,"method":"bind","params":{"expr":"cells/\#(from) ~> cells/\#(name)","binding":"\#(name)","scope":"daemon"}}"#
      )
      #expect(bound?.contains(#""scope":"daemon""#) == true)
    }
    _ = try owner.call(
      #"{"id":2,"method":"bind","params":{"expr":"cells/secret ~> cells/mine","scope":"daemon"}}"#)
    guarded.configure(
      #""roles": [ { "name": "wide", "users": [4001], "write": ["**"], "read": { "allow": ["**"], "deny": ["cells/secret"] } } ]"#
    )
    let report = try owner.call(#"{"id":3,"method":"reload"}"#)
    let warning =
      "user 4001, who made this binding, may no longer read cells/secret; the binding stays active until 'bindctl unbind leak'"
    #expect(
      report.contains(#"{"file":"bindings/leak","message":"\#(warning)"}"#),
      "\(report)")
    #expect(
      try owner.call(#"{"id":4,"method":"bindings.list"}"#).contains(
        #""binding":"leak","expr":"cells/secret ~> cells/leak","kept":"journal","uid":4001,"#))
    guarded.configure(#""roles": []"#)
    let after = try owner.call(#"{"id":5,"method":"reload"}"#)
    #expect(after.contains("user 4001, who made this binding, no longer has a role"))
  }

  @Test
  func `an invalid file changes nothing, and its errors are located`() throws {
    let guarded = try Guarded(Self.panel)
    let (owner, panel) = (try TestSocket(guarded.daemon.socket), try guarded.client(uid: 4001))
    #expect(panel.call(#"{"id":1,"method":"ping"}"#) != nil)
    guarded.configure(#""roles": [], "limts": {},"# + "\n \"journal\": 5")
    kill(guarded.daemon.pid, SIGHUP)
    let file = guarded.directory.path + "/binder.conf"
    let first = "\(file):2:15: the configuration has no member 'limts'; did you mean 'limits'?"
    let second = "\(file):3:13: 'journal' is a string, not 5"
    #expect(guarded.logs("error: \(first)") && guarded.logs("error: \(second)"))
    #expect(guarded.logs("the configuration was not changed"))
    let error = try owner.call(#"{"id":1,"method":"reload"}"#)
    #expect(error.contains(#""code":1000,"message":"\#(first), and 1 more""#))
    #expect(
      error.contains(
        #""reason":"bad_configuration","faults":[{"file":"\#(file)","line":2,"column":15,"#))
    #expect(panel.call(#"{"id":2,"method":"whoami"}"#)?.contains(#""role":"panel""#) == true)
  }

  @Test
  func `a reload names the settings that need a restart, and SIGHUP logs them`() throws {
    let guarded = try Guarded(Self.panel)
    guarded.configure(Self.panel + #", "journal": "/nowhere/j.db", "durability": "os""#)
    kill(guarded.daemon.pid, SIGHUP)
    #expect(guarded.logs("the configuration was reloaded; changed: nothing"))
    #expect(guarded.logs("journal, durability: takes effect only after a restart"))
    let owner = try TestSocket(guarded.daemon.socket)
    #expect(
      try owner.call(#"{"id":1,"method":"reload"}"#)
        .contains(#""needs_restart":["journal","durability"]"#))
    #expect(Files.names(in: "/nowhere").isEmpty)
  }

  private static let gateway = """
    "gateways": [{ "user": 4001, "names": { "kim": 4002, "lee": 4003 } }],
    "limits": { "connections_user": 2 },
    "roles": [
      { "name": "panel", "users": [4002], "methods": ["cells.set"], "read": ["**"],
        "write": ["cells/lamp"] },
      { "name": "any", "users": [4001, 4004], "methods": ["**"], "read": ["**"], "write": ["**"] }
    ]
    """

  private static func act(_ name: String, _ id: Int = 1) -> String {
    #"{"id":\#(id),"method":"act_as","params":{"name":"\#(name)"}}"#
  }

  @Test
  func `a gateway acts for a user, and is nothing without one`() throws {
    let guarded = try Guarded(Self.gateway)
    let kim = try guarded.client(uid: 4001)
    #expect(
      kim.call(Self.act("kim"))?.contains(
        #""result":{"name":"kim","peer":{"uid":4002,"pid":\#(kim.pid),"role":"panel"}}"#)
        == true)
    #expect(kim.call(#"{"id":2,"method":"hello"}"#)?.contains(#""role":"panel""#) == true)
    let set = #"{"id":3,"method":"set","params":{"source":"cells/lamp","value":1}}"#
    #expect(kim.call(set)?.contains(#""result""#) == true)
    #expect(
      kim.call(set.replacing("lamp", with: "door"))?.contains(#""permission_denied""#) == true)
    let who = #"{"id":4,"method":"history","params":{"source":"events","who":true}}"#
    #expect(kim.call(who)?.contains(#""who":{"uid":4002,"pid":\#(kim.pid),"#) == true)
    #expect(kim.call(Self.act("lee", 5))?.contains(#""method_not_found""#) == true)
    let bare = try guarded.client(uid: 4001)
    for request in [set, #"{"id":3,"method":"get","params":{"source":"cells/lamp"}}"#] {
      #expect(bare.call(request)?.contains(#""not_found""#) == true, "\(request)")
    }
    #expect(
      bare.call(Self.act("kim"))?.contains("act_as must be the first request") == true)
    #expect(guarded.daemon.end() == 0)
  }

  @Test
  func `nobody else acts for a user, and a gateway not for a user without name or role`() throws {
    let guarded = try Guarded(Self.gateway)
    let other = try guarded.client(uid: 4004)
    #expect(
      other.call(Self.act("kim"))?.contains("uid 4004 is no gateway in the configuration") == true)
    #expect(guarded.logs("refused uid 4004 pid \(other.pid): to act for 'kim', it is no gateway"))
    #expect(other.call(#"{"id":2,"method":"whoami"}"#)?.contains(#""uid":4004"#) == true)
    let panel = try guarded.client(uid: 4002)
    #expect(panel.call(Self.act("lee"))?.contains(#""method_not_found""#) == true)
    for (name, error) in [
      ("eve", #""not_found""#), ("lee", "uid 4003 has no role"), ("*", "not_found"),
    ] {
      let client = try guarded.client(uid: 4001)
      #expect(client.call(Self.act(name))?.contains(error) == true, "\(name)")
      #expect(client.call(#"{"id":2,"method":"whoami"}"#)?.contains(#""gateway""#) == true)
    }
    #expect(
      try TestSocket(guarded.daemon.socket).call(Self.act("kim")).contains("uid 0 is no gateway"))
  }

  @Test
  func `what counts for a user counts for the user of a gateway`() throws {
    let guarded = try Guarded(Self.gateway)
    var inside: [OtherUser] = []
    for _ in 0..<2 {
      inside.append(try guarded.client(uid: 4001))
      #expect(inside.last?.call(Self.act("kim"))?.contains(#""result""#) == true)
    }
    let third = try guarded.client(uid: 4001)
    #expect(third.call(Self.act("kim"))?.contains(#""limit":"connections_user","max":2"#) == true)
    let direct = try guarded.client(uid: 4002)
    #expect(direct.line()?.contains(#""too_many_connections""#) == true)
    inside.removeAll()
    let ping = #"{"id":1,"method":"ping"}"#
    #expect(
      try holds { try guarded.client(uid: 4002).call(ping)?.contains(#""result""#) == true },
      "there is room again")
  }

  @Test
  func `a reload ends the connections of names that a gateway has no more`() throws {
    let guarded = try Guarded(Self.gateway)
    let (kim, own) = (try guarded.client(uid: 4001), try guarded.client(uid: 4002))
    #expect(kim.call(Self.act("kim"))?.contains(#""result""#) == true)
    #expect(own.call(#"{"id":1,"method":"ping"}"#)?.contains(#""result""#) == true)
    guarded.configure(Self.gateway.replacing(#""kim": 4002, "#, with: ""))
    let root = try TestSocket(guarded.daemon.socket)
    #expect(
      try root.call(#"{"id":1,"method":"reload"}"#).contains(#""changed":["gateways"]"#))
    #expect(kim.line()?.contains(#""reason":"permission_denied""#) == true)
    #expect(own.call(#"{"id":2,"method":"ping"}"#)?.contains(#""result""#) == true)
  }

  @Test
  func `acl answers for another user with the rule and its line`() throws {
    let guarded = try Guarded(Self.panel)
    let owner = try TestSocket(guarded.daemon.socket)
    let file = guarded.directory.path + "/binder.conf"
    func ask(_ params: String) throws -> String {
      try owner.call(#"{"id":1,"method":"acl","params":\#(params)}"#)
    }
    #expect(
      try ask(#"{"uid":4001,"method":"cells.set"}"#)
        == #"{"jsonrpc":"2.0","id":1,"result":{"allowed":true,"role":"panel","rule":"'methods' allows \"cells.set\"","file":"\#(file)","line":4}}"#
    )
    #expect(
      try ask(#"{"uid":5,"groups":[1,4900],"write":"cells/door"}"#)
        .contains(
          #"{"allowed":false,"role":"panel","rule":"'write' does not allow it","file":"\#(file)","line":3}"#
        ))
    #expect(
      try ask(#"{"uid":5,"read":"cells/door"}"#)
        .contains(#"{"allowed":false,"rule":"it has no role and may not connect"}"#))
    #expect(try ask(#"{"uid":0,"method":"reload"}"#).contains(#""allowed":true,"role":"owner""#))
    #expect(try ask(#"{"uid":0}"#).contains(#""name":"invalid_params""#))
    // A misspelled name is neither allowed nor denied.
    #expect(
      try ask(#"{"uid":4001,"method":"cells.sett"}"#)
        .contains(
          #""name":"method_not_found","retry":false,"method":"cells.sett","did_you_mean":"cells.set""#
        ))
  }

  @Test
  func `an emptied file grants no access`() throws {
    let home = try TemporaryDirectory()
    let path = home.path + "/binder.conf"
    Files.write(#"{"roles":[{"name":"none","users":[],"methods":["ping"]}]}"#, to: path)
    let daemon = try DaemonProcess(["--config", path])
    Files.write("", to: path)
    let client = try TestSocket(daemon.socket)
    let answer = try client.call(#"{"id":1,"method":"reload"}"#)
    #expect(answer.contains("the file has no settings; write {} for the defaults"))
    daemon.end()
    try daemon.start(["--config", path], waits: false)
    #expect(daemon.waitForEnd() == 78)
  }
}
