import BinderTesting
import Connections
import JSON
import ServiceTestSupport
import TestSupport
import Testing
import Wire

@Suite(.leavesNothing)
struct PickTests {
  let bench: Bench
  let client: TestClient

  init() throws {
    bench = try Bench()
    client = bench.connect()
    set("a", #"{"t":1,"u":"x"}"#)
    set("b", #"{"u":"y"}"#)
  }

  private func set(_ name: String, _ value: String) {
    _ = client.call(#"{"method":"cells.set","params":{"name":"\#(name)","value":\#(value)}}"#)
  }

  private func next(_ rest: String) -> String {
    #"{"jsonrpc":"2.0","method":"next","params":{"sub":"s","# + rest + "}}"
  }

  private func subscribe(_ params: String) -> JSONObject? {
    client.result(#"{"id":1,"method":"subscribe","params":{"sub":"s",\#(params)}}"#)
  }

  /// Returns the lines of a watcher that is another client.
  private func hear(_ watcher: TestClient) -> [String] {
    _ = client.settle()
    return watcher.settle()
  }

  /// Names that are canonically equivalent, of one scalar and of two.
  private static let names = ["\u{E9}", "e\u{301}"]

  @Test(arguments: [false, true], [false, true])
  func `parts whose names are canonically equivalent are watched apart`(
    isPattern: Bool, isLong: Bool
  ) {
    let rest = isLong ? #","rest":"\#(String(repeating: "x", count: 2_000))""# : ""
    func set(_ values: [Int]) {
      let members = zip(Self.names, values).map { #""\#($0)":\#($1)"# }
      self.set("a", "{" + members.joined(separator: ",") + rest + "}")
    }
    set([1, 2])
    let watchers = Self.names.map { name in
      let watcher = bench.connect()
      let params = #""source":"\#(isPattern ? "cells/*" : "cells/a")","pick":"/\#(name)""#
      let answer = watcher.call(
        #"{"id":1,"method":"subscribe","params":{"sub":"s",\#(params)}}"#)
      return (watcher, answer)
    }
    let present = isPattern ? #""values":{"cells/a":"# : #""value":"#
    for (i, (_, answer)) in watchers.enumerated() {
      #expect(answer.contains(present + "\(i + 1)}"))
    }
    set([3, 4])
    for (i, (watcher, _)) in watchers.enumerated() {
      let lines = hear(watcher)
      #expect(lines.count == 1 && lines.first?.hasSuffix(#""value":\#(i + 3)}}"#) == true)
    }
  }

  @Test
  func `a part of a value is read, and gone if it is missing`() {
    #expect(
      client.call(#"{"id":1,"method":"get","params":{"source":"cells/a","pick":"/t"}}"#)
        == #"{"jsonrpc":"2.0","id":1,"result":{"source":"cells/a","kind":"state","seq":2,"value":1}}"#
    )
    #expect(
      client.call(#"{"id":1,"method":"get","params":{"source":"cells/b","pick":"/t"}}"#)
        == #"{"jsonrpc":"2.0","id":1,"result":{"source":"cells/b","kind":"state","seq":2,"gone":true}}"#
    )
    #expect(
      client.result(#"{"id":1,"method":"get","params":{"source":"cells/*","pick":"/t"}}"#)?[
        "values"]
        == .object(["cells/a": .number(JSONNumber(1))]))
    #expect(
      client.result(#"{"id":1,"method":"get","params":{"source":"system/load","pick":"/one"}}"#)?[
        "value"] != nil)
    #expect(
      client.error(#"{"id":1,"method":"get","params":{"source":"cells/z","pick":"/t"}}"#)?.name
        == .notFound)
  }

  @Test
  func `a part is sent when it changes, and gone when it is removed`() {
    let watcher = bench.connect()
    let result = watcher.result(
      #"{"id":1,"method":"subscribe","params":{"sub":"s","source":"cells/a","pick":"/t"}}"#)
    #expect(result?["value"] == .number(JSONNumber(1)))
    let other = bench.connect()
    _ = other.call(#"{"id":1,"method":"subscribe","params":{"sub":"whole","source":"cells/a"}}"#)
    set("a", #"{"t":1,"u":"z"}"#)
    #expect(watcher.settle().isEmpty, "the part is the same")
    set("a", #"{"t":2,"u":"z"}"#)
    #expect(watcher.settle() == [next(#""seq":4,"value":2"#)])
    set("a", #"{"u":"z"}"#)
    #expect(watcher.settle() == [next(#""seq":5,"gone":true"#)])
    set("a", "7")
    #expect(watcher.settle().isEmpty)
    #expect(other.settle().count == 4, "who wants the whole gets it")
  }

  @Test
  func `a pattern shows only the sources that have the part`() {
    let watcher = bench.connect()
    let result = watcher.result(
      #"{"id":1,"method":"subscribe","params":{"sub":"s","source":"cells/*","pick":"/t"}}"#)
    #expect(result?["values"] == .object(["cells/a": .number(JSONNumber(1))]))
    set("b", #"{"u":1}"#)
    set("c", "[]")
    set("a", #"{"t":1.0,"u":0}"#)
    set("a", #"{"t":1.0,"u":1}"#)
    #expect(watcher.settle() == [next(#""seq":5,"source":"cells/a","value":1.0"#)])
    set("b", #"{"t":null}"#)
    #expect(watcher.settle() == [next(#""seq":7,"source":"cells/b","value":null"#)])
    set("b", #"{}"#)
    #expect(watcher.settle() == [next(#""seq":8,"source":"cells/b","gone":true"#)])
    _ = client.call(#"{"method":"cells.remove","params":["b"]}"#)
    #expect(watcher.settle().isEmpty)
  }

  @Test
  func `in mode every, each change is sent as its part`() {
    let watcher = bench.connect()
    watcher.send(
      #"{"id":1,"method":"subscribe","params":{"sub":"s","source":"cells/a","pick":"/t","mode":"every","from":"start"}}"#
    )
    set("a", #"{"t":1}"#)
    set("a", "3")
    #expect(
      watcher.settle().filter { $0.contains("next") } == [
        next(#""seq":1,"value":1"#), next(#""seq":3,"value":1"#), next(#""seq":4,"gone":true"#),
      ])
    let result = watcher.result(
      #"{"id":1,"method":"subscribe","params":{"sub":"t","source":"cells/*","pick":"/t","mode":"every"}}"#
    )
    #expect(result?["values"] == .object([:]))
  }

  @Test(arguments: [
    (#"{"source":"cells/a","pick":"t"}"#, "/pick"), (#"{"source":"cells/a","pick":"/~"}"#, "/pick"),
    (#"{"source":"cells/a","pick":1}"#, "/pick"), (#"{"source":"events","pick":"/t"}"#, "/pick"),
    (#"{"source":"system/*","pick":"/t"}"#, "/pick"), (#"{"source":"**","pick":"/t"}"#, "/pick"),
    (#"{"source":"events","distinct":false}"#, "/distinct"),
    (#"{"source":"cells/a","mode":"every","distinct":true}"#, "/distinct"),
  ])
  func `pick and distinct are refused where they have no meaning`(params: String, path: String) {
    let error = client.error(#"{"id":1,"method":"subscribe","params":\#(params)}"#)
    #expect(error?.name == .invalidParams)
    #expect(error?.data["path"] == .string(path))
    #expect(client.connection.subscriptions.isEmpty)
  }

  // MARK: Added and removed sources

  @Test
  func `a source added and removed within an interval of a pattern is not stored`() {
    let watcher = bench.connect()
    _ = watcher.call(
      #"{"id":1,"method":"subscribe","params":{"sub":"s","source":"cells/**","min_interval_ms":1000}}"#
    )
    for i in 0..<500 {
      set("n\(i)", "1")
      _ = client.call(#"{"method":"cells.remove","params":["n\#(i)"]}"#)
    }
    set("last", "1")
    _ = client.call(#"{"method":"cells.remove","params":["a"]}"#)
    set("a", "5")
    _ = client.call(#"{"method":"cells.remove","params":["a"]}"#)
    bench.time.advance(1000)
    let lines = watcher.settle()
    #expect(lines.count == 2)
    #expect(lines.first?.contains(#""source":"cells/last","value":1"#) == true)
    #expect(lines.last?.contains(#""source":"cells/a","gone":true,"skipped":2"#) == true)
  }
}
