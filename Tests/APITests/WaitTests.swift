import API
import BinderTesting
import Configuration
import Connections
import Features
import JSON
import Model
import ServiceTestSupport
import TestSupport
import Testing
import Wire

@Suite(.leavesNothing)
struct WaitTests {
  let bench: Bench
  let client: TestClient
  let other: TestClient

  init() throws {
    bench = try Bench { catalog, parts in
      let host = parts.host
      bindLists(catalog, to: ListsService(in: host))
      bindMaps(catalog, to: MapsService(in: host))
    }
    client = bench.connect()
    other = bench.connect()
  }

  /// Sets a cell as another client.
  private func set(_ name: String, _ value: String) {
    _ = other.call(#"{"id":1,"method":"cells.set","params":{"name":"\#(name)","value":\#(value)}}"#)
  }

  private func wait(_ params: String, on source: String = "cells/a") -> [String] {
    client.send(#"{"id":"w","method":"wait","params":{"source":"\#(source)"\#(params)}}"#)
    return client.received()
  }

  private func answer(_ rest: String) -> [String] {
    [#"{"jsonrpc":"2.0","id":"w","result":{"source":"cells/a","kind":"state",\#(rest)}}"#]
  }

  @Test
  func `a condition that already holds is answered immediately`() {
    set("a", "true")
    #expect(wait(#","value":true"#) == answer(#""seq":1,"value":true"#))
    #expect(wait("") == answer(#""seq":1,"value":true"#))
  }

  @Test
  func `waits for parts of long and short values get the same answers`() {
    let filler = String(repeating: "x", count: 2000)
    func document(_ one: Int, _ two: Int) -> String {
      #"{"filler":"\#(filler)","one":\#(one),"deep":{"two":[\#(two)]}}"#
    }
    set("a", document(0, 0))
    let waits = ["/one", "/deep/two/0", "/deep/two/0", "/none"].enumerated().map { i, path in
      #"{"id":\#(i),"method":"wait","params":{"source":"cells/a","path":"\#(path)","value":7}}"#
    }
    for wait in waits { client.send(wait) }
    #expect(client.received().isEmpty)
    set("a", document(1, 7))
    #expect(
      client.received().map { $0.prefix(24) } == [1, 2].map { #"{"jsonrpc":"2.0","id":\#($0),"# })
    set("a", document(7, 7))
    #expect(client.received().count == 1)
    #expect(client.connection.lateCount == 1)
  }

  @Test(
    arguments: [
      (#","value":true"#, "true"), ("", "0"), (#","value":null"#, "null"),
      (#","op":">","value":20"#, "21"), (#","path":"/t","op":"exists""#, #"{"t":1}"#),
      (#","op":"in","value":["x","y"]"#, #""y""#), (#","op":"prefix","value":"ab""#, #""abc""#),
      (#","path":"/t","value":2.0"#, #"{"t":2}"#),
    ])
  func `a wait is answered once, when its condition holds`(params: String, value: String) {
    #expect(wait(params).isEmpty)
    for early in ["20", #"{"u":1}"#, #""a""#] where params != "" {
      set("a", early)
      #expect(client.received().isEmpty, "\(early)")
    }
    let seq = params == "" ? 1 : 4
    set("a", value)
    #expect(client.received() == answer(#""seq":\#(seq),"value":\#(value)"#))
    set("a", value)
    #expect(client.received().isEmpty)
    #expect(client.connection.lateCount == 0)
  }

  @Test
  func `a wait for a removed source is answered`() {
    set("a", "1")
    #expect(wait(#","op":"exists","value":false"#).isEmpty)
    _ = other.call(#"{"id":1,"method":"cells.remove","params":["a"]}"#)
    #expect(client.received() == answer(#""seq":2,"gone":true"#))
  }

  @Test(arguments: [
    (
      "list", "lists/q", "[]", "[7]", #"lists.append","params":["q",7]"#,
      #"lists.remove","params":["q",0]"#
    ),
    (
      "map", "maps/q", "{}", #"{"k":7}"#, #"maps.put","params":["q","k",7]"#,
      #"maps.remove","params":["q","k"]"#
    ),
  ])
  func `an empty list or map has a value, as for get`(
    kind: String, source: String, empty: String, full: String, add: String, remove: String
  ) {
    func answer(_ seq: Int, _ value: String) -> [String] {
      let head = #""source":"\#(source)","kind":"\#(kind)","seq":\#(seq)"#
      return [#"{"jsonrpc":"2.0","id":"w","result":{\#(head),"value":\#(value)}}"#]
    }
    func change(_ call: String) { _ = other.call(#"{"id":1,"method":"\#(call)}"#) }
    // It was never written.
    #expect(wait(#","value":\#(empty)"#, on: source) == answer(0, empty))
    #expect(wait("", on: source) == answer(0, empty))
    #expect(wait(#","op":"!=","value":\#(empty)"#, on: source).isEmpty)
    change(add)
    #expect(client.received() == answer(1, full))
    // It is emptied.
    #expect(wait(#","value":\#(empty)"#, on: source).isEmpty)
    change(remove)
    #expect(client.received() == answer(2, empty))
    #expect(wait(#","op":"!=","value":\#(empty)"#, on: source).isEmpty)
    change(add)
    #expect(client.received() == answer(3, full))
  }

  @Test
  func `an unwritten list has an empty value in mode every`() {
    let reply = client.call(
      #"{"id":1,"method":"subscribe","params":{"source":"lists/q","sub":"s","mode":"every"}}"#)
    #expect(reply.contains(#""value":[]"#), "\(reply)")
  }

  @Test
  func `other calls continue during a wait, which can be cancelled or time out`() {
    #expect(wait("").isEmpty)
    #expect(client.call(#"{"id":2,"method":"ping"}"#).contains(#""id":2,"result""#))
    client.send(#"{"id":3,"method":"cancel","params":["w"]}"#)
    let lines = client.received()
    #expect(lines.first?.contains(#""name":"cancelled""#) == true)
    #expect(lines.last?.contains(#""was":"active""#) == true)
    #expect(wait(#","_meta":{"timeout_ms":50}"#).isEmpty)
    bench.time.advance(50)
    #expect(client.received().first?.contains(#""name":"timeout""#) == true)
    set("a", "1")
    #expect(client.received().isEmpty)
  }

  @Test(
    arguments: [
      (#"{"source":"cells/*"}"#, "/source"),
      (#"{"source":"cells/a","op":"~"}"#, "/op"), (#"{"source":"cells/a","op":">"}"#, "/value"),
      (#"{"source":"cells/a","path":"x"}"#, "/path"),
      (#"{"source":"cells/a","until":1}"#, "/until"),
    ])
  func `an invalid wait is refused with its place`(params: String, path: String) {
    let error = client.error(#"{"id":1,"method":"wait","params":\#(params)}"#)
    #expect(error?.name == .invalidParams)
    #expect(error?.data["path"] == .string(path))
  }

  @Test
  func `numbers above 2^53 are compared exactly`() {
    #expect(wait(#","op":">","value":9007199254740992"#).isEmpty)
    set("a", "9007199254740992")
    #expect(client.received().isEmpty)
    set("a", "9007199254740993")
    #expect(client.received().count == 1)
  }

  @Test
  func `a list is not cached after a wait for it`() throws {
    let bench = try Bench(services: { parts in
      let host = parts.host
      let lists = ListsService(in: host)
      return { catalog in bindLists(catalog, to: lists) }
    })
    let parts = bench.catalog.parts
    let (waiting, other) = (bench.connect(), bench.connect())
    func append(_ value: Int) {
      _ = other.call(#"{"id":1,"method":"lists.append","params":["l",\#(value)]}"#)
    }
    waiting.send(#"{"id":"w","method":"wait","params":{"source":"lists/l","path":"/1"}}"#)
    append(1)
    #expect(!parts.isEmpty)
    append(2)
    #expect(waiting.received().count == 1)
    #expect(parts.isEmpty)
  }

  @Test
  func `a wait for an unknown source is refused`() {
    #expect(
      client.error(#"{"id":1,"method":"wait","params":["cellar/a"]}"#)?.name == .notFound)
  }

  @Test
  func `the cost of a condition is limited like that of a filter`() {
    let values = (0..<65).map { "\($0)" }.joined(separator: ",")
    let error = client.error(
      #"{"id":1,"method":"wait","params":{"source":"cells/a","op":"in","value":[\#(values)]}}"#)
    #expect(error?.name == .tooExpensive)
    #expect(error?.data["cost"] == .number(JSONNumber(65)))
  }

  @Test
  func `a wait continues with a new role that can read the source`() {
    let rules = Rules(allow: [Pattern("**")].compactMap { $0.map { Rule($0) } })
    let before = Role(name: "a", methods: Rules(), read: rules, write: Rules())
    let after = Role(name: "b", methods: rules, read: rules, write: Rules())
    bindConnection(client.connection, to: bench.rights[before])
    #expect(wait("").isEmpty)
    bindConnection(
      client.connection, to: bench.rights[after], before: bench.rights[before])
    bench.rights.keep(only: [after, .owner])
    set("a", "1")
    #expect(client.received() == answer(#""seq":1,"value":1"#))
  }

  @Test
  func `a wait fails when its client loses read access`() {
    #expect(wait("").isEmpty)
    let blind = Role(name: "blind", methods: Rules(), read: Rules(), write: Rules())
    bindConnection(
      client.connection, to: bench.rights[blind], before: bench.rights[.owner])
    #expect(client.received().first?.contains(#""name":"permission_denied""#) == true)
    set("a", "1")
    #expect(client.received().isEmpty)
  }
}
