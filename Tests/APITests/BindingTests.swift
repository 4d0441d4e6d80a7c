import API
import Apps
import Configuration
import Connections
import EventSourcing
import Features
import JSON
import Journal
import JournalMemory
import Model
import ServiceTestSupport
import TestSupport
import Testing
import Wire

/// Bindings of clients and of the daemon.
@Suite(.leavesNothing)
struct BindingTests {
  private let bench: Bench
  private let client: TestClient

  init() throws {
    bench = try Bench(services: { parts in
      let host = parts.host
      let (bindings, people) = (BindingsService(in: host), PeopleService(in: host.library))
      return { catalog in
        bindBindings(catalog, to: bindings, parts.live)
        bindPeople(catalog, to: people)
      }
    })
    client = bench.connect()
  }

  private static let full = JournalError.readOnly(reason: "ENOSPC", outcome: .none)

  private func bind(
    _ expr: String, _ name: String? = nil, isKept: Bool = true, meta: String = ""
  ) -> String {
    let text = JSONText(string: expr).text
    let named = name.map { #","binding":"\#($0)""# } ?? ""
    let scope = isKept ? #","scope":"daemon""# : ""
    return
      #"{"id":1,"method":"bind","params":{"expr":\#(text)\#(named)\#(scope)\#(meta)}}"#
  }

  private func unbind(_ name: String, meta: String = "") -> String {
    #"{"id":2,"method":"unbind","params":{"binding":"\#(name)"\#(meta)}}"#
  }

  private func set(_ cell: String, _ value: Int) {
    _ = client.call(#"{"id":3,"method":"cells.set","params":["\#(cell)",\#(value)]}"#)
  }

  private func value(_ cell: String) -> String? {
    bench.cells.ledger.value(of: "cells/\(cell)")?.text
  }

  private func list() -> String { client.call(#"{"id":4,"method":"bindings.list"}"#) }

  @Test
  func `a binding passes on a value that is canonically equivalent to the one before`() {
    // An é of one scalar and of two, as a text and as names of members.
    for text in [#""\#u{E9}""#, #""e\#u{301}""#, #"{"\#u{E9}":1,"e\#u{301}":2}"#] {
      _ = client.call(#"{"id":3,"method":"cells.set","params":["a",\#(text)]}"#)
      if value("b") == nil { _ = client.call(bind("cells/a ~> cells/b", isKept: false)) }
      #expect(value("b")?.hasSameBytes(as: text) == true)
    }
  }

  @Test
  func `bindings that have ended leave nothing in the connection`() {
    set("a", 1)
    for _ in 0..<200 {
      #expect(client.result(bind("cells/a ~> cells/b", "k", isKept: false)) != nil)
      #expect(client.result(unbind("k"))?["was"] == .string("active"))
    }
    #expect(client.connection.attachedCount < 40)
  }

  @Test(arguments: [true, false])
  func `the list shows a result that the other end had already`(isPlain: Bool) {
    let operators = isPlain ? "" : " | distinct"
    _ = client.call(bind("cells/m | scale(2)\(operators) ~> cells/n"))
    set("m", 9)
    #expect(list().contains(#""value":18"#), "\(list())")
    set("n", 4)
    set("m", 2)
    #expect(value("n") == "4")
    #expect(list().contains(#""value":4"#), "\(list())")
  }

  // MARK: Limits of expressions

  @Test(arguments: [true, false])
  func `an expression over the limits is refused, and creates no binding`(isKept: Bool) {
    let many = "cells/q ~> cells/r" + String(repeating: " | not", count: 17)
    let error = client.error(bind(many, isKept: isKept))
    #expect(error?.name == .invalidParams)
    #expect(error?.data["path"] == .string("/expr"))
    #expect(error?.data["expected"] == .array([.string("at most 16 transformers")]))
    #expect(error?.data["got"] == .string("17 transformers"))
    #expect(error?.data["column"] == .number(JSONNumber(118)))
    let long = client.error(
      bind("cells/q ~> cells/r" + String(repeating: "|not", count: 70_000), isKept: isKept))
    #expect(long?.name == .invalidParams)
    #expect(long?.data["expected"] == .array([.string("at most 1024 bytes")]))
    #expect(long?.data["got"] == .string("280018 bytes"))
    #expect(bench.host.last == 0)
    let most = "cells/q ~> cells/r" + String(repeating: " | not", count: 16)
    #expect(client.result(bind(most, isKept: isKept)) != nil)
  }

  @Test
  func `an expression whose normal form is too long is refused`() {
    let escapes = String(repeating: #"\b"#, count: 400)
    let error = client.error(bind(#"cells/a~>cells/b|format("\#(escapes)")"#))
    #expect(error?.data["expected"] == .array([.string("at most 1024 bytes")]))
    #expect(bench.host.last == 0)
  }

  // MARK: Long values

  @Test
  func `a long value is decoded once for all bindings of its source, and released with them`() {
    let parts = bench.catalog.parts
    for i in 0..<20 {
      _ = client.call(bind(#"cells/long ~> cells/n\#(i) | pick("/n")"#, "b\(i)", isKept: false))
    }
    let filler = String(repeating: "x", count: 2000)
    for n in 1...2 {
      _ = client.call(
        #"{"id":3,"method":"cells.set","params":["long",{"n":\#(n),"filler":"\#(filler)"}]}"#)
      #expect((0..<20).allSatisfy { value("n\($0)") == "\(n)" })
      #expect(parts.decodings == n)
    }
    #expect(!parts.isEmpty)
    for i in 0..<20 { _ = client.call(unbind("b\(i)")) }
    #expect(parts.isEmpty)
  }

  @Test
  func `equal long values are decoded once, whatever binding has written them`() {
    let parts = bench.catalog.parts
    for i in 0..<5 { _ = client.call(bind("cells/long ~> cells/n\(i)", "b\(i)", isKept: false)) }
    for n in 1...2 {
      let value = #"{"n":\#(n),"filler":"\#(String(repeating: "x", count: 2000))"}"#
      _ = client.call(#"{"id":3,"method":"cells.set","params":["long",\#(value)]}"#)
      #expect((0..<5).allSatisfy { self.value("n\($0)") == value })
      #expect(parts.decodings == n)
    }
  }

  // MARK: The author of a write

  @Test(arguments: [true, false])
  func `writes of a binding are recorded under and charged to its creator`(isKept: Bool) {
    let maker = bench.connect(uid: 7)
    #expect(maker.result(bind("cells/a ~> cells/b", "k", isKept: isKept)) != nil)
    let before = bench.host.stateBytes(of: 7)
    set("a", 1)
    #expect(value("b") == "1")
    var metas: [String] = []
    bench.store.replay(after: 0) { metas = $0.records.compactMap(\.meta) }
    let seq = isKept ? 2 : 1
    let cause = #""cause":{"source":"cells/a","seq":\#(seq),"binding":"cells/a ~> cells/b"}"#
    #expect(metas.last == #"{"uid":7,"pid":0,"method":"bind",\#(cause)}"#)
    #expect(bench.host.stateBytes(of: 7) > before)
    #expect(bench.host.stateBytes(of: 0) == 0)
  }

  @Test(arguments: [true, false])
  func `writes of a binding count toward the quota of its creator`(isKept: Bool) {
    let maker = bench.connect(uid: 7)
    _ = maker.call(bind("cells/a ~> cells/b", isKept: isKept))
    bench.host.quota = StateQuota(total: 1 << 20, ofUser: 900)
    let text = String(repeating: "x", count: 2000)
    bench.host.owners = [0, 1000]
    _ = client.call(#"{"id":3,"method":"cells.set","params":["a","\#(text)"]}"#)
    #expect(value("b") == nil)
    if isKept {
      #expect(list().contains("the state of the user is full: 900 bytes at most"))
    } else {
      #expect(maker.settle().contains { $0.contains(#""name":"limit_reached""#) })
    }
    set("a", 1)
    #expect(value("b") == "1")
  }

  // MARK: Writes that the journal refuses

  @Test
  func `a binding that the journal refuses is not created`() {
    set("a", 1)
    client.send(bind("cells/a ~> cells/b", "k"))
    bench.store.reject(Self.full)
    #expect(client.settle().map { $0.contains(#""name":"read_only""#) } == [true])
    set("a", 2)
    #expect(value("b") == nil)
    #expect(list().contains(#""value":[]"#))
    let again = client.result(bind("cells/a ~> cells/b", "k"))
    #expect(
      again?["assigned"]
        == .object(["source": .string("cells/b"), "value": .number(JSONNumber(2))]))
    #expect(value("b") == "2")
  }

  @Test
  func `a binding continues if the journal refuses its end`() {
    _ = client.call(bind("cells/a !~> cells/b", "k"))
    client.send(unbind("k"))
    bench.store.reject(Self.full)
    #expect(client.settle().map { $0.contains(#""name":"read_only""#) } == [true])
    set("a", 1)
    #expect(value("b") == "1")
    #expect(list().contains(#""active":true,"transferred":1"#))
    #expect(client.result(unbind("k"))?["was"] == .string("active"))
    set("a", 2)
    #expect(value("b") == "1")
  }

  @Test
  func `if the journal refuses a rebound name, the old binding is restored`() {
    _ = client.call(bind("cells/a ~> cells/b", "k"))
    client.send(unbind("k"))
    bench.connect().send(bind("cells/b ~> cells/a", "k"))
    bench.store.reject(Self.full)
    _ = client.settle()
    set("a", 1)
    #expect(value("b") == "1")
    set("b", 5)
    #expect(value("a") == "1")
    #expect(list().contains("cells/a ~> cells/b"))
  }

  // MARK: Commands

  @Test
  func `a repeated cmd creates or ends a binding only once`() {
    let meta = #","_meta":{"cmd":"c1"}"#
    var first = client.result(bind("cells/a <> cells/b", meta: meta))
    #expect(first?["no_value"]?.text.text == #"["cells/a","cells/b"]"#)
    first?["no_value"] = nil
    var again = client.result(bind("cells/a <> cells/b", meta: meta))
    #expect(again?["replayed"] == .bool(true))
    again?["replayed"] = nil
    #expect(again == first)
    #expect(client.error(bind("cells/a ~> cells/b", meta: meta))?.name == .cmdReused)
    #expect(bench.host.last == 1)

    let end = #","_meta":{"cmd":"c2"}"#
    let ended = client.result(unbind("1", meta: end))
    #expect(ended?["was"] == .string("active"))
    var endedAgain = client.result(unbind("1", meta: end))
    #expect(endedAgain?["replayed"] == .bool(true))
    endedAgain?["replayed"] = nil
    #expect(endedAgain == ended)
    #expect(bench.host.last == 2)
  }

  @Test
  func `bind and unbind check their expected versions`() {
    let never = #","_meta":{"expect":{"cells/a":7}}"#
    #expect(client.error(bind("cells/a ~> cells/b", "k", meta: never))?.name == .conflict)
    #expect(bench.host.last == 0)
    let none = #","_meta":{"expect":{"bindings/k":"none"}}"#
    #expect(client.result(bind("cells/a ~> cells/b", "k", meta: none)) != nil)
    #expect(client.error(unbind("k", meta: none))?.name == .conflict)
    #expect(list().contains(#""binding":"k""#))
  }

  @Test
  func `a binding of a connection accepts no cmd and no expect`() {
    for (member, text) in [("cmd", #""x""#), ("expect", #"{"cells/a":0}"#)] {
      let meta = #","_meta":{"\#(member)":\#(text)}"#
      let error = client.error(bind("cells/a ~> cells/b", "c", isKept: false, meta: meta))
      #expect(error?.name == .invalidParams)
      #expect(error?.data["path"] == .string("/_meta/\(member)"))
    }
    _ = client.call(bind("cells/a ~> cells/b", "c", isKept: false))
    let error = client.error(unbind("c", meta: #","_meta":{"cmd":"x"}"#))
    #expect(error?.data["path"] == .string("/_meta/cmd"))
    #expect(client.result(unbind("c"))?["was"] == .string("active"))
  }

  // MARK: Cycles

  @Test
  func `a cycle through a part of a value is refused`() {
    for name in ["Kim", "Lee"] {
      _ = client.call(#"{"id":5,"method":"people.create","params":["\#(name)"]}"#)
    }
    _ = client.call(bind(#"people/1 ~> cells/q | pick("/name")"#, isKept: false))
    let error = client.error(bind("cells/q ~> people/1/name", isKept: false))
    #expect(error?.name == .bindingCycle)
    #expect(
      error?.data["path"]
        == .array([.string("cells/q"), .string("people/1/name"), .string("cells/q")]))
    #expect(client.result(bind("cells/q ~> people/2/name", isKept: false)) != nil)
    #expect(client.result(bind("cells/a ~> cells/ab", isKept: false)) != nil)
  }

  @Test
  func `the path of a cycle omits sources that its creator cannot read`() throws {
    for expr in ["cells/a ~> cells/x", "cells/x ~> cells/y", "cells/y ~> cells/b"] {
      _ = client.call(bind(expr))
    }
    let text =
      #"{"roles":[{"name":"panel","users":["*"],"read":["cells/a","cells/b"],"write":["cells/a"]}]}"#
    let nobody = Accounts(user: { _ in nil }, group: { _ in nil })
    let configuration = try Configuration(parsing: Array(text.utf8), file: "f", nobody)
    let role = try #require(
      configuration.roles.entry(for: Peer(uid: 1, groups: []), owner: 500)?.role)
    let panel = bench.connect(uid: 7, as: role)
    set("b", 1)
    let error = panel.error(bind("cells/b ~> cells/a", isKept: false))
    #expect(error?.name == .bindingCycle)
    let path = ["cells/b", "cells/a", "…", "cells/b"]
    #expect(error?.data["path"] == .array(path.map { .string($0) }))
    #expect(error?.message == "the binding would close a cycle: \(path.joined(separator: " → "))")
  }
}
