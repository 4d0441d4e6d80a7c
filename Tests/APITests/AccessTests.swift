import API
import Configuration
import Connections
import EventSourcing
import Features
import JSON
import Model
import ServiceTestSupport
import TestSupport
import Testing
import Wire

/// The rights of a role, tested through every kind of request.
@Suite(.leavesNothing)
struct AccessTests {
  private let bench: Bench
  private let refused = Noted()

  /// The logged refusals.
  private final class Noted {
    var lines: [String] = []
  }

  init() throws {
    bench = try Bench(services: { parts in
      let host = parts.host
      let (lists, bindings) = (ListsService(in: host), BindingsService(in: host))
      let chores = ChoreService(in: host)
      return { catalog in
        bindLists(catalog, to: lists)
        bindBindings(catalog, to: bindings, parts.live)
        bindChores(catalog, to: chores)
      }
    })
    bench.catalog.onRefusal = { [refused] caller, role, what in
      refused.lines.append("\(caller.uid) \(role.name) \(what)")
    }
    let owner = bench.connect()
    for line in [
      #"{"id":1,"method":"cells.set","params":["lamp",1]}"#,
      #"{"id":1,"method":"cells.set","params":["door",2]}"#,
      #"{"id":1,"method":"cells.set","params":["key",3]}"#,
      #"{"id":1,"method":"lists.append","params":["log","x"]}"#,
      #"{"id":1,"method":"chores.add","params":["milk"]}"#,
    ] {
      #expect(owner.result(line) != nil)
    }
  }

  /// Parses a role from the members of a configuration.
  private static func role(_ members: String) throws -> Role {
    let text = #"{"roles":[{"name":"panel","users":["*"],\#(members)}]}"#
    let nobody = Accounts(user: { _ in nil }, group: { _ in nil })
    let configuration = try Configuration(parsing: Array(text.utf8), file: "f", nobody)
    return try #require(
      configuration.roles.entry(for: Peer(uid: 1, groups: []), owner: 500)?.role)
  }

  /// A role that may read the lamp and the door, and write the lamp and the drop.
  private static let members = """
    "methods": ["cells.*", "lists.*", "chores.*", "stats"],
    "read": ["cells/lamp", "cells/door", "system/load"], "write": ["cells/lamp", "cells/drop"]
    """

  private func panel() throws -> TestClient {
    bench.connect(uid: 7, as: try Self.role(Self.members))
  }

  private func name(_ client: TestClient, _ method: String, _ params: String) -> String? {
    client.error(#"{"id":1,"method":"\#(method)","params":\#(params)}"#)?.name.rawValue
  }

  // MARK: Methods

  @Test
  func `a forbidden method does not exist for calls, describe and suggestions`() throws {
    let client = bench.connect(
      uid: 7, as: try Self.role(#""methods":{"allow":["cells.*"],"deny":["cells.remove","bind"]}"#))
    let error = client.error(#"{"id":1,"method":"cells.remove","params":["lamp"]}"#)
    #expect(error?.name == .methodNotFound)
    #expect(error?.data["did_you_mean"] == nil)
    #expect(refused.lines == ["7 panel to call cells.remove"])
    for method in ["lists.append", "stats", "bind", "cells.remove"] {
      #expect(name(client, method, "{}") == "method_not_found", "\(method)")
      #expect(name(client, "describe", #"["\#(method)"]"#) == "not_found", "\(method)")
    }
    let discovered = client.call(#"{"id":1,"method":"rpc.discover"}"#)
    #expect(discovered.contains(#""cells.set""#) && !discovered.contains(#""cells.remove""#))
    let described = client.call(#"{"id":1,"method":"describe"}"#)
    #expect(described.contains(#""cells":"#) && !described.contains(#""lists":"#))
    #expect(!described.contains(#""chores":"#) && !described.contains(#""bind":"#))
    let cells = client.call(#"{"id":1,"method":"describe","params":["cells"]}"#)
    #expect(cells.contains(#""set":"#) && !cells.contains(#""remove":"#))
    #expect(cells.contains(#""sources":{}"#))
  }

  @Test
  func `describe shows readable events and the write access of the caller`() throws {
    func described(_ path: String, _ rules: String) throws -> JSONObject? {
      bench.connect(uid: 7, as: try Self.role(#""methods":["**"],\#(rules)"#))
        .result(#"{"id":1,"method":"describe","params":["\#(path)"]}"#)
    }
    func events(_ rules: String) throws -> [JSONValue]? {
      guard case .array(let events)? = try described("lists", rules)?["events"] else { return nil }
      return events
    }
    for rules in [
      #""read":["cells/**"]"#, #""read":["cells/**"],"write":["lists/**"]"#,
      #""read":{"allow":["**"],"deny":["lists/**"]}"#,
    ] {
      #expect(try events(rules) == [], "\(rules)")
    }
    for rules in [#""read":["**"]"#, #""read":["lists/log"]"#, #""read":["lists/*"]"#] {
      #expect(try events(rules)?.contains(.string("lists.inserted")) == true, "\(rules)")
    }
    func isWritable(_ write: String, _ path: String = "cells") throws -> JSONValue? {
      let object = try described(path, #""read":["**"],"write":\#(write)"#)
      guard path == "cells" else { return object?["writable"] }
      guard case .object(let signals)? = object?["sources"],
        case .object(let cells)? = signals["**"]
      else { return nil }
      return cells["writable"]
    }
    #expect(try isWritable(#"["lists/**"]"#) == .bool(false))
    #expect(try isWritable(#"{"allow":["**"],"deny":["cells/**"]}"#) == .bool(false))
    for write in [#"["**"]"#, #"["cells/lamp"]"#, #"{"allow":["**"],"deny":["cells/a"]}"#] {
      #expect(try isWritable(write) == .bool(true), "\(write)")
    }
    #expect(try isWritable(#"["cells/lamp"]"#, "cells/lamp") == .bool(true))
    #expect(try isWritable(#"["cells/lamp"]"#, "cells/door") == .bool(false))
    let set = try described("set", #""read":["**"],"write":["lists/log"]"#)
    #expect(set?["writes"] == .array([.string("lists.replaced")]))
  }

  @Test
  func `atomic does not extend the write access of a role`() throws {
    let client = bench.connect(
      uid: 7,
      as: try Self.role(
        #""methods":{"allow":["cells.*","lists.*"]},"read":{"allow":["**"]},"write":{"allow":["cells/mine"]}"#
      ))
    func atomic(_ call: String) -> String {
      let mine = #"{"method":"set","params":["cells/mine",1]}"#
      return #"{"id":1,"method":"atomic","params":{"calls":[\#(mine),\#(call),\#(mine)]}}"#
    }
    let last = bench.host.last
    for call in [
      #"{"method":"set","params":["cells/lamp",1]}"#,
      #"{"method":"cells.set","params":["lamp",1]}"#,
      #"{"method":"lists.append","params":["log",1]}"#,
    ] {
      let error = client.error(atomic(call))
      #expect(error?.name == .permissionDenied, "\(call)")
      #expect(error?.data["index"] == .number(JSONNumber(1)), "\(call)")
    }
    #expect(
      client.error(atomic(#"{"method":"chores.add","params":["x"]}"#))?.name == .methodNotFound)
    #expect(bench.host.last == last)
    let allowed = client.result(atomic(#"{"method":"cells.add","params":["mine"]}"#))
    #expect(allowed?["events"] == .number(JSONNumber(3)))
  }

  @Test
  func `hello names the role, and whoami its rights`() throws {
    let client = try panel()
    let hello = client.call(#"{"id":1,"method":"hello"}"#)
    #expect(hello.contains(#""role":"panel""#))
    let panel = client.call(#"{"id":1,"method":"whoami"}"#)
    #expect(panel.contains(#""role":"panel""#))
    #expect(panel.contains(#""read":["cells/lamp","cells/door","system/load"]"#))
    #expect(panel.contains(#""write":["cells/lamp","cells/drop"]"#))
    #expect(panel.contains(#""cells.set""#) && !panel.contains(#""reload""#))
    #expect(bench.connect().call(#"{"id":1,"method":"hello"}"#).contains(#""role":"owner""#))
  }

  // MARK: Reading

  @Test
  func `an unreadable source does not exist for get, subscribe and history`() throws {
    let client = try panel()
    #expect(client.result(#"{"id":1,"method":"get","params":["cells/door"]}"#) != nil)
    for source in ["cells/key", "cells/none", "lists/log", "chores/1", "system/uptime"] {
      #expect(name(client, "get", #"["\#(source)"]"#) == "not_found", "\(source)")
      #expect(name(client, "subscribe", #"["\#(source)"]"#) == "not_found", "\(source)")
      #expect(
        name(client, "subscribe", #"{"source":"\#(source)","mode":"every"}"#) == "not_found")
      #expect(
        name(client, "history", #"{"source":"\#(source)","at":{"seq":3}}"#) == "not_found")
      #expect(name(client, "describe", #"["\#(source)"]"#) == "not_found")
    }
    #expect(refused.lines.contains("7 panel to read cells/key"))
    let guess = client.error(#"{"id":1,"method":"get","params":["cells/kez"]}"#)
    #expect(guess?.data["did_you_mean"] == nil)
  }

  @Test
  func `a pattern shows only readable sources, now and later`() throws {
    let (client, owner) = (try panel(), bench.connect())
    let values = client.call(#"{"id":1,"method":"get","params":["**"]}"#)
    #expect(values.contains(#""values":{"cells/door":2,"cells/lamp":1,"system/load":"#))
    #expect(!values.contains("key") && !values.contains("uptime") && !values.contains("milk"))
    #expect(
      client.call(#"{"id":2,"method":"subscribe","params":{"source":"cells/*","sub":"s"}}"#)
        .contains(#""values":{"cells/door":2,"cells/lamp":1}"#))
    #expect(
      client.call(
        #"{"id":2,"method":"subscribe","params":{"source":"cells/*","sub":"e","mode":"every"}}"#
      ).contains(#""values":{"cells/door":2,"cells/lamp":1}"#))
    _ = owner.call(
      #"[{"id":1,"method":"cells.set","params":["key",4]},{"id":2,"method":"cells.set","params":["door",5]}]"#
    )
    let frames = client.settle()
    #expect(frames.count == 2)
    #expect(frames.allSatisfy { $0.contains(#""source":"cells/door","value":5"#) }, "\(frames)")
    #expect(name(client, "subscribe", #"["lists/*"]"#) == "not_found")
  }

  @Test
  func `past changes are those of readable sources`() throws {
    let client = try panel()
    let lines = client.call(
      #"{"id":1,"method":"subscribe","params":{"source":"cells/**","mode":"every","from":"start","sub":"e"}}"#
    )
    #expect(lines.contains(#""source":"cells/lamp""#) && lines.contains(#""source":"cells/door""#))
    #expect(!lines.contains("cells/key"))
  }

  @Test
  func `the past of a pattern contains only readable sources`() throws {
    for pattern in ["**", "cells/*"] {
      let past = try panel().call(
        #"{"id":1,"method":"history","params":{"source":"\#(pattern)","at":{"seq":5}}}"#)
      #expect(past.contains(#""values":{"cells/door":2,"cells/lamp":1}"#), "\(past)")
    }
  }

  @Test
  func `events are those of readable streams, live, past and in pages`() throws {
    let (client, owner) = (try panel(), bench.connect())
    let page = client.call(#"{"id":1,"method":"history","params":{"source":"events","after":0}}"#)
    #expect(page.contains("cells/lamp") && page.contains("cells/door"))
    #expect(!page.contains("cells/key") && !page.contains("chores") && !page.contains("lists"))
    let last = client.call(
      #"{"id":1,"method":"history","params":{"source":"events","filter":{"streams":["cells/key"]}}}"#
    )
    #expect(last.contains(#""items":[]"#))
    _ = client.call(
      #"{"id":2,"method":"subscribe","params":{"source":"events","sub":"p","from":"start"}}"#)
    _ = client.call(
      #"{"id":2,"method":"subscribe","params":{"source":"events","sub":"k","filter":{"streams":["cells/key"]}}}"#
    )
    _ = client.call(#"{"id":2,"method":"subscribe","params":{"source":"events","sub":"n"}}"#)
    _ = owner.call(#"{"id":2,"method":"subscribe","params":{"source":"events","sub":"n"}}"#)
    _ = owner.call(
      #"[{"id":1,"method":"cells.set","params":["key",4]},{"id":2,"method":"cells.set","params":["door",5]}]"#
    )
    let frames = client.settle()
    #expect(frames.count { $0.contains(#""method":"next""#) } == 2, "\(frames)")
    #expect(!frames.contains { $0.contains("cells/key") })
  }

  @Test
  func `a role that can read all of a service can read its stream`() throws {
    for (rules, isShown) in [(#"["chores/**"]"#, true), (#"["chores/*"]"#, false)] {
      let client = bench.connect(uid: 7, as: try Self.role(#""read":\#(rules)"#))
      let page = client.call(
        #"{"id":1,"method":"history","params":{"source":"events","after":0}}"#)
      #expect(page.contains("milk") == isShown)
      #expect(!page.contains("cells/"))
    }
  }

  @Test
  func `a method that lists values lists only readable ones`() throws {
    let list = try panel().call(#"{"id":1,"method":"cells.list"}"#)
    #expect(
      list.contains(#""value":{"door":2,"lamp":1}"#)
        || list.contains(#""value":{"lamp":1,"door":2}"#))
  }

  // MARK: Writing

  @Test(arguments: [
    ("set", #"["cells/door",9]"#), ("cells.set", #"["door",9]"#), ("cells.remove", #"["door"]"#),
    ("cells.add", #"["door"]"#), ("cells.toggle", #"["door"]"#),
    ("cells.add", #"{"name":"door"}"#), ("cells.set", #"{"name":"door","value":9}"#),
    ("cells.compare_and_set", #"["door",7,9]"#),
  ])
  func `a write to a read-only source is denied before other checks`(
    method: String, params: String
  ) throws {
    let client = try panel()
    let error = client.error(#"{"id":1,"method":"\#(method)","params":\#(params)}"#)
    #expect(error?.name == .permissionDenied)
    #expect(error?.data["need"] == .string("write cells/door"))
    #expect(refused.lines == ["7 panel to write cells/door"])
    #expect(bench.cells.list(prefix: "")["door"]?.text == "2")
  }

  @Test(arguments: [
    ("set", #"["cells/key",9]"#), ("cells.set", #"["key",9]"#), ("cells.add", #"["key"]"#),
    ("cells.add", #"{"name":"key","by":1}"#), ("cells.set", #"{"name":"key","value":9}"#),
    ("lists.append", #"["log","y"]"#), ("lists.remove", #"["log",99]"#),
    ("lists.append", #"{"name":"log","value":"y"}"#),
    ("set", #"["lists/log",[]]"#),
    ("chores.add", #"["eggs"]"#), ("chores.finish", "[1]"),
  ])
  func `a source without access is not found`(method: String, params: String) throws {
    let last = bench.host.last
    #expect(name(try panel(), method, params) == "not_found")
    #expect(bench.host.last == last, "nothing is recorded")
    #expect(refused.lines.count == 1)
  }

  @Test
  func `a writable source can be written, even if it is unreadable`() throws {
    let client = try panel()
    #expect(client.result(#"{"id":1,"method":"set","params":["cells/lamp",5]}"#) != nil)
    #expect(client.result(#"{"id":1,"method":"cells.set","params":["drop",6]}"#) != nil)
    let error = client.error(#"{"id":1,"method":"get","params":["cells/drop"]}"#)
    #expect(error?.name == .permissionDenied)
    #expect(error?.data["need"] == .string("read cells/drop"))
    #expect(name(client, "subscribe", #"["cells/drop"]"#) == "permission_denied")
  }

  @Test
  func `a refused command leaves no event, and its cmd is free`() throws {
    let (client, owner) = (try panel(), bench.connect())
    let last = bench.host.last
    #expect(
      name(client, "chores.add", #"{"title":"eggs","_meta":{"cmd":"c1"}}"#) == "not_found")
    #expect(bench.host.last == last)
    #expect(
      owner.call(#"{"id":1,"method":"chores.add","params":{"title":"eggs","_meta":{"cmd":"c1"}}}"#)
        .contains(#"{"value":2,"seq":\#(last + 1)"#))
  }

  @Test
  func `a cmd repeated by another client reveals nothing about an unwritable source`() throws {
    let (client, owner) = (try panel(), bench.connect())
    let params = #"{"name":"key","by":1,"_meta":{"cmd":"c2"}}"#
    #expect(
      owner.call(#"{"id":1,"method":"cells.add","params":\#(params)}"#).contains(#""value":4"#))
    #expect(name(client, "cells.add", params) == "not_found")
  }

  @Test
  func `the version of a stream is visible to its readers and writers`() throws {
    let client = try panel()
    func expecting(_ stream: String) -> String? {
      name(client, "cells.set", #"{"name":"lamp","value":1,"_meta":{"expect":{"\#(stream)":9}}}"#)
    }
    #expect(expecting("cells/lamp") == "conflict")
    #expect(expecting("cells/drop") == "conflict")
    #expect(expecting("cells/key") == "permission_denied")
    #expect(expecting("chores") == "permission_denied")
  }

  @Test
  func `the requests of a batch are refused individually`() throws {
    let answer = try panel().call(
      #"[{"id":1,"method":"cells.set","params":["key",9]},{"id":2,"method":"cells.set","params":["lamp",9]}]"#
    )
    #expect(
      answer.contains(#""name":"not_found""#) && answer.contains(#""id":2,"result":{"value":9"#))
  }

  // MARK: Bindings

  @Test(arguments: [
    ("cells/lamp ~> cells/drop", nil), ("cells/door ~> cells/lamp", nil),
    ("cells/drop !~> cells/lamp", "permission_denied"),
    ("cells/lamp ~> cells/door", "permission_denied"),
    ("cells/lamp <> cells/door", "permission_denied"), ("cells/key ~> cells/lamp", "not_found"),
    ("cells/lamp ~> cells/key", "not_found"), ("cells/lamp <~ cells/key", "not_found"),
  ])
  func `a binding has the rights of its creator`(expr: String, error: String?) throws {
    #expect(name(try panel(), "bind", #"["\#(expr)"]"#) == error)
  }

  @Test
  func `a daemon binding needs write access to bindings`() throws {
    let params = #"{"expr":"cells/door ~> cells/lamp","binding":"b","scope":"daemon"}"#
    #expect(name(try panel(), "bind", params) == "not_found")
    #expect(
      bench.connect().result(#"{"id":1,"method":"get","params":["bindings/*"]}"#)?["values"]
        == .object([:]))
    let binder = bench.connect(
      uid: 8,
      as: try Self.role(#""read":["cells/*","bindings/*"],"write":["cells/lamp","bindings/*"]"#))
    #expect(name(binder, "bind", params) == nil)
    #expect(
      try panel().call(#"{"id":1,"method":"unbind","params":["b"]}"#).contains(#""was":"unknown""#))
    let reader = bench.connect(uid: 9, as: try Self.role(#""read":["bindings/*"]"#))
    #expect(name(reader, "unbind", #"["b"]"#) == "permission_denied")
    #expect(name(binder, "unbind", #"["b"]"#) == nil)
  }

  // MARK: Views

  @Test
  func `a view needs read access to its sources, and its intents need write access`() throws {
    let client = try panel()
    func open(_ params: String) -> String? { name(client, "open", params) }
    #expect(open(#"{"binder":"cell","view":"l","args":{"name":"lamp"}}"#) == nil)
    #expect(open(#"{"binder":"cell","view":"d","args":{"name":"door"}}"#) == nil)
    #expect(open(#"{"binder":"cell","args":{"name":"key"}}"#) == "not_found")
    #expect(open(#"{"binder":"cell","args":{"name":"drop"}}"#) == "permission_denied")
    #expect(open(#"{"binder":"system"}"#) == "not_found", "it may read a part of it only")
    #expect(name(client, "intent", #"{"view":"l","name":"add","args":{"by":1}}"#) == nil)
    #expect(
      name(client, "intent", #"{"view":"d","name":"add","args":{"by":1}}"#) == "permission_denied")
    let wide = bench.connect(uid: 8, as: try Self.role(#""read":["system/*"]"#))
    #expect(name(wide, "open", #"{"binder":"system"}"#) == nil)
  }

  // MARK: Another role

  @Test
  func `a client with a new role keeps permitted subscriptions, and the others fail`()
    throws
  {
    let (client, owner) = (try panel(), bench.connect())
    let old = try Self.role(Self.members)
    for (sub, source) in [
      ("l", "cells/lamp"), ("d", "cells/door"), ("p", "cells/*"), ("e", "events"),
    ] {
      _ = client.call(
        #"{"id":1,"method":"subscribe","params":{"source":"\#(source)","sub":"\#(sub)"}}"#)
    }
    _ = client.call(
      #"{"id":1,"method":"bind","params":{"expr":"cells/door ~> cells/lamp","binding":"b"}}"#)
    _ = client.call(
      #"{"id":1,"method":"open","params":{"binder":"cell","view":"v","args":{"name":"lamp"}}}"#)
    _ = client.settle()
    let new = try Self.role(#""methods":["**"],"read":["cells/lamp"],"write":["cells/lamp"]"#)
    bindConnection(
      client.connection, to: bench.rights[new], before: bench.rights[old])
    bench.rights.keep(only: [new, .owner])
    let told = client.settle()
    func failed(_ handle: String, _ name: String) -> Bool {
      told.contains { $0.contains(#""method":"fail""#) && $0.contains(handle) && $0.contains(name) }
    }
    #expect(told.count == 5, "\(told)")
    #expect(
      told.contains {
        $0.contains(#""method":"closed","params":{"view":"v","#) && $0.contains("denied")
      })
    #expect(
      failed(#""sub":"d""#, "permission_denied") && failed(#""sub":"p""#, "permission_denied"))
    #expect(failed(#""sub":"e""#, "permission_denied") && failed(#""binding":"b""#, "not_found"))
    #expect(name(client, "get", #"["cells/door"]"#) == "not_found")
    _ = owner.call(
      #"[{"id":1,"method":"cells.set","params":["lamp",7]},{"id":2,"method":"cells.set","params":["door",7]}]"#
    )
    #expect(client.settle().map { $0.contains(#""sub":"l""#) } == [true])
  }

  @Test
  func `a client with an unchanged role gets no notification`() throws {
    let client = try panel()
    _ = client.call(#"{"id":1,"method":"subscribe","params":{"source":"cells/*","sub":"p"}}"#)
    let same = try Self.role("\n\n" + Self.members)
    bindConnection(
      client.connection, to: bench.rights[same],
      before: bench.rights[try Self.role(Self.members)])
    #expect(client.settle().isEmpty)
    #expect(client.connection.subscriptions.count == 1)
  }

  // MARK: Hidden from clients

  @Test
  func `errors do not reveal whether a hidden binding exists`() throws {
    let owner = bench.connect()
    #expect(
      owner.result(
        #"{"id":1,"method":"bind","params":{"expr":"cells/door ~> cells/key","binding":"hida","scope":"daemon"}}"#
      ) != nil)
    let client = bench.connect(
      uid: 7,
      as: try Self.role(#""methods":["bindings.*"],"read":["cells/*"],"write":["cells/lamp"]"#))
    func told(_ name: String) -> [String] {
      [
        client.call(
          #"{"id":1,"method":"bind","params":{"expr":"cells/door ~> cells/lamp","binding":"\#(name)","scope":"daemon"}}"#
        ), client.call(#"{"id":1,"method":"unbind","params":["\#(name)"]}"#),
        client.call(
          #"{"id":1,"method":"unbind","params":{"binding":"\#(name)","_meta":{"cmd":"\#(name)"}}}"#),
      ].map { $0.replacing("hidb", with: "hida") }
    }
    #expect(told("hida") == told("hidb"))
    #expect(
      client.call(#"{"id":1,"method":"unbind","params":["hida"]}"#).contains(#""was":"unknown""#))
    #expect(
      owner.call(#"{"id":1,"method":"unbind","params":["hida"]}"#).contains(#""was":"active""#))
  }

  @Test
  func `a client without read access cannot read a list by a move without effect`() throws {
    let owner = bench.connect()
    _ = owner.result(#"{"id":1,"method":"lists.append","params":["drop","secret"]}"#)
    let client = bench.connect(
      uid: 7, as: try Self.role(#""methods":["lists.*"],"write":["lists/drop"]"#))
    let error = client.error(
      #"{"id":1,"method":"lists.move","params":{"name":"drop","from":0,"to":0}}"#)
    #expect(error?.name == .permissionDenied)
    #expect(error?.data["need"] == .string("read lists/drop"))
    let reader = bench.connect(
      uid: 8, as: try Self.role(#""methods":["lists.*"],"read":["lists/*"],"write":["lists/drop"]"#)
    )
    #expect(
      reader.call(#"{"id":1,"method":"lists.move","params":{"name":"drop","from":0,"to":0}}"#)
        .contains(#""value":"secret""#))
  }

  @Test
  func `a list that was never written is empty for get and subscribe`() throws {
    let owner = bench.connect()
    #expect(
      owner.result(#"{"id":1,"method":"get","params":["lists/nothing"]}"#)?["value"] == .array([]))
    let client = bench.connect(uid: 7, as: try Self.role(#""read":["lists/other"]"#))
    #expect(name(client, "get", #"["lists/nothing"]"#) == "not_found")
  }

  @Test
  func `events is an ordinary source for get and describe`() {
    let owner = bench.connect()
    let last = JSONNumber(bench.host.last)
    let got = owner.result(#"{"id":1,"method":"get","params":["events"]}"#)
    #expect(got?["kind"] == .string("events"))
    #expect(got?["value"] == .object(["first": .number(JSONNumber(1)), "last": .number(last)]))
    let described = owner.result(#"{"id":1,"method":"describe","params":["events"]}"#)
    #expect(described?["source"] == .string("events"))
    #expect(described?["journaled"] == .bool(true))
  }
}
