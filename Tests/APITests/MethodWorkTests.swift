import API
import BinderTesting
import Configuration
import Connections
import EventSourcing
import Features
import JSON
import JournalMemory
import Model
import TestSupport
import Testing
import Wire

/// The work of all methods, operators and observers in one turn, with the largest inputs that the
/// quotas allow.
///
/// Each method, operator and part of a connection is in a table that says what limits its work, so
/// that a new one is thought about. No clock is involved: each recorded event and each look at the
/// clock cost a fixed time. `Scripts/bench faults` measures the same inputs.
@Suite(.leavesNothing)
struct MethodWorkTests {
  /// The limit of the work that a method does in one turn.
  private enum Limit {
    /// It does the same few things for each call, in proportion to its parameters.
    case short
    /// Something has a fixed maximum.
    case most(String)
    /// It is done in slices of the client's time, in several turns.
    case slices
    /// Another thread does it, or a later turn answers.
    case elsewhere
  }

  private static let limits: [String: Limit] = [
    "ack": .most("held positions of a subscription"), "acl": .short, "act_as": .short,
    "atomic": .most("1024 calls"), "bind": .most("32 sources, 16 transformers, and the graph"),
    "bindings.list": .slices, "bindings.try": .elsewhere, "cancel": .short, "cells.add": .short,
    "cells.compare_and_set": .most("256 KiB"), "cells.list": .slices, "cells.remove": .short,
    "cells.set": .most("256 KiB"), "cells.toggle": .short, "chat.create": .short,
    "chat.edit": .short, "chat.history": .most("24 KiB of text"), "chat.join": .short,
    "chat.leave": .short, "chat.read": .short, "chat.remove": .short,
    "chat.remove_message": .short, "chat.rename": .short, "chat.send": .short,
    "chat.topic": .short, "chat.unread": .slices, "check_view": .most("64 KiB"),
    "clock": .most("timers of bindings"),
    "close": .most("children of a view"),
    "describe": .slices, "drain": .short, "feeds.list": .slices,
    "feeds.mark_played": .most("500 episodes"), "feeds.refresh": .most("1000 feeds"),
    "feeds.subscribe": .most("1000 feeds"), "feeds.unsubscribe": .most("500 episodes"),
    "get": .slices, "hello": .short, "history": .elsewhere, "intent": .short,
    "journal.compact": .elsewhere, "journal.info": .elsewhere, "kick": .short,
    "lease.grant": .short, "lease.release": .most("1000 values"), "lease.renew": .short,
    "lease.resume": .short, "lists.append": .short, "lists.clear": .short,
    "lists.insert": .short, "lists.move": .short, "lists.remove": .short,
    "lists.replace": .most("20,000 elements"), "lists.update": .short,
    "locks.acquire": .short, "locks.release": .short, "maps.clear": .short, "maps.put": .short,
    "maps.remove": .short, "metrics": .most("methods"), "nack": .short,
    "open": .slices, "people.color": .short, "people.create": .short,
    "people.list": .slices, "people.remove": .short, "people.rename": .short,
    "people.reverse_name": .short, "ping": .short, "provide": .most("12,000 parts"),
    "publish": .most("256 KiB"), "readers.drop": .most("parked events"), "readers.remove": .short,
    "readers.retry": .most("parked events"), "reload": .short,
    "reply": .most("12,000 parts"), "rpc.discover": .slices, "search.backends": .short,
    "search.find": .elsewhere, "services.drop": .most("1000 parked calls"),
    "scripts.check": .most("64 KiB, and the limits of a script"), "scripts.forget": .short,
    "scripts.status": .most("services in files"), "scripts.try": .elsewhere,
    "services.forget": .short, "services.retry": .most("1000 parked calls"),
    "set": .most("256 KiB, or 20,000 elements"), "stats": .short, "subscribe": .slices,
    "sync": .short, "threads.edit": .short, "threads.like": .short, "threads.list": .slices,
    "threads.post": .short, "threads.remove": .short, "threads.remove_post": .short,
    "threads.rename": .short, "threads.start": .short, "threads.unlike": .short,
    "todo.add": .short, "todo.clear_done": .most("1000 things"), "todo.finish": .short,
    "todo.list": .slices, "todo.remove": .short, "todo.rename": .short, "todo.reopen": .short,
    "types.list": .slices, "types.remove": .short, "types.set": .most("1 KiB"),
    "unbind": .short, "undo": .most("1000 sources"), "unsubscribe": .short,
    "users.add_friend": .short, "users.edit": .short,
    "users.log_in": .elsewhere, "users.log_out": .short, "users.remove_friend": .short,
    "users.revoke": .most("16 tokens"), "users.token": .most("16 tokens"),
    "users.whoami": .most("16 names"), "wait": .most("256 KiB"), "whoami": .most("methods"),
    "why": .elsewhere,
    "will": .most("100 calls"), "withdraw": .short, "working": .short,
  ]

  /// A large request, and what must be there before.
  struct Load: Sendable, CustomTestStringConvertible {
    let name: String
    var before: [String] = []
    let request: String

    /// The answer is an error, because there is more than the limit.
    var isRefused = false

    /// The least turns for four requests, if the method works in slices.
    var turns: UInt64 = 4

    var testDescription: String { name }
    var method: String { String(name.prefix { $0 != " " }) }
  }

  private static func atomic(_ count: Int, _ call: (Int) -> String) -> String {
    let calls = (1...count).map(call).joined(separator: ",")
    return #""atomic","params":{"calls":[\#(calls)]}"#
  }

  private static func text(_ bytes: Int) -> String { String(repeating: "x", count: bytes) }
  private static func zeros(_ count: Int) -> String {
    Array(repeating: "0", count: count).joined(separator: ",")
  }

  private static func cells(_ count: Int) -> [String] {
    stride(from: 0, to: count, by: 1000).map { first in
      atomic(1000) { #"{"method":"cells.set","params":["a/\#(first + $0)",1]}"# }
    }
  }

  private static let services = (0..<40).map { service in
    let methods = (0..<20).map { #""m\#($0)":{"doc":"Does."}"# }.joined(separator: ",")
    return #""provide","params":{"service":"s\#(service)","methods":{\#(methods)}}"#
  }

  static let loads: [Load] = [
    Load(
      name: "atomic", request: atomic(1024) { #"{"method":"cells.add","params":["n",\#($0)]}"# }),
    Load(
      name: "atomic of large values",
      request: atomic(1000) { #"{"method":"cells.set","params":["n\#($0)","\#(text(800))"]}"# }),
    Load(
      name: "atomic of insertions",
      before: [#""lists.replace","params":["l",[\#(zeros(20_000))]]"#],
      request: atomic(1024) { #"{"method":"lists.insert","params":["l",0,\#($0)]}"# }),
    Load(name: "bind", request: bind(sources: 32)),
    Load(
      name: "bindings.list",
      before: (0..<200).map {
        #""bind","params":{"scope":"daemon","expr":"cells/a\#($0) ~> cells/b\#($0)"}"#
      }, request: #""bindings.list""#),
    Load(
      name: "types.list",
      before: (0..<200).map { #""types.set","params":["cells/a\#($0)","number"]"# },
      request: #""types.list""#),
    Load(
      name: "cells.compare_and_set", before: [#""cells.set","params":["a",[\#(zeros(120_000))]]"#],
      request:
        #""cells.compare_and_set","params":["a",[\#(zeros(120_000))],[\#(zeros(120_000))]]"#),
    Load(
      name: "check_view of many lines",
      request: #""check_view","params":{"text":"view \"A.\"\n\#(viewLines(1_900))"}"#),
    Load(
      name: "check_view of many faults",
      request: #""check_view","params":{"text":"view \"A.\"\n\#(viewLines(1_900, "ruond"))"}"#),
    Load(
      name: "close",
      before: (0..<2).map { _ in
        atomic(1000) { #"{"method":"people.create","params":{"name":"p\#($0)"}}"# }
      } + [#""open","params":{"binder":"people","view":"v"}"#],
      request: #""close","params":["v"]"#),
    Load(name: "cells.list", before: cells(4_000), request: #""cells.list""#),
    Load(name: "cells.set", request: #""cells.set","params":["a",[\#(zeros(120_000))]]"#),
    Load(
      name: "chat.unread", before: (0..<45).map { #""chat.create","params":["room \#($0)"]"# },
      request: #""chat.unread""#, turns: 2),
    Load(
      name: "chat.history",
      before: [#""chat.create","params":["room"]"#]
        + Array(
          repeating: #""chat.send","params":{"room":1,"text":"\#(text(3_000))"}"#, count: 100),
      request: #""chat.history","params":{"room":1,"limit":200}"#),
    Load(name: "describe", before: services, request: #""describe""#),
    Load(
      name: "feeds.list", before: feeds(200), request: #""feeds.list""#),
    Load(
      name: "feeds.subscribe", before: feeds(200),
      request: #""feeds.subscribe","params":{"url":"https://a.b/other"}"#),
    Load(name: "feeds.refresh", before: feeds(200), request: #""feeds.refresh""#),
    Load(name: "get", before: cells(4_000), request: #""get","params":["cells/**"]"#),
    Load(
      name: "lease.release",
      before: [
        #""lease.grant","params":{"ttl_ms":600000}"#,
        atomic(1000) { #"{"method":"cells.set","params":["a/\#($0)",1]}"# }.dropLast()
          + #","_meta":{"lease":"lease/1"}}"#,
      ], request: #""lease.release","params":["lease/1"]"#),
    Load(name: "lists.clear", before: [longList], request: #""lists.clear","params":["l"]"#),
    Load(
      name: "lists.insert", before: [longList.replacing(zeros(20_000), with: zeros(19_990))],
      request: #""lists.insert","params":["l",0,"\#(text(40_000))"]"#),
    Load(name: "lists.move", before: [longList], request: #""lists.move","params":["l",0,19999]"#),
    Load(name: "lists.remove", before: [longList], request: #""lists.remove","params":["l",0]"#),
    Load(name: "lists.update", before: [longList], request: #""lists.update","params":["l",0,1]"#),
    Load(
      name: "maps.clear", before: [#""set","params":["maps/m",{\#(members(4_000))}]"#],
      request: #""maps.clear","params":["m"]"#),
    Load(name: "metrics", before: services, request: #""metrics""#),
    Load(name: "lists.replace", request: #""lists.replace","params":["l",[\#(zeros(20_000))]]"#),
    Load(
      name: "lists.replace with too many",
      request: #""lists.replace","params":["l",[\#(zeros(20_001))]]"#, isRefused: true),
    Load(
      name: "open",
      before: (0..<2).map { _ in
        atomic(1000) { #"{"method":"people.create","params":{"name":"p\#($0)"}}"# }
      }, request: #""open","params":{"binder":"people"}"#, turns: 2),
    Load(
      name: "people.list",
      before: (0..<4).map { _ in
        atomic(1000) { #"{"method":"people.create","params":{"name":"p\#($0)"}}"# }
      }, request: #""people.list""#),
    Load(name: "provide", request: provide(11_000)),
    Load(name: "provide with too much", request: provide(13_000), isRefused: true),
    Load(
      name: "publish",
      request: #""publish","params":{"source":"s/a","value":[\#(zeros(120_000))],"keep":true}"#),
    Load(name: "rpc.discover", before: services, request: #""rpc.discover""#),
    Load(name: "set", request: #""set","params":["lists/l",[\#(zeros(20_000))]]"#),
    Load(
      name: "set with too many", request: #""set","params":["lists/l",[\#(zeros(20_001))]]"#,
      isRefused: true),
    Load(name: "subscribe", before: cells(4_000), request: #""subscribe","params":["cells/**"]"#),
    Load(
      name: "threads.list",
      before: (0..<4).map { _ in
        atomic(1000) { #"{"method":"threads.start","params":["t\#($0)"]}"# }
      }, request: #""threads.list""#),
    Load(
      name: "todo.clear_done",
      before: (0..<3).map { _ in atomic(1000) { #"{"method":"todo.add","params":["t\#($0)"]}"# } }
        + (0..<3).map { part in
          atomic(1000) { #"{"method":"todo.finish","params":[\#(1000 * part + $0)]}"# }
        }, request: #""todo.clear_done""#),
    Load(
      name: "todo.list",
      before: (0..<4).map { _ in atomic(1000) { #"{"method":"todo.add","params":["t\#($0)"]}"# } },
      request: #""todo.list""#),
    Load(
      name: "types.set", before: cells(4_000),
      request: #""types.set","params":["cells/**","number, \"°C\", 0…60, \"\#(text(190))\""]"#),
    Load(
      name: "undo", before: [atomic(990) { #"{"method":"cells.set","params":["a/\#($0)",1]}"# }],
      request: #""undo","params":{"since":{"seq":1},"force":true}"#),
    Load(
      name: "undo of large values, as a preview",
      before: [
        atomic(990) { #"{"method":"cells.set","params":["a/\#($0)","\#(text(400))"]}"# },
        atomic(990) { #"{"method":"cells.set","params":["a/\#($0)","\#(text(401))"]}"# },
      ],
      request: #""undo","params":{"since":{"seq":995},"force":true,"preview":true}"#),
    Load(
      name: "undo of too many",
      before: [
        atomic(1_000) { #"{"method":"cells.set","params":["a/\#($0)",1]}"# },
        atomic(10) { #"{"method":"cells.set","params":["b/\#($0)",1]}"# },
      ],
      request: #""undo","params":{"since":{"seq":1},"force":true}"#, isRefused: true),
    Load(
      name: "unsubscribe",
      before: cells(4_000) + [#""subscribe","params":{"source":"cells/**","sub":"s"}"#],
      request: #""unsubscribe","params":["s"]"#),
    Load(
      name: "users.revoke", before: Array(repeating: #""users.token""#, count: 16),
      request: #""users.revoke""#),
    Load(
      name: "users.token", before: Array(repeating: #""users.token""#, count: 12),
      request: #""users.token""#),
    Load(name: "users.whoami", request: #""users.whoami""#),
    Load(
      name: "wait", before: [#""cells.set","params":["a",[\#(zeros(120_000))]]"#],
      request: #""wait","params":{"source":"cells/a","op":"in","value":[\#(zeros(60))],"#
        + #""_meta":{"timeout_ms":1}}"#,
      isRefused: true),
    Load(name: "whoami", before: services, request: #""whoami""#),
    Load(name: "will", request: will(100)),
  ]

  /// The methods with a maximum whose largest input needs more than requests before it, and the test
  /// that has it.
  private static let triedElsewhere: [String: String] = [
    "ack": "deliveries", "readers.drop": "deliveries", "readers.retry": "deliveries",
    "reply": "replies", "services.drop": "queued calls", "services.retry": "queued calls",
    // This bench has no clock to set, no episodes of feeds and no language.
    "clock": "bindctl.bats", "feeds.mark_played": "FeedEpisodesTests",
    "feeds.unsubscribe": "FeedEpisodesTests",
    "scripts.check": "LuaTests", "scripts.status": "LuaTests",
  ]

  private static let longList = #""lists.replace","params":["l",[\#(zeros(20_000))]]"#

  private static func members(_ count: Int) -> String {
    (0..<count).map { #""m\#($0)":0"# }.joined(separator: ",")
  }

  /// Returns lines of a view; each has about 32 bytes.
  private static func viewLines(_ count: Int, _ transformer: String = "round") -> String {
    (0..<count).map { #"cells/a\#($0) | \#(transformer)(1) ~> a\#($0)\n"# }.joined()
  }

  private static func bind(sources: Int) -> String {
    let names = (1...sources).map { "cells/a\($0)" }.joined(separator: ", ")
    return #""bind","params":{"expr":"(\#(names)) | sum ~> cells/sum"}"#
  }

  private static func feeds(_ count: Int) -> [String] {
    (1...count).map { #""feeds.subscribe","params":{"url":"https://a.b/\#($0)"}"# }
  }

  private static func provide(_ parts: Int) -> String {
    let words = (0..<parts).map(String.init).joined(separator: ",")
    let schema = #"{"properties":{"v":{"enum":[\#(words)]}}}"#
    return #""provide","params":{"service":"s","methods":{"m":{"params":\#(schema)}}}"#
  }

  private static func will(_ count: Int) -> String {
    atomic(count) { #"{"method":"cells.set","params":["w\#($0)",1]}"# }
      .replacing("atomic", with: "will")
  }

  /// The fixed costs in nanoseconds: of an event, and of a look at the clock.
  private static let eventCost: UInt64 = 4_000
  private static let lookCost: UInt64 = 100_000

  /// The most events of a turn: those of one command, and of a slice of its user.
  private static let mostEvents: UInt64 = 1024 + 4_000_000 / eventCost

  private func connect(_ bench: Bench, uid: UInt32) -> TestClient {
    let client = bench.connect(uid: uid)
    _ = client.call(#"{"id":0,"method":"hello","params":{"limits":{"line":16000000}}}"#)
    return client
  }

  /// Sends requests, and runs turns until all are answered; checks each turn.
  ///
  /// - Returns: The answers, and the number of turns.
  private func run(
    _ requests: [String], _ client: TestClient, beside other: TestClient, _ bench: Bench
  ) -> (answers: [String], turns: UInt64) {
    let context = bench.table.context
    bench.time.nanosecondsPerLook = Self.lookCost
    bench.time.cost = { [host = bench.host] in host.last * Self.eventCost }
    defer {
      bench.time.nanosecondsPerLook = 0
      bench.time.cost = { 0 }
    }
    var answers: [String] = []
    let first = context.turn
    var (turn, events, steps) = (context.turn, bench.host.last, context.workSteps)
    client.send(requests.joined(separator: "\n"))
    while answers.count < requests.count, context.turn - first < 5_000 {
      bench.store.commit()
      bench.store.read()
      other.send(#"{"id":"p","method":"ping"}"#)
      answers += client.received().filter { $0.contains(#""id":"l""#) }
      #expect(other.received().contains { $0.contains(#""id":"p","result""#) })
      let turns = context.turn - turn
      #expect(bench.host.last - events <= Self.mostEvents * turns, "\(bench.host.last - events)")
      #expect(context.workSteps - steps <= 40 * turns)
      (turn, events, steps) = (context.turn, bench.host.last, context.workSteps)
      bench.time.advance(1)
    }
    return (answers, context.turn - first)
  }

  @Test
  func `each method says what limits its work, and has a large input if it needs slices`() throws {
    let bench = try WholeBench().bench
    let document = try #require(
      connect(bench, uid: 1000).result(#"{"id":1,"method":"rpc.discover"}"#))
    guard case .array(let described)? = document["methods"] else { return }
    let methods = described.compactMap { method -> String? in
      if case .object(let method) = method, case .string(let name)? = method["name"] {
        name
      } else {
        nil
      }
    }
    // Some tests have no programs that make services.
    #expect(methods.count > 100)
    #expect(
      Set(methods).symmetricDifference(Self.limits.keys).sorted() == [],
      "say what limits the work of a method in a turn")
    let tried = Set(Self.loads.map(\.method)).union(Self.triedElsewhere.keys)
    for (name, limit) in Self.limits {
      switch limit {
      case .slices, .most: #expect(tried.contains(name), "\(name) needs a large input")
      case .short, .elsewhere: break
      }
    }
  }

  @Test(arguments: loads)
  func `the largest requests, many times, share their turns with others`(_ load: Load) throws {
    let bench = try WholeBench().bench
    bench.host.owners = [1000]
    bench.table.context.owners = [1000]
    let client = connect(bench, uid: 1000)
    let other = connect(bench, uid: 1001)
    _ = client.call(#"{"id":0,"method":"users.log_in","params":{"name":"jay"}}"#)
    for request in load.before {
      let answer = client.call(#"{"id":1,"method":\#(request)}"#)
      #expect(answer.contains(#""result""#), "\(answer.prefix(300))")
    }
    let line = #"{"id":"l","method":\#(load.request)}"#
    let count = 4
    let (answers, turns) = run(Array(repeating: line, count: count), client, beside: other, bench)
    #expect(answers.count == count)
    let isWell = answers.first?.contains(#""result""#) ?? false
    #expect(isWell != load.isRefused, "\(answers.first?.prefix(300) ?? "")")
    if case .slices? = Self.limits[load.method] {
      #expect(turns >= load.turns, "it is done in one turn")
    }
    _ = client.settle()
  }

  // MARK: Deliveries

  /// Returns a member of the parameters of notifications.
  private func members(_ name: String, of method: String, _ lines: [String]) -> [String] {
    lines.compactMap { line in
      guard case .object(let object)? = try? JSONValue(parsing: line),
        object["method"] == .string(method), case .object(let params)? = object["params"]
      else { return nil }
      return params[name]?.text.text
    }
  }

  /// Runs turns until a client has got so many notifications; returns a member of each.
  private func collect(
    _ count: Int, _ name: String, of method: String, _ client: TestClient, _ bench: Bench
  ) -> [String] {
    var found: [String] = []
    for _ in 0..<200 where found.count < count {
      found += members(name, of: method, client.settle())
      bench.time.advance(1)
    }
    #expect(found.count == count)
    return found
  }

  @Test
  func `the most deliveries, and retries of the most parked events, share their turns`() throws {
    let bench = try WholeBench().bench
    let (client, other) = (connect(bench, uid: 1000), connect(bench, uid: 1001))
    // Its answers are read apart from the notifications of the worker.
    let caller = connect(bench, uid: 1000)
    for request in Self.cells(1_000) { _ = client.call(#"{"id":1,"method":\#(request)}"#) }
    func requests(_ method: String, _ seqs: [String]) -> [String] {
      seqs.map { #"{"id":"l","method":"\#(method)","params":{"sub":"w","seq":\#($0)}}"# }
    }
    let terms =
      #""durable":"r","share":true,"from":"start","max_unacked":1000,"max_deliveries":1"#
    client.send(
      #"{"id":1,"method":"subscribe","params":{"source":"events","sub":"w",\#(terms),"#
        + #""filter":{"streams":["cells/**"]}}}"#)
    func park() {
      let seqs = collect(1_000, "seq", of: "next", client, bench)
      let (parked, _) = run(requests("nack", seqs), client, beside: other, bench)
      #expect(parked.count { $0.contains(#""parked":true"#) } == 1_000)
    }
    park()
    let retry = #"{"id":"l","method":"readers.retry","params":{"name":"r"}}"#
    let (retried, _) = run([retry], caller, beside: other, bench)
    #expect(retried.first?.contains(#""value":1000"#) == true)
    park()
    _ = run([retry], caller, beside: other, bench)
    let seqs = collect(1_000, "seq", of: "next", client, bench)
    let (acknowledged, _) = run(requests("ack", seqs), client, beside: other, bench)
    #expect(acknowledged.count { $0.contains(#""result""#) } == 1_000)
    // One acknowledgement of all, by a reader that is not shared.
    client.send(
      #"{"id":1,"method":"subscribe","params":{"source":"events","sub":"w2","durable":"r2","#
        + #""from":"start","max_unacked":10000,"filter":{"streams":["cells/**"]}}}"#)
    let last = collect(1_000, "seq", of: "next", client, bench).last ?? ""
    let ack = #"{"id":"l","method":"ack","params":{"sub":"w2","seq":\#(last)}}"#
    let (all, _) = run([ack], client, beside: other, bench)
    #expect(all.first?.contains(#""unacked":0"#) == true)
    _ = client.settle()
  }

  @Test
  func `a drop of the most parked events shares its turns`() throws {
    let bench = try WholeBench().bench
    let (client, other) = (connect(bench, uid: 1000), connect(bench, uid: 1001))
    for request in Self.cells(1_000) { _ = client.call(#"{"id":1,"method":\#(request)}"#) }
    client.send(
      #"{"id":1,"method":"subscribe","params":{"source":"events","sub":"w","durable":"r","#
        + #""share":true,"from":"start","max_unacked":1000,"max_deliveries":1,"#
        + #""filter":{"streams":["cells/**"]}}}"#)
    for seq in collect(1_000, "seq", of: "next", client, bench) {
      client.send(#"{"id":1,"method":"nack","params":{"sub":"w","seq":\#(seq)}}"#)
    }
    _ = client.settle()
    let drop = #"{"id":"l","method":"readers.drop","params":{"name":"r"}}"#
    let (dropped, _) = run([drop], client, beside: other, bench)
    #expect(dropped.first?.contains(#""value":1000"#) == true)
    _ = client.settle()
  }

  @Test(arguments: ["services.retry", "services.drop"])
  func `the most queued calls that are parked share their turns`(_ method: String) throws {
    let bench = try WholeBench().bench
    let (provider, client) = (connect(bench, uid: 1000), connect(bench, uid: 1000))
    let other = connect(bench, uid: 1001)
    let provided = provider.call(
      #"{"id":1,"method":"provide","params":{"service":"s","max_deliveries":1,"call_ms":100,"#
        + #""methods":{"m":{"delivery":"queued"}}}}"#)
    #expect(provided.contains(#""result""#), "\(provided)")
    for _ in 0..<1_000 { client.send(#"{"id":1,"method":"s.m"}"#) }
    _ = client.settle()
    // A provider has one of them at a time, and does not answer.
    var delivered = 0
    for _ in 0..<1_100 where delivered < 1_000 {
      delivered += members("call", of: "call", provider.settle()).count
      bench.time.advance(101)
    }
    #expect(delivered == 1_000)
    let request = #"{"id":"l","method":"\#(method)","params":{"service":"s"}}"#
    let (answers, _) = run([request], client, beside: other, bench)
    #expect(answers.first?.contains(#""value":1000"#) == true, "\(answers)")
    _ = client.settle()
  }

  @Test(arguments: [11_000, 13_000])
  func `the largest replies share their turns`(_ parts: Int) throws {
    let bench = try WholeBench().bench
    let (provider, client) = (connect(bench, uid: 1000), connect(bench, uid: 1000))
    let other = connect(bench, uid: 1001)
    _ = provider.call(
      #"{"id":1,"method":"provide","params":{"service":"s","methods":{"m":{"result":"#
        + #"{"type":"array","items":{"type":"integer"}}}}}}"#)
    for _ in 0..<4 { client.send(#"{"id":1,"method":"s.m"}"#) }
    let calls = collect(4, "call", of: "call", provider, bench)
    let replies = calls.map {
      #"{"id":"l","method":"reply","params":{"call":\#($0),"value":[\#(Self.zeros(parts))]}}"#
    }
    let (answers, _) = run(replies, provider, beside: other, bench)
    #expect(answers.count == 4)
    let fits = parts <= 12_000
    #expect(client.settle().count { $0.contains(#""result""#) } == (fits ? 4 : 0))
  }

  // MARK: Operators

  /// The arguments of each transformer in a binding of numbers, or of a text where it needs one.
  private static let transformers: [String: String] = [
    "above": "(1)", "all": "", "any": "", "avg": "", "below": "(1)", "between": "(1, 2)",
    "celsius_to_fahrenheit": "", "clamp": "(1, 2)", "constant": "(1)", "count": "(1h)",
    "debounce": "(1s)", "default": "(1)", "delay": "(1s)", "differs": "(1)", "distinct": "",
    "equals": "(1)", "format": "(\\\"v %\\\")", "hysteresis": "(1, 2)", "json": "", "length": "",
    "lowercase": "", "map": "(1, 2, 3)", "max": "", "min": "", "negate": "", "not": "",
    "offset": "(1)", "parse_json": "", "pick": "(\\\"/a\\\")", "round": "(1)", "sample": "(1s)",
    "scale": "(2)", "scan": "(avg, 1h)", "sum": "", "throttle": "(1s)", "to_number": "",
    "to_string": "", "trim": "", "uppercase": "", "where": "(above, 1)",
    "divided": "", "minus": "", "same": "", "times": "",
  ]

  @Test
  func `each transformer and operator works in slices, in many bindings of one source`() throws {
    let bench = try WholeBench().bench
    let other = connect(bench, uid: 1001)
    let known = try #require(other.result(#"{"id":1,"method":"describe"}"#)?["transformers"])
    guard case .array(let transformers) = known else { return }
    let names = transformers.compactMap { transformer -> String? in
      guard case .object(let object) = transformer, case .string(let name)? = object["name"] else {
        return nil
      }
      return name
    }
    #expect(
      Set(names).symmetricDifference(Self.transformers.keys).sorted() == [],
      "add the arguments of a new transformer")
    var clients: [TestClient] = []
    for (number, name) in names.enumerated() {
      let client = connect(bench, uid: 1000)
      clients.append(client)
      let arguments = Self.transformers[name] ?? ""
      for i in 0..<12 {
        let expression = "cells/h | \(name)\(arguments) ~> cells/o/\(number)/\(i)"
        let bound = client.call(#"{"id":1,"method":"bind","params":{"expr":"\#(expression)"}}"#)
        #expect(bound.contains(#""result""#), "\(bound)")
      }
    }
    let writer = connect(bench, uid: 1000)
    let sets = Self.atomic(20) { #"{"method":"cells.set","params":["h",\#($0)]}"# }
    let context = bench.table.context
    let begun = context.workSteps
    _ = run([#"{"id":"l","method":\#(sets)}"#], writer, beside: other, bench)
    // Then what follows from the commit, and from timers of the operators.
    for _ in 0..<3 {
      bench.time.nanosecondsPerLook = Self.lookCost
      let (first, before) = (context.turn, context.workSteps)
      bench.time.advance(1_000)
      while context.hasWork, context.turn - first < 2_000 {
        bench.store.commit()
        bench.table.flush()
        other.send(#"{"id":"p","method":"ping"}"#)
        #expect(other.received().contains { $0.contains(#""id":"p","result""#) })
      }
      #expect(context.workSteps - before <= 40 * (context.turn - first + 1))
      bench.time.nanosecondsPerLook = 0
    }
    #expect(context.workSteps - begun > 12 * UInt64(names.count))
    for client in clients { client.connection.end() }
    _ = other.settle()
  }

  @Test(arguments: Condition.Operator.allCases)
  func `each operator of a condition works in slices, in many waits and filters`(
    _ comparison: Condition.Operator
  ) throws {
    let bench = try WholeBench().bench
    let (other, writer) = (connect(bench, uid: 1001), connect(bench, uid: 1001))
    let operand =
      switch comparison {
      case .isIn: "[\((1...60).map { "\(-$0)" }.joined(separator: ","))]"
      case .exists: "false"
      case .notEqual: "7"
      case .less, .lessOrEqual: "-1"
      case .greater, .greaterOrEqual: "8"
      default: #""none""#
      }
    let condition = #""op":"\#(comparison.rawValue)","value":\#(operand)"#
    let filter = #"{"where":[{"path":"/value",\#(condition)}]}"#
    writer.send(#"{"id":0,"method":"cells.set","params":["h",7]}"#)
    _ = writer.settle()
    let clients = (0..<4).map { _ in connect(bench, uid: 1000) }
    for client in clients {
      for i in 0..<60 {
        client.send(
          #"{"id":\#(i),"method":"wait","params":{"source":"cells/h",\#(condition)}}"#,
          #"{"id":\#(i),"method":"subscribe","params":{"source":"events","filter":\#(filter)}}"#)
      }
      #expect(client.settle().allSatisfy { $0.contains(#""sub""#) })
    }
    let begun = bench.table.context.workSteps
    let set = #"{"id":"l","method":"cells.set","params":["h",7]}"#
    _ = run([set, set, set], writer, beside: other, bench)
    for _ in 0..<50 { _ = run([set], writer, beside: other, bench) }
    #expect(bench.table.context.workSteps - begun >= 240)
    for client in clients { client.connection.end() }
    _ = other.settle()
  }

  // MARK: Parts of a connection

  /// The work that a change or an end causes for a part of a connection; see ``ConnectionPart``.
  private enum PartWork {
    /// A change that others make is passed on in slices: a request that makes the part.
    case observes(String)
    /// It ends or changes only with its own connection, or belongs to the machinery.
    case own
  }

  private static func work(of part: ConnectionPart) -> [PartWork] {
    switch part {
    case .bindings: [.observes(#""bind","params":{"expr":"cells/h ~> cells/o/#"}"#)]
    case .subscriptions:
      [
        .observes(#""subscribe","params":["cells/h"]"#),
        .observes(#""subscribe","params":["cells/**"]"#),
        .observes(#""subscribe","params":{"source":"cells/h","mode":"every"}"#),
        .observes(#""subscribe","params":["events"]"#),
        .observes(#""subscribe","params":{"source":"events","filter":{"types":["todo.*"]}}"#),
      ]
    case .lateCalls: [.observes(#""wait","params":{"source":"cells/h","value":"none"}"#)]
    case .views: [.observes(#""open","params":{"binder":"cell","args":{"name":"h"}}"#)]
    case .socket, .peer, .actingUser, .number, .connectedAt, .requestCount, .handleNumber,
      .position, .input, .output, .greeting, .login, .leases, .providers, .queuedCalls, .work,
      .heldAnswers, .postponedAnswers, .behindAnswers, .batch, .skippedLine, .partOfValue, .hints,
      .patience, .turn, .forwardedRequests:
      [.own]
    }
  }

  @Test(arguments: ConnectionPart.allCases)
  func `a change for many observers of a user shares its turns with others`(
    _ part: ConnectionPart
  ) throws {
    for case .observes(let request) in Self.work(of: part) {
      let bench = try WholeBench().bench
      let (other, writer) = (connect(bench, uid: 1001), connect(bench, uid: 1001))
      let clients = (0..<40).map { _ in connect(bench, uid: 1000) }
      for (place, client) in clients.enumerated() {
        for i in 0..<10 {
          let text = request.replacing("#", with: "\(place)/\(i)")
          client.send(#"{"id":\#(i),"method":\#(text)}"#)
        }
        _ = client.settle()
      }
      let context = bench.table.context
      let set = #"{"id":"l","method":"cells.set","params":["h",\#(context.turn)]}"#
      _ = run([set], writer, beside: other, bench)
      // Time passes with each look, and each client or step needs one.
      bench.time.nanosecondsPerLook = Self.lookCost
      let first = context.turn
      for _ in 0..<100 {
        let begun = bench.time.nanoseconds
        bench.store.commit()
        bench.table.flush()
        #expect(bench.time.nanoseconds - begun < 8_000_000, "\(request)")
        other.send(#"{"id":"p","method":"ping"}"#)
        #expect(other.received().contains { $0.contains(#""id":"p","result""#) })
      }
      #expect(context.turn > first)
      bench.time.nanosecondsPerLook = 0
      #expect(!context.hasWork)
      for client in clients { client.connection.end() }
      _ = other.settle()
    }
  }
}
