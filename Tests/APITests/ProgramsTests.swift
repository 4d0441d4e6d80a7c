import API
import BinderTesting
import Configuration
import EventSourcing
import JSON
import Journal
import JournalMemory
import Model
import ServiceTestSupport
import TestSupport
import Testing
import Wire

@testable import Features

/// Programs provide services, which others call like those of the daemon.
@Suite(.leavesNothing)
struct ProgramsTests {
  let bench: Bench
  let programs: Programs
  let provider: TestClient
  let caller: TestClient

  init() throws {
    (bench, programs) = try Self.make()
    (provider, caller) = (bench.connect(uid: 500), bench.connect())
  }

  private static func make(_ store: MemoryStore? = nil) throws -> (Bench, Programs) {
    var made: Programs?
    let bench = try Bench(store) { catalog, parts in
      let programs = Programs(in: parts.host)
      made = programs
      bindPrograms(catalog, to: programs)
    }
    return (bench, try #require(made))
  }

  private static func bench(_ store: MemoryStore? = nil) throws -> Bench { try make(store).0 }

  private let lamp = #"""
    "service":"lamp","doc":"A lamp.","methods":{"blink":{"doc":"Blinks.","params":{"type":"object","properties":{"times":{"type":"integer","minimum":1,"description":"How often."}},"required":["times"],"additionalProperties":false},"result":{"type":"string"}},"order":{"delivery":"queued"}}
    """#

  private func provide(_ declaration: String? = nil) -> String {
    #"{"id":1,"method":"provide","params":{\#(declaration ?? lamp)}}"#
  }

  private func blink(_ params: String = #"{"times":3}"#, id: Int = 7) -> String {
    #"{"id":\#(id),"method":"lamp.blink","params":\#(params)}"#
  }

  /// Sends a call, which the provider gets.
  private func ask() {
    caller.send(blink())
    #expect(calls(provider.received()).count == 1)
  }

  private func reply(_ call: String, _ more: String) -> String {
    #"{"id":2,"method":"reply","params":{"call":"\#(call)",\#(more)}}"#
  }

  /// Returns the numbers of the calls in lines.
  private func calls(_ lines: [String]) -> [String] {
    lines.compactMap { line in
      guard case .object(let frame)? = try? JSONValue(parsing: line),
        frame["method"] == .string("call"), case .object(let params)? = frame["params"],
        case .string(let call)? = params["call"]
      else { return nil }
      return call
    }
  }

  private func value(_ source: String) -> String? {
    caller.result(#"{"id":1,"method":"get","params":["\#(source)"]}"#)?["value"]?.text.text
  }

  // MARK: Costs of checks

  /// Compared with each other, the words and the elements would be 40 million pairs.
  @Test
  func `a long list of words and a long value are compared in a table`() {
    let words = (0..<4_000).map { "\($0)" }.joined(separator: ",")
    let schema = #"{"type":"object","properties":{"v":{"items":{"enum":[\#(words)]}}}}"#
    #expect(
      provider.call(provide(#""service":"lamp","methods":{"blink":{"params":\#(schema)}}"#))
        .contains("providers"))
    func call(_ last: Int) {
      let values = repeatElement("3999", count: 11_000).joined(separator: ",")
      caller.send(blink(#"{"v":[\#(values),\#(last)]}"#))
    }
    call(3998)
    // It fits; the provider is asked, or does not take so long a line.
    #expect(caller.received().allSatisfy { $0.contains("unavailable") })
    call(4000)
    let answer = caller.received().joined()
    #expect(answer.contains(#""path":"/v/11000""#), "\(answer.prefix(200))")
    #expect(answer.utf8.count < 2_000)
  }

  /// Each element would be compared with each of them.
  @Test
  func `a type is named once`() {
    let types = repeatElement(#""string""#, count: 8).joined(separator: ",")
    let schema = #"{"properties":{"v":{"items":{"type":[\#(types)]}}}}"#
    let answer = provider.call(
      provide(#""service":"lamp","methods":{"blink":{"params":\#(schema)}}"#))
    #expect(answer.contains("each type once"), "\(answer.prefix(300))")
  }

  @Test
  func `an object or array may be one of the words`() {
    let schema = #"{"properties":{"v":{"enum":[{"a":[1,2]},[3],"x",1.0]}}}"#
    _ = provider.call(provide(#""service":"lamp","methods":{"blink":{"params":\#(schema)}}"#))
    for fitting in [#"{"a":[1,2.0]}"#, "[3]", #""x""#, "1"] {
      caller.send(blink(#"{"v":\#(fitting)}"#))
      #expect(caller.received().isEmpty, "\(fitting)")
    }
    for other in [#"{"a":[2,1]}"#, "[3,3]", #""y""#, "null"] {
      #expect(caller.error(blink(#"{"v":\#(other)}"#))?.name == .invalidParams, "\(other)")
    }
  }

  @Test
  func `values and declarations with too many parts to check are refused`() {
    let many = repeatElement("[]", count: 25_001).joined(separator: ",")
    let text = String(repeating: "[,\\\"", count: 20_000)
    _ = provider.call(provide())
    caller.send(blink(#"{"times":1,"v":[\#(many)]}"#))
    let error = caller.received().first.flatMap { try? JSONValue(parsing: $0) }
    guard case .object(let answer)? = error, let error = answer["error"].flatMap(WireError.init)
    else {
      Issue.record("no error")
      return
    }
    #expect(error.name == .tooExpensive)
    #expect(error.data["max"] == .number(JSONNumber(12_000)))
    // Commas and brackets within strings are no parts.
    #expect(caller.error(blink(#"{"times":"\#(text)"}"#))?.name == .invalidParams)
    let schema = #"{"properties":{"v":{"enum":[\#(many)]}}}"#
    let refused = provider.error(
      provide(#""service":"s","methods":{"m":{"params":\#(schema)}}"#))
    #expect(refused?.data["path"] == .string("/methods"))
    // Nobody checks the parts of parameters without a schema.
    _ = provider.call(provide(#""service":"free","methods":{"m":{}}"#))
    caller.send(#"{"id":1,"method":"free.m","params":{"v":[\#(many)]}}"#)
    #expect(caller.received().first?.contains("unavailable") == true)
  }

  // MARK: Direct calls

  @Test
  func `a call reaches the provider, and its reply the caller`() {
    #expect(
      provider.call(provide())
        == #"{"jsonrpc":"2.0","id":1,"result":{"service":"lamp","providers":1}}"#)
    caller.send(blink())
    #expect(caller.received().isEmpty)
    #expect(
      provider.received() == [
        #"{"jsonrpc":"2.0","method":"call","params":{"call":"c1","method":"lamp.blink","params":{"times":3},"caller":{"uid":1000,"pid":42}}}"#
      ])
    #expect(
      provider.call(reply("c1", #""value":"done""#))
        == #"{"jsonrpc":"2.0","id":2,"result":{"call":"c1"}}"#)
    #expect(caller.settle() == [#"{"jsonrpc":"2.0","id":7,"result":{"value":"done"}}"#])
    #expect(bench.store.records.count == 1, "a direct call is no event")
    // By position as well.
    caller.send(blink("[5]"))
    #expect(provider.received().first?.contains(#""params":{"times":5}"#) == true)
  }

  @Test
  func `a service that a role may not know is not named by rpc.discover`() throws {
    _ = provider.call(provide())
    let lamp = try #require(Pattern("lamp.*", separator: "."))
    let methods = Rules(allow: [Rule(try #require(Pattern("**")))], deny: [Rule(lamp)])
    let narrow = bench.connect(
      as: Role(name: "narrow", methods: methods, read: Rules(), write: Rules()))
    for name in ["lamp", "lamq"] {
      let discover = #"{"id":1,"method":"rpc.discover","params":{"service":"\#(name)"}}"#
      let error = narrow.error(discover)
      #expect(error?.name == .notFound)
      #expect(error?.data["did_you_mean"] == nil, "\(name)")
      if name == "lamq" {
        #expect(caller.error(discover)?.data["did_you_mean"] == .string("lamp"))
      }
    }
  }

  @Test
  func `parameters are checked before the provider is called`() {
    _ = provider.call(provide())
    for (params, path) in [
      ("{}", "/times"), (#"{"times":0}"#, "/times"), (#"{"times":"x"}"#, "/times"),
      (#"{"times":1,"x":1}"#, "/x"), (#"{"times":1.5}"#, "/times"),
    ] {
      #expect(caller.error(blink(params))?.data["path"] == .string(path), "\(params)")
    }
    #expect(provider.received().isEmpty)
  }

  @Test
  func `a provider may refuse`() {
    _ = provider.call(provide())
    ask()
    _ = provider.call(reply("c1", #""error":"the bulb is broken""#))
    let answer = caller.settle().first ?? ""
    #expect(answer.contains(#""message":"the bulb is broken""#))
    #expect(answer.contains(#""reason":"by_provider""#))
  }

  @Test
  func `28: a reply that is garbage, late or repeated is refused, and the caller gets an error`() {
    _ = provider.call(provide(lamp + #","call_ms":1000"#))
    ask()
    #expect(provider.error(reply("c1", #""value":5"#))?.data["path"] == .string("/value"))
    #expect(caller.settle().first?.contains(#""name":"unavailable""#) == true)
    #expect(provider.error(reply("c1", #""value":"x""#))?.name == .notFound)
    ask()
    _ = provider.call(reply("c2", #""value":"x""#))
    #expect(caller.settle().count == 1)
    #expect(provider.error(reply("c2", #""value":"x""#))?.name == .notFound)
    ask()
    bench.time.advance(1_000)
    #expect(caller.settle().first?.contains("has not answered within 1000 ms") == true)
    #expect(provider.error(reply("c3", #""value":"x""#))?.name == .notFound)
    #expect(
      provider.error(reply("c9", #""value":1,"error":"x""#))?.data["path"] == .string("/error"))
    // Another client cannot answer.
    ask()
    #expect(caller.error(reply("c4", #""value":"x""#))?.name == .notFound)
  }

  @Test
  func `28: a provider that dies makes its calls unavailable`() {
    _ = provider.call(provide())
    caller.send(blink())
    provider.disconnect()
    let answer = caller.settle().first ?? ""
    #expect(answer.contains(#""name":"unavailable","retry":true,"service":"lamp""#))
    #expect(caller.error(blink())?.data["service"] == .string("lamp"), "nobody provides it")
  }

  @Test
  func `28: a caller that leaves, or waits no longer, is forgotten`() {
    _ = provider.call(provide())
    ask()
    caller.send(#"{"id":8,"method":"cancel","params":{"id":7}}"#)
    #expect(caller.settle().first?.contains(#""was":"recorded""#) == true, "it may have effects")
    #expect(provider.error(reply("c1", #""value":"x""#)) == nil)
    #expect(caller.settle().count == 1)
    caller.send(
      #"{"id":7,"method":"lamp.blink","params":{"times":1,"_meta":{"timeout_ms":500}}}"#)
    _ = provider.received()
    bench.time.advance(500)
    let timeout = caller.settle().first ?? ""
    #expect(timeout.contains(#""name":"timeout""#) && timeout.contains(#""outcome":"unknown""#))
    ask()
    caller.disconnect()
    for call in ["c2", "c3"] {
      #expect(provider.error(reply(call, #""value":"x""#))?.name == .notFound)
    }
  }

  @Test
  func `several providers share the calls, if they declare the same`() {
    let second = bench.connect(uid: 500)
    _ = provider.call(provide())
    #expect(second.result(provide())?["providers"] == .number(JSONNumber(2)))
    let other = bench.connect()
    #expect(other.error(provide(#""service":"lamp","methods":{}"#))?.name == .alreadyExists)
    #expect(provider.error(provide())?.name == .alreadyExists)
    for id in 1...4 { caller.send(blink(id: id)) }
    #expect(calls(provider.received()).count == 2)
    #expect(calls(second.received()).count == 2)
    #expect(
      value("providers/lamp")?.contains(
        #""doc":"A lamp.","providers":[{"uid":500,"pid":42,"program":"sh""#) == true)
    second.disconnect()
    #expect(caller.settle().count == 2)
    provider.disconnect()
    #expect(value("providers/lamp") == nil)
  }

  @Test
  func `28: the calls of a provider end with it, also after it has withdrawn`() {
    _ = provider.call(provide())
    caller.send(blink())
    _ = provider.received()
    #expect(
      provider.call(#"{"id":1,"method":"withdraw","params":["lamp"]}"#)
        == #"{"jsonrpc":"2.0","id":1,"result":{"service":"lamp","calls":1}}"#)
    #expect(
      bench.connect().result(#"{"id":1,"method":"services.forget","params":["lamp"]}"#) != nil)
    provider.disconnect()
    #expect(caller.settle().first?.contains(#""name":"unavailable""#) == true)
    #expect(bench.connect().error(reply("c1", #""value":"x""#))?.name == .notFound)
  }

  @Test
  func `a service that is forgotten and provided at once is there`() {
    _ = provider.call(provide())
    _ = provider.call(#"{"id":1,"method":"withdraw","params":["lamp"]}"#)
    provider.send(#"{"id":1,"method":"services.forget","params":["lamp"]}"#, provide())
    _ = provider.settle()
    caller.send(blink())
    #expect(calls(provider.received()).count == 1)
    provider.disconnect()
    #expect(value("providers/lamp") == nil)
  }

  @Test
  func `28: a call that is too long for its provider is refused, and holds up no other`() {
    _ = provider.call(provide())
    let long = String(repeating: "x", count: 100_000)
    let error = caller.error(
      #"{"id":1,"method":"lamp.order","params":{"n":"\#(long)"}}"#)
    #expect(error == nil, "it is queued")
    #expect(calls(provider.settle()).isEmpty)
    #expect(
      bench.store.records.last?.data.contains("no provider takes lines of this length") == true)
    _ = caller.call(#"{"id":1,"method":"lamp.order","params":{"n":1}}"#)
    #expect(calls(provider.settle()).count == 1)
    _ = provider.call(#"{"id":1,"method":"withdraw","params":["lamp"]}"#)
    _ = bench.connect().call(
      #"{"id":1,"method":"services.forget","params":["lamp"]}"#)
    let other = bench.connect(uid: 500)
    _ = other.call(provide(#""service":"lamp","methods":{"say":{}}"#))
    #expect(
      caller.error(#"{"id":1,"method":"lamp.say","params":{"n":"\#(long)"}}"#)?.name == .unavailable
    )
  }

  @Test
  func `28: a call that cannot be answered while the journal takes nothing waits`() {
    _ = provider.call(provide())
    provider.disconnect()
    let long = String(repeating: "x", count: 100_000)
    _ = caller.call(#"{"id":1,"method":"lamp.order","params":{"n":"\#(long)"}}"#)
    bench.store.fail(.readOnly(reason: "ENOSPC", outcome: .none))
    let next = bench.connect(uid: 500)
    next.send(provide())
    #expect(calls(next.settle()).isEmpty)
  }

  @Test
  func `28: a late provider does not keep a queued call from others`() {
    _ = provider.call(provide(lamp + #","call_ms":1000"#))
    let other = bench.connect(uid: 500)
    _ = other.call(provide(lamp + #","call_ms":1000"#))
    _ = caller.call(#"{"id":7,"method":"lamp.order"}"#)
    #expect(calls(provider.received()) == ["q2"])
    bench.time.advance(1_000)
    #expect(calls(other.settle()) == ["q2"])
  }

  @Test
  func `28: a queued call that is answered with another type ends with an error`() {
    let declared =
      #""service":"lamp","methods":{"count":{"delivery":"queued","result":{"type":"integer"}}}"#
    _ = provider.call(provide(declared))
    _ = caller.call(#"{"id":7,"method":"lamp.count"}"#)
    #expect(calls(provider.received()) == ["q2"])
    #expect(provider.error(reply("q2", #""value":"x""#))?.data["path"] == .string("/value"))
    #expect(calls(provider.settle()).isEmpty)
    #expect(value("services/lamp") == #"{"doc":"","queued":0}"#)
    // A value that is left out is null.
    _ = caller.call(#"{"id":7,"method":"lamp.count"}"#)
    #expect(calls(provider.settle()) == ["q4"])
    #expect(provider.error(reply("q4", #""events":[]"#))?.data["path"] == .string("/value"))
  }

  @Test
  func `29: a provider may set only what its role may write, and no value that is too long`() throws
  {
    let all = Rules(allow: [Rule(try #require(Pattern("**")))])
    let methods = Rules(allow: [Rule(try #require(Pattern("**", separator: ".")))])
    let own = Rules(allow: [Rule(try #require(Pattern("services/**")))])
    let narrow = bench.connect(as: Role(name: "n", methods: methods, read: all, write: own))
    _ = narrow.call(provide())
    caller.send(blink())
    #expect(calls(narrow.received()) == ["c1"])
    #expect(
      narrow.error(reply("c1", #""value":"x","publish":[{"source":"lamp/a","value":1}]"#))?.name
        == .permissionDenied)
    #expect(caller.settle().first?.contains(#""name":"unavailable""#) == true)
    let long = String(repeating: "x", count: 300_000)
    caller.send(blink())
    #expect(calls(narrow.received()) == ["c2"])
    #expect(
      narrow.error(reply("c2", #""value":"x","events":[{"source":"lamp/a","value":"\#(long)"}]"#))?
        .data["path"] == .string("/events/0/value"))
    #expect(caller.settle().first?.contains("at /events/0/value") == true)
    #expect(
      narrow.error(
        #"{"id":1,"method":"publish","params":{"source":"lamp/a","value":"\#(long)","keep":true}}"#)?
        .data["path"] == .string("/value"))
  }

  // MARK: Declarations

  @Test
  func `29: a declaration with a fault is refused with its place`() {
    for (declaration, path) in [
      (#""service":"La","methods":{}"#, "/service"), (#""service":"l","methods":[]"#, "/methods"),
      (#""service":"l","methods":{"a b":{}}"#, "/methods/a b"),
      (#""service":"l","methods":{"a":{"params":{"type":"objekt"}}}"#, "/methods/a/params/type"),
      (#""service":"l","methods":{"a":{"params":7}}"#, "/methods/a/params"),
      (#""service":"l","methods":{"a":{"params":{"type":"string"}}}"#, "/methods/a/params/type"),
      (#""service":"l","methods":{"a":{"result":{"pattern":"x"}}}"#, "/methods/a/result/pattern"),
      (
        #""service":"l","methods":{"a":{"result":{"items":{"minimum":"x"}}}}"#,
        "/methods/a/result/items/minimum"
      ),
      (#""service":"l","methods":{"a":{"delivery":"soon"}}"#, "/methods/a/delivery"),
      (#""service":"l","methods":{"a":{"docs":"x"}}"#, "/methods/a/docs"),
      (#""service":"l","methods":{},"sources":{"a//b":""}"#, "/sources/a//b"),
      (#""service":"l","methods":{},"call_ms":1"#, "/call_ms"),
    ] {
      #expect(
        provider.error(provide(declaration))?.data["path"] == .string(path), "\(declaration)")
    }
    for name in ["cells", "rpc", "events", "services", "live"] {
      #expect(
        provider.error(provide(#""service":"\#(name)","methods":{}"#))?.name == .alreadyExists)
    }
  }

  @Test
  func `provided methods are described and discovered like others, by role`() throws {
    _ = provider.call(provide())
    let described = caller.result(#"{"id":1,"method":"describe","params":["lamp.blink"]}"#)
    #expect(described?["doc"] == .string("Blinks."))
    #expect(
      described?["params"]?.text.text
        == #"[{"name":"times","type":"integer","optional":false,"doc":"How often."}]"#)
    #expect(caller.call(#"{"id":1,"method":"describe"}"#).contains(#""lamp":"A lamp.""#))
    #expect(caller.call(#"{"id":1,"method":"describe","params":["lamp"]}"#).contains("Blinks."))
    #expect(caller.call(#"{"id":1,"method":"rpc.discover"}"#).contains(#""name":"lamp.blink""#))
    #expect(
      caller.error(#"{"id":1,"method":"lamp.blinc"}"#)?.data["did_you_mean"]
        == .string("lamp.blink"))
    let all = Rules(allow: [Rule(try #require(Pattern("**")))])
    let methods = Rules(allow: [Rule(try #require(Pattern("lamp.order", separator: ".")))])
    let narrow = bench.connect(as: Role(name: "n", methods: methods, read: all, write: Rules()))
    #expect(narrow.error(blink())?.name == .methodNotFound)
    #expect(!narrow.call(#"{"id":1,"method":"rpc.discover"}"#).contains("lamp.blink"))
    #expect(
      narrow.error(provide(#""service":"door","methods":{}"#))?.name == .permissionDenied
        || narrow.error(provide(#""service":"door","methods":{}"#))?.name == .methodNotFound)
  }

  // MARK: Quotas

  @Test
  func `a value lists 32 providers, and changes once in a turn`() {
    let watcher = bench.connect()
    _ = watcher.call(#"{"id":1,"method":"subscribe","params":{"source":"providers/lamp"}}"#)
    let crowd = (0..<40).map { i in bench.connect(uid: 500 + UInt32(i)) }
    for each in crowd { each.send(provide()) }
    let shown = watcher.settle()
    #expect(shown.count == 1, "\(shown.count)")
    #expect(shown.first?.contains(#""providers_count":40"#) == true)
    #expect(shown.first?.split(separator: #""uid":"#).count == 33)
    for each in crowd.dropLast() { each.disconnect() }
    let left = watcher.settle()
    #expect(left.count == 1)
    #expect(left.first?.contains(#""providers_count":1"#) == true)
    caller.send(blink())
    #expect(calls(crowd[39].received()).count == 1)
  }

  @Test
  func `29: a user has at most so many providers`() {
    programs.maxProvidersPerUser = 2
    let clients = (0..<3).map { _ in bench.connect(uid: 500) }
    _ = clients[0].call(provide())
    _ = clients[1].call(provide())
    #expect(clients[2].error(provide())?.data["reason"] == .string("too_many"))
    #expect(bench.connect(uid: 501).result(provide()) != nil)
    #expect(bench.connect(uid: 0).result(provide()) != nil)
    _ = clients[0].call(#"{"id":1,"method":"withdraw","params":["lamp"]}"#)
    #expect(clients[2].result(provide()) != nil)
    clients[1].disconnect()
    #expect(clients[0].result(provide()) != nil)
  }

  @Test
  func `29: of one user so many queued calls wait, and others have room`() {
    programs.maxQueuedPerUser = 2
    _ = provider.call(provide())
    func order(_ client: TestClient) -> WireError? {
      client.error(#"{"id":7,"method":"lamp.order"}"#)
    }
    #expect(order(caller) == nil)
    #expect(order(caller) == nil)
    #expect(order(caller)?.data["reason"] == .string("too_many"))
    #expect(order(bench.connect(uid: 1001)) == nil)
    _ = provider.call(reply("q2", #""value":1"#))
    #expect(order(caller) == nil)
    #expect(order(caller)?.data["reason"] == .string("too_many"))
    provider.disconnect()
    _ = caller.call(#"{"id":1,"method":"services.forget","params":["lamp"]}"#)
    _ = bench.connect(uid: 500).call(provide())
    #expect(order(caller) == nil)
  }

  @Test
  func `29: the services of a user have at most 1000 methods`() {
    func declaration(_ name: String, _ count: Int) -> String {
      let methods = (0..<count).map { #""m\#($0)":{}"# }.joined(separator: ",")
      return provide(#""service":"\#(name)","methods":{\#(methods)}"#)
    }
    for i in 0..<15 { #expect(provider.result(declaration("s\(i)", 64)) != nil) }
    #expect(provider.error(declaration("more", 41))?.data["reason"] == .string("too_many"))
    #expect(provider.result(declaration("more", 40)) != nil)
    #expect(caller.result(declaration("other", 64)) != nil)
    #expect(
      caller.error(#"{"id":1,"method":"mora.m7"}"#)?.data["did_you_mean"] == .string("more.m7"))
    #expect(
      caller.error(#"{"id":1,"method":"describe","params":["s3.m9x"]}"#)?.data["did_you_mean"]
        == .string("s3.m9"))
    #expect(caller.error(#"{"id":1,"method":"rpc.discover"}"#)?.name == .resultTooLarge)
    #expect(
      caller.result(#"{"id":1,"method":"rpc.discover","params":["other"]}"#)?["methods"] != nil)
  }

  @Test
  func `declarations count toward the quota of state until they are forgotten`() {
    let doc = String(repeating: "x", count: 200)
    let methods = (0..<10).map { #""m\#($0)":{"doc":"\#(doc)"}"# }.joined(separator: ",")
    func declare(_ i: Int) -> String {
      provider.call(provide(#""service":"s\#(i)","methods":{\#(methods)}"#))
    }
    #expect(declare(0).contains(#""result""#))
    let bytes = bench.host.stateBytes(of: 500)
    #expect(bytes > 10 * 200)
    bench.host.quota = StateQuota(total: 100 * bytes, ofUser: bytes * 7 / 2)
    #expect(declare(1).contains(#""result""#))
    #expect(declare(2).contains(#""result""#))
    let refused = declare(3)
    #expect(refused.contains("state_user"), "\(refused)")
    // Others have a quota of their own.
    let other = caller.call(provide(#""service":"other","methods":{\#(methods)}"#))
    #expect(other.contains(#""result""#), "\(other)")
    #expect(
      provider.call(#"{"id":1,"method":"withdraw","params":["s0"]}"#).contains(#""result""#))
    let forgotten = provider.call(#"{"id":1,"method":"services.forget","params":["s0"]}"#)
    #expect(forgotten.contains(#""result""#), "\(forgotten)")
    #expect(declare(3).contains(#""result""#))
  }

  // MARK: Values

  @Test
  func `the events of a reply are journaled before the caller has its answer`() {
    _ = provider.call(provide())
    ask()
    provider.send(
      reply(
        "c1",
        #""value":"done","events":[{"source":"lamp/state","value":true}],"publish":[{"source":"lamp/watts","value":7}]"#
      ))
    #expect(caller.received().isEmpty, "not durable yet")
    _ = provider.settle()
    #expect(caller.settle().count == 1)
    #expect(value("services/lamp/state") == "true")
    #expect(value("live/lamp/watts") == "7")
    #expect(
      bench.store.records.map { "\($0.type) \($0.stream)" } == [
        "services.provided services/lamp", "services.set services/lamp/state",
      ])
  }

  @Test
  func `29: an event under a foreign name is refused, and nothing is done`() {
    _ = provider.call(provide())
    let foreign = [("door/state", "events"), ("lampe/x", "publish"), ("lamp//x", "events")]
    for (i, (source, list)) in foreign.enumerated() {
      ask()
      let error = provider.error(
        reply(
          "c\(i + 1)",
          #""value":"x","\#(list)":[{"source":"lamp/ok","value":1},{"source":"\#(source)","value":1}]"#
        ))
      #expect(error?.data["path"] == .string("/\(list)/1/source"), "\(source)")
      #expect(caller.settle().first?.contains("at /\(list)/1/source") == true)
    }
    #expect(bench.store.records.count == 1, "only the declaration")
    #expect(value("live/lamp/ok") == nil)
  }

  @Test
  func `28: the caller does not wait for a reply that is refused, unless another one may follow`() {
    _ = provider.call(provide())
    for (i, more) in [
      #""error":{"message":"no bulb"}"#, #""value":"x","error":"y""#, #""value":"x","valeu":1"#,
      #""value":"x","events":7"#, #""value":"x","_meta":{"cmd":7}"#,
    ].enumerated() {
      ask()
      let refusal = provider.error(reply("c\(i + 1)", more))
      let answer = caller.settle().first ?? ""
      #expect(answer.contains(#""name":"unavailable""#), "\(more)")
      #expect(answer.contains("was refused: " + (refusal?.message.prefix(20) ?? "?")), "\(answer)")
      #expect(provider.error(reply("c\(i + 1)", #""value":"x""#))?.name == .notFound)
    }
    // By position, and a queued one, which is not delivered again.
    ask()
    _ = provider.error(#"{"id":2,"method":"reply","params":["c6","x",{}]}"#)
    #expect(caller.settle().first?.contains("was refused") == true)
    _ = caller.call(#"{"id":7,"method":"lamp.order"}"#)
    #expect(calls(provider.settle()) == ["q2"])
    #expect(provider.error(reply("q2", #""error":7"#))?.data["path"] == .string("/error"))
    #expect(calls(provider.settle()).isEmpty)
    #expect(value("services/lamp")?.contains(#""queued":0"#) == true)
    // Another client cannot end a call, nor one without a name.
    ask()
    _ = caller.error(reply("c7", #""error":7"#))
    _ = provider.error(#"{"id":2,"method":"reply","params":{"call":7,"value":"x"}}"#)
    #expect(caller.settle().isEmpty)
    // The provider can read the new version and reply again.
    let stale = #""value":"x","_meta":{"expect":{"services/lamp/on":7}}"#
    #expect(provider.error(reply("c7", stale))?.name == .conflict)
    #expect(caller.settle().isEmpty)
    #expect(provider.error(reply("c7", #""value":"x""#)) == nil)
    #expect(caller.settle().count == 1)
  }

  @Test
  func `a value that the journal keeps is published as a part of a commit, under conditions`() {
    func publish(_ value: Int, _ condition: String, _ more: String = #","keep":true"#) -> String {
      let call =
        #"{"method":"publish","params":{"source":"lamp/n","value":\#(value)\#(more)}}"#
      return #"{"id":1,"method":"atomic","params":{"if":["\#(condition)"],"calls":[\#(call)]}}"#
    }
    #expect(provider.error(publish(1, "services/lamp/n !exists")) == nil)
    #expect(provider.error(publish(2, "services/lamp/n !exists"))?.name == .rejected)
    #expect(provider.error(publish(2, "services/lamp/n == 1")) == nil)
    #expect(value("services/lamp/n") == "2")
    let live = provider.error(publish(3, "services/lamp/n == 2", ""))
    #expect(live?.data["path"] == .string("/calls/0/params/keep"), "\(live?.message ?? "")")
    _ = provider.call(provide())
    #expect(
      caller.error(publish(3, "services/lamp/n == 2"))?.data["reason"] == .string("not_provider"))
  }

  @Test
  func `publish sets values with and without the journal`() {
    let watcher = bench.connect()
    _ = watcher.call(#"{"id":1,"method":"subscribe","params":{"source":"live/lamp/*","sub":"w"}}"#)
    _ = watcher.call(
      #"{"id":1,"method":"subscribe","params":{"source":"services/lamp/on","sub":"k"}}"#)
    #expect(
      provider.call(#"{"id":1,"method":"publish","params":{"source":"lamp/watts","value":5}}"#)
        == #"{"jsonrpc":"2.0","id":1,"result":{}}"#)
    #expect(watcher.settle().first?.contains(#""source":"live/lamp/watts","value":5"#) == true)
    #expect(bench.store.records.isEmpty)
    _ = provider.call(
      #"{"id":1,"method":"publish","params":{"source":"lamp/on","value":true,"keep":true}}"#)
    #expect(watcher.settle().first?.contains(#""sub":"k","seq":1,"value":true"#) == true)
    _ = provider.call(#"{"id":1,"method":"publish","params":{"source":"lamp/watts"}}"#)
    #expect(watcher.settle().first?.contains(#""gone":true"#) == true)
    for source in ["", "a//b", "a b"] {
      #expect(
        provider.error(#"{"id":1,"method":"publish","params":{"source":"\#(source)","value":5}}"#)?
          .data["path"] == .string("/source"))
    }
  }

  @Test
  func `publish and reply honour the options of commands`() throws {
    func publish(_ value: Int, _ meta: String) -> String {
      #"{"id":1,"method":"publish","params":{"source":"lamp/on","value":\#(value),"keep":true,"_meta":{\#(meta)}}}"#
    }
    #expect(
      provider.call(publish(1, #""cmd":"p1""#))
        == #"{"jsonrpc":"2.0","id":1,"result":{"seq":1,"version":1}}"#)
    #expect(
      provider.call(publish(1, #""cmd":"p1""#))
        == #"{"jsonrpc":"2.0","id":1,"result":{"seq":1,"version":1,"replayed":true}}"#)
    #expect(provider.error(publish(2, #""cmd":"p1""#))?.name == .cmdReused)
    let expect = #""expect":{"services/lamp/on":7}"#
    #expect(provider.error(publish(2, expect))?.name == .conflict)
    #expect(value("services/lamp/on") == "1")

    _ = provider.call(provide())
    ask()
    func reply(_ meta: String) -> String {
      self.reply(
        "c1", #""value":"done","events":[{"source":"lamp/on","value":3}],"_meta":{\#(meta)}"#)
    }
    #expect(provider.error(reply(expect))?.name == .conflict)
    #expect(
      provider.call(reply(#""cmd":"r1""#)) == #"{"jsonrpc":"2.0","id":2,"result":{"call":"c1"}}"#)
    #expect(caller.settle().count == 1)
    #expect(
      provider.call(reply(#""cmd":"r1""#))
        == #"{"jsonrpc":"2.0","id":2,"result":{"call":"c1","replayed":true}}"#)
    #expect(value("services/lamp/on") == "3")
  }

  @Test
  func `options of commands are refused where nothing is recorded`() {
    _ = provider.call(provide())
    for (name, option) in [
      ("cmd", #""cmd":"x""#), ("expect", #""expect":{"cells/a":1}"#),
      ("lease", #""lease":"connection""#),
    ] {
      let call = #"{"times":3,"_meta":{\#(option)}}"#
      #expect(caller.error(blink(call))?.data["path"] == .string("/_meta/\(name)"))
      let live = publish("lamp/watts", #","_meta":{\#(option)}"#)
      #expect(provider.error(live)?.data["path"] == .string("/_meta/\(name)"))
    }
    #expect(calls(provider.received()).isEmpty)
    #expect(value("live/lamp/watts") == nil)
  }

  private func publish(_ source: String, _ more: String = "") -> String {
    #"{"id":1,"method":"publish","params":{"source":"\#(source)","value":5\#(more)}}"#
  }

  @Test(arguments: ["", #","keep":true"#])
  func `29: values of a declared service come from its providers and its declarer`(more: String) {
    #expect(caller.result(publish("lamp/early", more)) != nil, "a free name")
    _ = provider.call(provide())
    #expect(provider.result(publish("lamp/watts", more)) != nil)
    #expect(bench.connect(uid: 500).result(publish("lamp/watts", more)) != nil, "the same user")
    #expect(bench.connect(uid: 0).result(publish("lamp/watts", more)) != nil, "root")
    #expect(caller.error(publish("lamp/watts", more))?.data["reason"] == .string("not_provider"))
    let helper = bench.connect(uid: 501)
    _ = helper.call(provide())
    #expect(helper.result(publish("lamp/watts", more)) != nil, "another provider")
    provider.disconnect()
    helper.disconnect()
    #expect(caller.error(publish("lamp/watts", more))?.data["reason"] == .string("not_provider"))
    for name in ["cells/foo", "events/x", "daemon/x", "live/x", "services/x"] {
      #expect(caller.error(publish(name, more))?.data["reason"] == .string("reserved"), "\(name)")
    }
  }

  @Test
  func `29: a reply with too many live values is refused before anything is done`() {
    _ = provider.call(provide())
    func text(_ kilobytes: Int) -> String { String(repeating: "x", count: kilobytes * 1_000) }
    func publish(_ name: String, _ kilobytes: Int) -> String {
      #"{"source":"lamp/\#(name)","value":"\#(text(kilobytes))"}"#
    }
    for i in 0..<17 {
      let params = publish("n\(i)", i == 0 ? 300 : 1_000)
      let line = #"{"id":1,"method":"publish","params":\#(params)}"#
      #expect(provider.result(line) != nil)
    }
    ask()
    // The first value makes room, and the second one takes it again.
    let list = [publish("n0", 0), publish("n0", 300), publish("n17", 500)].joined(separator: ",")
    let error = provider.error(
      reply(
        "c1", #""value":"done","events":[{"source":"lamp/state","value":1}],"publish":[\#(list)]"#))
    #expect(error?.data["reason"] == .string("too_large"))
    #expect(caller.settle().count == 1, "it does not wait")
    #expect(value("services/lamp/state") == nil)
    let observer = bench.connect()
    _ = observer.call(#"{"id":0,"method":"hello","params":{"limits":{"line":1000000}}}"#)
    let kept = observer.result(#"{"id":1,"method":"get","params":["live/lamp/n0"]}"#)?["value"]
    #expect(kept?.text.text.utf8.count == 300_002)
    // Of two values of one name the last one counts.
    let other = [publish("n17", 400), publish("n17", 10)].joined(separator: ",")
    ask()
    _ = provider.call(reply("c2", #""value":"done","publish":[\#(other)]"#))
    #expect(caller.settle().count == 1)
    #expect(value("live/lamp/n17")?.utf8.count == 10_002)
  }

  // MARK: Queued calls

  private let order = #"{"id":7,"method":"lamp.order","params":{"n":1,"_meta":{"cmd":"o1"}}}"#

  @Test
  func `a queued call is an event that is delivered until it is answered`() throws {
    _ = provider.call(provide())
    #expect(
      caller.call(order) == #"{"jsonrpc":"2.0","id":7,"result":{"value":2,"seq":2,"version":2}}"#)
    #expect(caller.call(order).contains(#""value":2"#), "the same command")
    #expect(bench.store.records.count == 2)
    #expect(value("services/lamp") == #"{"doc":"A lamp.","queued":1}"#)
    #expect(calls(provider.received()) == ["q2"])
    // One dies: the next one gets it.
    provider.disconnect()
    let next = bench.connect(uid: 500)
    next.send(provide())
    #expect(calls(next.settle()) == ["q2"])
    // The daemon is restarted.
    let again = try Self.bench(bench.store)
    let last = again.connect(uid: 500)
    last.send(provide())
    #expect(calls(last.settle()) == ["q2"])
    last.send(reply("q2", #""value":"made","events":[{"source":"lamp/made","value":1}]"#))
    #expect(last.settle().count == 1)
    #expect(
      again.store.records.suffix(2).map { "\($0.type) \($0.data)" } == [
        #"services.set {"value":1}"#, #"services.answered {"call":2,"value":"made"}"#,
      ])
    #expect(
      again.connect().result(#"{"id":1,"method":"get","params":["services/lamp"]}"#)?["value"]?
        .text.text == #"{"doc":"A lamp.","queued":0}"#)
  }

  @Test
  func `a call may be queued while nobody provides the service`() throws {
    _ = provider.call(provide())
    provider.disconnect()
    #expect(caller.result(order)?["seq"] == .number(JSONNumber(2)))
    #expect(caller.error(blink())?.name == .unavailable)
    // Also after a restart of the daemon: the declaration is in the journal.
    let again = try Self.bench(bench.store)
    let other = again.connect()
    #expect(other.call(#"{"id":1,"method":"describe","params":["lamp"]}"#).contains("Blinks."))
    #expect(other.result(#"{"id":7,"method":"lamp.order"}"#)?["seq"] == .number(JSONNumber(3)))
    let next = again.connect(uid: 500)
    next.send(provide())
    #expect(calls(next.settle()) == ["q2"])
    #expect(again.store.records.count == 3, "the same declaration is no event")
  }

  @Test
  func `a service without providers can be declared again, and forgotten`() {
    _ = provider.call(provide())
    let forget = #"{"id":1,"method":"services.forget","params":["lamp"]}"#
    #expect(caller.error(forget)?.data["reason"] == .string("provided"))
    provider.disconnect()
    let next = bench.connect(uid: 500)
    _ = next.call(provide(#""service":"lamp","methods":{"dim":{"delivery":"queued"}}"#))
    #expect(caller.error(blink())?.name == .methodNotFound)
    _ = caller.call(#"{"id":7,"method":"lamp.dim"}"#)
    next.disconnect()
    #expect(caller.result(forget)?["seq"] != nil)
    #expect(caller.error(#"{"id":7,"method":"lamp.dim"}"#)?.name == .methodNotFound)
    #expect(value("services/lamp") == nil)
    #expect(caller.error(forget)?.name == .notFound)
  }

  @Test
  func `29: a user declares so many services, and another user more`() {
    func provide(_ i: Int) -> String {
      #"{"id":1,"method":"provide","params":{"service":"s\#(i)","methods":{}}}"#
    }
    for first in stride(from: 0, to: 250, by: 50) {
      let provider = bench.connect(uid: 500)
      for i in first..<first + 50 { #expect(provider.result(provide(i)) != nil) }
    }
    #expect(provider.error(provide(250))?.data["reason"] == .string("too_many"))
    #expect(caller.result(provide(250)) != nil)
  }

  @Test
  func `29: the live values of a user are limited in bytes`() {
    let large = String(repeating: "x", count: 900_000)
    var refused: WireError?
    for i in 0..<20 where refused == nil {
      refused = provider.error(
        #"{"id":1,"method":"publish","params":{"source":"lamp/x\#(i)","value":"\#(large)"}}"#)
    }
    #expect(refused?.data["reason"] == .string("too_large"))
    #expect(
      caller.error(#"{"id":1,"method":"publish","params":{"source":"lamp/y","value":1}}"#) == nil)
    _ = provider.call(#"{"id":1,"method":"publish","params":{"source":"lamp/x0"}}"#)
    #expect(
      provider.error(#"{"id":1,"method":"publish","params":{"source":"lamp/y","value":1}}"#) == nil)
  }

  @Test
  func `queued calls are delivered one at a time, in order, and again when late`() {
    _ = provider.call(provide(lamp + #","call_ms":1000"#))
    for i in 1...3 {
      _ = caller.call(#"{"id":7,"method":"lamp.order","params":{"n":\#(i)}}"#)
    }
    #expect(calls(provider.received()) == ["q2"])
    bench.time.advance(1_000)
    #expect(calls(provider.settle()) == ["q2"])
    provider.send(reply("q2", #""value":null"#))
    #expect(calls(provider.settle()) == ["q3"])
    provider.send(reply("q3", #""error":"no""#))
    #expect(calls(provider.settle()) == ["q4"])
  }

  /// Queues calls, each with its number as a parameter.
  private func queue(_ count: Int) {
    for i in 1...count {
      _ = caller.call(#"{"id":7,"method":"lamp.order","params":{"n":\#(i)}}"#)
    }
  }

  private func manage(_ method: String, _ more: String = "") -> String {
    #"{"id":1,"method":"services.\#(method)","params":{"service":"lamp"\#(more)}}"#
  }

  @Test
  func `28: a call that nobody answers is parked, and those behind it are delivered`() {
    _ = provider.call(provide(lamp + #","call_ms":1000,"max_deliveries":3"#))
    queue(3)
    #expect(calls(provider.received()) == ["q2"])
    bench.time.advance(1_000)
    #expect(calls(provider.settle()) == ["q2"])
    // The deliveries of all providers count.
    provider.disconnect()
    let next = bench.connect(uid: 500)
    next.send(provide(lamp + #","call_ms":1000,"max_deliveries":3"#))
    #expect(calls(next.settle()) == ["q2"])
    bench.time.advance(1_000)
    #expect(calls(next.settle()) == ["q3"])
    let shown = value("services/lamp")
    #expect(shown?.contains(#""queued":2,"parked":[{"call":2,"method":"lamp.order""#) == true)
    #expect(
      shown?.contains(#""reason":"its provider has not answered within 1000 ms","deliveries":3"#)
        == true)
    #expect(shown?.contains(#""parked_count":1"#) == true)
    next.send(reply("q3", #""value":null"#))
    #expect(calls(next.settle()) == ["q4"])
    // After a retry it comes before those that are younger, with as many deliveries.
    #expect(caller.error(manage("retry", #","call":3"#))?.data["reason"] == .string("not_parked"))
    #expect(caller.result(manage("retry", #","call":2"#))?["value"] == .number(JSONNumber(1)))
    #expect(caller.result(manage("retry"))?["value"] == .number(JSONNumber(0)))
    queue(1)
    next.send(reply("q4", #""value":null"#))
    for _ in 0..<3 {
      #expect(calls(next.settle()) == ["q2"])
      bench.time.advance(1_000)
    }
    #expect(calls(next.settle()).count == 1)
    #expect(value("services/lamp")?.contains(#""parked_count":1"#) == true)
    #expect(caller.result(manage("drop"))?["value"] == .number(JSONNumber(1)))
    #expect(value("services/lamp")?.contains("parked") == false)
    #expect(
      bench.store.records.last?.data == #"{"call":2,"error":"the call was dropped"}"#)
    #expect(caller.error(manage("drop", #","call":2"#))?.data["reason"] == .string("not_parked"))
  }

  @Test
  func `parked calls stay parked over a restart, and waiting ones are delivered in order`() throws {
    _ = provider.call(provide(lamp + #","call_ms":1000,"max_deliveries":1"#))
    queue(12)
    _ = provider.received()
    bench.time.advance(1_000)
    #expect(calls(provider.settle()) == ["q3"])
    let again = try Self.bench(bench.store)
    let next = again.connect(uid: 500)
    next.send(provide(lamp + #","max_deliveries":1"#))
    for seq in 3...13 {
      #expect(calls(next.settle()) == ["q\(seq)"])
      next.send(reply("q\(seq)", #""value":1"#))
    }
    #expect(calls(next.settle()).isEmpty)
    #expect(again.connect().result(manage("retry"))?["value"] == .number(JSONNumber(1)))
    #expect(calls(next.settle()) == ["q2"])
  }

  @Test
  func `calls whose answers the journal has lost are delivered again`() {
    _ = provider.call(provide())
    queue(2)
    _ = provider.received()
    provider.send(reply("q2", #""value":1"#))
    #expect(calls(provider.received()) == ["q3"])
    bench.store.reject(.readOnly(reason: "ENOSPC", outcome: .none))
    _ = provider.settle()
    provider.send(reply("q3", #""value":1"#))
    #expect(calls(provider.settle()) == ["q2"])
  }

  @Test
  func `28: a value that the journal cannot keep ends a queued call with an error`() {
    _ = provider.call(provide())
    queue(2)
    #expect(calls(provider.received()) == ["q2"])
    let long = String(repeating: "x", count: 300_000)
    provider.send(reply("q2", #""value":"\#(long)""#))
    let lines = provider.settle()
    #expect(calls(lines) == ["q3"], "it is not delivered again")
    #expect(lines.contains { $0.contains(#""path":"/value""#) })
    #expect(
      bench.store.records.last?.data
        == #"{"call":2,"error":"its provider has answered with a value that is too long"}"#)
  }

  @Test
  func `the oldest of many calls does not keep the answered ones`() {
    _ = provider.call(provide(lamp + #","call_ms":1000"#))
    caller.send(blink(id: 1))
    _ = provider.received()
    for i in 2..<300 {
      caller.send(blink(id: i))
      #expect(calls(provider.received()) == ["c\(i)"])
      _ = provider.call(reply("c\(i)", #""value":"x""#))
      #expect(caller.settle().count == 1)
      if i == 150 { bench.time.advance(500) }
    }
    bench.time.advance(500)
    #expect(caller.settle().first?.contains(#""id":1,"error""#) == true)
    caller.send(blink(id: 301))
    bench.time.advance(999)
    #expect(caller.settle().isEmpty)
    bench.time.advance(1)
    #expect(caller.settle().first?.contains("has not answered within 1000 ms") == true)
  }
}
