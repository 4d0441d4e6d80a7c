import API
import Configuration
import Connections
import EventSourcing
import Features
import JSON
import JournalMemory
import Model
import ServiceTestSupport
import TestSupport
import Testing
import Wire

/// Views that programs declare, as clients see them.
@Suite(.leavesNothing)
struct ProgramViewTests {
  let bench: Bench
  let provider: TestClient
  let client: TestClient

  init() throws {
    bench = try Self.make()
    (provider, client) = (bench.connect(uid: 500), bench.connect())
  }

  private static func make(_ store: MemoryStore? = nil) throws -> Bench {
    try Bench(store) { catalog, parts in bindPrograms(catalog, to: Programs(in: parts.host)) }
  }

  private static let methods =
    #"{"start":{"params":{"type":"object","properties":{"stage":{"type":"string"}},"required":["stage"]}},"queue":{"delivery":"queued"}}"#

  private func provide(_ views: [String: String], service: String = "deploy") -> String {
    var texts = JSONObject()
    for (name, text) in views.sorted(by: { $0.key < $1.key }) { texts[name] = .string(text) }
    return provide(JSONValue.object(texts).text.text, service: service)
  }

  private func provide(_ views: String, service: String = "deploy") -> String {
    #"{"id":1,"method":"provide","params":{"service":"\#(service)","methods":\#(Self.methods),"views":\#(views)}}"#
  }

  private func open(_ name: String, view: String = "v") -> String {
    #"{"id":1,"method":"open","params":{"binder":"\#(name)","view":"\#(view)"}}"#
  }

  private func intent(_ name: String, _ args: String = "{}") -> String {
    #"{"id":1,"method":"intent","params":{"view":"v","name":"\#(name)","args":\#(args)}}"#
  }

  private func publish(_ source: String, _ value: String) {
    _ = provider.call(
      #"{"id":1,"method":"publish","params":{"source":"\#(source)","value":\#(value),"keep":true}}"#
    )
  }

  private func lines(_ lines: String...) -> String {
    (["view \"Stages.\""] + lines).joined(separator: "\n")
  }

  private var board: String {
    lines(
      "services/deploy/* ~> stages", "start -> deploy.start stage=row.id", "queue -> deploy.queue")
  }

  private func props(_ client: TestClient, _ name: String = "deploy", view: String = "v") -> String?
  {
    client.result(open(name, view: view))?["props"]?.text.text
  }

  // MARK: Declarations

  @Test
  func `a view of a program is opened by its name, and calls its methods`() {
    #expect(provider.result(provide(["deploy": board, "deploy.one": lines("a = 1")])) != nil)
    publish("deploy/live", "7")
    let opened = client.result(open("deploy"))
    #expect(
      opened?["props"]?.text.text
        == #"{"stages":{"kind":"list","value":[{"id":"live","value":7}]},"#
        + #""queue_failed":{"kind":"state","hint":"quiet","value":null}}"#)
    #expect(props(client, "deploy.one", view: "w") == #"{"a":{"kind":"state","value":1}}"#)
    client.send(intent("start", #"{"id":"live"}"#))
    #expect(provider.received().joined().contains(#""params":{"stage":"live"}"#))
    // It is a part of the description.
    let described = client.result(#"{"id":1,"method":"describe","params":["deploy"]}"#)
    #expect(described?["views"]?.text.text.contains(#""name":"deploy.one""#) == true)
    let all = client.call(#"{"id":1,"method":"describe"}"#)
    #expect(all.contains(#""name":"deploy","service":"deploy","doc":"Stages.""#))
    #expect(all.contains(#""name":"deploy.one","service":"deploy""#))
  }

  @Test
  func `a fault of a view is refused with its name, line and column, and nothing is recorded`() {
    for (text, line, column, message) in [
      ("a = 1", 1, 1, "a file begins with"),
      (lines("cells/a | ruond ~> a"), 2, 11, "no transformer 'ruond'; did you mean 'round'?"),
      (lines("go -> deploy.strat"), 2, 7, "no method 'deploy.strat'; did you mean 'deploy.start'?"),
      (lines("go -> deploy.start stag=\"a\""), 2, 20, "no parameter 'stag'"),
      (lines("a = 1", "go -> cells.set name=\"a\""), 3, 7, "of its own service 'deploy' only"),
      (lines("go -> set source=\"cells/a\""), 2, 7, "of its own service 'deploy' only"),
      (lines("cells/a <> a"), 2, 12, "writes no source, as '<>' does; call a method of 'deploy'"),
      (lines("a = 1", "cells/a <~ a"), 3, 12, "writes no source"),
      (lines("cells/a <!> a"), 2, 13, "writes no source"),
      (lines("go => nowhere"), 2, 7, "no view 'nowhere'"),
      (lines("tab \"A\" => deploy"), 2, 12, "leads back to 'deploy'"),
    ] {
      let error = provider.error(provide(["deploy": text]))
      #expect(error?.name == .invalidParams, "\(text)")
      #expect(error?.data["path"] == .string("/views/deploy"))
      #expect(error?.data["line"] == .number(JSONNumber(line)), "\(error?.message ?? "")")
      #expect(error?.data["column"] == .number(JSONNumber(column)), "\(error?.message ?? "")")
      #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    }
    #expect(bench.store.records.isEmpty)
  }

  @Test
  func `names, numbers and sizes of views are limited`() {
    for (views, path) in [
      (#"{"other":"view \"A.\""}"#, "/views/other"),
      (#"{"deploy.":"view \"A.\""}"#, "/views/deploy."),
      (#"{"deploy.a.b":"view \"A.\""}"#, "/views/deploy.a.b"), (#"{"deploy":7}"#, "/views/deploy"),
      (#"["view"]"#, "/views"),
    ] {
      #expect(provider.error(provide(views))?.data["path"] == .string(path), "\(views)")
    }
    var many: [String: String] = [:]
    for i in 0..<1000 { many["deploy.v\(i)"] = lines() }
    let error = provider.error(provide(many))
    #expect(error?.message == "expected at most 16 views at /views, got 1000")
    let text = lines("a = \"\(String(repeating: "x", count: 70_000))\"")
    #expect(provider.error(provide(["deploy": text]))?.data["path"] == .string("/views"))
    // A view of the daemon keeps its name.
    let taken = provider.error(provide(["cell": lines()], service: "cell"))
    #expect(taken?.data["got"] == .string("'cell', a view of service 'cells'"))
    #expect(bench.store.records.isEmpty)
  }

  // MARK: Rights

  @Test
  func `a view of a program has the rights of its client`() throws {
    _ = provider.call(provide(["deploy": board, "deploy.other": lines("cells/secret ~> a")]))
    let methods = Rules(allow: [
      Rule(try #require(Pattern("open", separator: "."))),
      Rule(try #require(Pattern("intent", separator: "."))),
      Rule(try #require(Pattern("deploy.queue", separator: "."))),
    ])
    let read = Rules(allow: [Rule(try #require(Pattern("services/deploy/**")))])
    let narrow = bench.connect(as: Role(name: "n", methods: methods, read: read, write: Rules()))
    let opened = narrow.result(open("deploy"))
    #expect(opened?["intents"]?.text.text == #"{"queue":{"params":{}}}"#)
    #expect(narrow.error(open("deploy.other", view: "w"))?.name == .notFound)
    let stranger = bench.connect(
      as: Role(name: "s", methods: methods, read: Rules(), write: Rules()))
    #expect(stranger.error(open("deploy"))?.name == .notFound)
  }

  @Test
  func `a check of a view reveals nothing that the role may not know`() throws {
    _ = provider.call(provide(["deploy": board, "deploy.other": lines()]))
    let methods = Rules(allow: [
      Rule(try #require(Pattern("check_view", separator: "."))),
      Rule(try #require(Pattern("open", separator: "."))),
    ])
    let read = Rules(allow: [Rule(try #require(Pattern("cells/**")))])
    let narrow = bench.connect(as: Role(name: "n", methods: methods, read: read, write: Rules()))
    let text = lines("services/deploy/a ~> a", "go => deploy", "to => deploi", "cells/a ~> b")
    let params: JSONObject = ["text": .string(text)]
    let check =
      #"{"id":1,"method":"check_view","params":\#(JSONValue.object(params).text.text)}"#
    let faults = narrow.result(check)?["faults"]?.text.text ?? ""
    #expect(faults.contains("no source 'services/deploy/a'\""), "\(faults)")
    #expect(faults.contains("no view 'deploy'\""), "\(faults)")
    #expect(faults.contains("no view 'deploi'\""), "\(faults)")
    #expect(narrow.error(open("deploi"))?.data["did_you_mean"] == nil)
    #expect(client.result(check)?["faults"]?.text.text.contains("did you mean 'deploy'?") == true)
    #expect(client.error(open("deploi"))?.data["did_you_mean"] == .string("deploy"))
  }

  // MARK: Changes

  @Test
  func `a view stays when its provider dies, and its direct intents are unavailable`() {
    _ = provider.call(provide(["deploy": board]))
    publish("deploy/live", "7")
    #expect(props(client) != nil)
    provider.disconnect()
    #expect(client.settle().isEmpty, "it is not closed")
    let error = client.error(intent("start", #"{"id":"live"}"#))
    #expect(error?.name == .unavailable)
    #expect(client.result(intent("queue"))?["value"] != nil, "it waits")
    #expect(props(bench.connect()) == props(bench.connect()))
  }

  /// Answers the last call that the provider has got.
  private func reply(_ lines: [String], _ rest: String) {
    let call = lines.last { $0.contains(#""method":"call""#) } ?? ""
    let number = call.split(separator: #""call":""#).last?.prefix { $0 != "\"" } ?? ""
    _ = provider.call(#"{"id":2,"method":"reply","params":{"call":"\#(number)",\#(rest)}}"#)
  }

  @Test
  func `an intent dismisses its view only if its method succeeds`() {
    let text = lines("a = 1", "go -> deploy.start stage=\"x\" dismisses")
    #expect(provider.result(provide(["deploy": text])) != nil)
    _ = client.call(open("deploy"))
    client.send(intent("go"))
    reply(provider.received(), #""error":{"message":"no"}"#)
    let refused = client.received()
    #expect(refused.count == 1 && refused[0].contains(#""error""#), "\(refused)")
    client.send(intent("go"))
    #expect(client.received().isEmpty, "the view is open until there is an answer")
    reply(provider.received(), #""value":7"#)
    let answered = client.received()
    #expect(answered.first?.contains(#""value":7"#) == true, "\(answered)")
    #expect(answered.last?.contains(#""closed","params":{"view":"v""#) == true)
  }

  @Test
  func `an intent is answered although its view was reloaded in the middle of it`() {
    let text = lines("a = 1", "go -> deploy.start stage=\"x\" dismisses")
    #expect(provider.result(provide("{}")) != nil)
    func install(_ text: String) {
      var files = FileViews()
      files.read(Array(text.utf8), file: "panel.view")
      _ = bench.catalog.useFileViews(files, in: bench.table)
    }
    install(text)
    _ = client.call(open("panel"))
    client.send(intent("go"))
    let calls = provider.received()
    install(text + "\nb = 2")
    let closed = client.settle()
    #expect(closed.count == 1 && closed[0].contains(#""reason":"changed""#), "\(closed)")
    #expect(props(client, "panel")?.contains(#""b""#) == true)
    reply(calls, #""value":7"#)
    let answered = client.received()
    #expect(answered.count == 1 && answered[0].contains(#""value":7"#), "\(answered)")
    #expect(client.connection.views.all.count == 1, "the new view is not dismissed")
  }

  @Test
  func `an open view whose text has changed is closed, and others stay`() {
    _ = provider.call(provide(["deploy": board, "deploy.one": lines("a = 1")]))
    let other = bench.connect()
    #expect(props(client) != nil)
    #expect(props(other, "deploy.one") != nil)
    provider.disconnect()
    let next = bench.connect(uid: 500)
    _ = next.call(provide(["deploy": lines("b = 2"), "deploy.one": lines("a = 1")]))
    #expect(client.settle().contains { $0.contains(#""view":"v""#) && $0.contains("changed") })
    #expect(other.settle().isEmpty)
    #expect(props(client) == #"{"b":{"kind":"state","value":2}}"#)
    // Without views of its own the service has the one that all have.
    next.disconnect()
    _ = bench.connect(uid: 500).call(provide("{}"))
    #expect(client.settle().contains { $0.contains("changed") })
    #expect(client.result(open("deploy"))?["intents"]?.text.text.contains("start") == true)
    #expect(client.error(open("deploy.one", view: "w"))?.name == .notFound)
  }

  @Test
  func `tabs that come to lead back to a view around them are left out`() {
    _ = provider.call(provide(["a": lines("x = 1")], service: "a"))
    let second = bench.connect(uid: 500)
    #expect(second.result(provide(["b": lines("tab \"A\" => a")], service: "b")) != nil)
    provider.disconnect()
    let third = bench.connect(uid: 500)
    #expect(third.result(provide(["a": lines("tab \"B\" => b", "y = 1")], service: "a")) != nil)
    let opened = client.call(open("a"))
    #expect(opened.contains(#""y":"#))
    #expect(bench.connect().call(open("b", view: "w")).contains(#""binder":"b""#))
  }

  @Test
  func `views are there after a restart, before their program`() throws {
    let store = MemoryStore()
    do {
      let first = try Self.make(store)
      let program = first.connect(uid: 500)
      _ = program.call(provide(["deploy": lines("a = 1")]))
    }
    let second = try Self.make(store)
    #expect(props(second.connect()) == #"{"a":{"kind":"state","value":1}}"#)
  }
}
