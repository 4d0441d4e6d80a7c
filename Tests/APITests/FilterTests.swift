import JSON
import ServiceTestSupport
import TestSupport
import Testing
import Wire

@Suite(.leavesNothing)
struct FilterTests {
  let bench: Bench
  let client: TestClient

  init() throws {
    bench = try Bench()
    client = bench.connect()
    for value in ["1", "2", #""x""#, #"{"n":5}"#, "null"] {
      _ = client.call(#"{"method":"cells.set","params":["a",\#(value)]}"#)
    }
    _ = client.call(#"{"method":"cells.remove","params":["a"]}"#)
  }

  /// Returns a filter with conditions.
  private func filter(_ conditions: String) -> String { #"{"where":[\#(conditions)]}"# }

  /// Returns the positions of the events that pass a filter, subscribed and read.
  private func seqs(_ filter: String) -> (subscribed: [Int], read: [Int]) {
    client.send(
      #"{"id":1,"method":"subscribe","params":{"source":"events","sub":"f","from":"start","filter":\#(filter)}}"#
    )
    let lines = client.settle()
    _ = client.call(#"{"id":2,"method":"unsubscribe","params":["f"]}"#)
    let page = client.result(
      #"{"id":3,"method":"history","params":{"source":"events","after":0,"filter":\#(filter)}}"#)
    guard case .array(let items)? = page?["items"] else { return ([], []) }
    return (lines.compactMap(Self.eventSeq), items.compactMap { $0.seq })
  }

  private static func eventSeq(_ line: String) -> Int? {
    guard line.contains(#""event":"#), case .object(let frame)? = try? JSONValue(parsing: line)
    else { return nil }
    return frame["params"]?.seq
  }

  @Test(arguments: [
    (#"{"path":"/value","op":">","value":1}"#, [2]),
    (#"{"path":"/value","op":"<=","value":2}"#, [1, 2]),
    (#"{"path":"/value","op":"==","value":null}"#, [5]),
    (#"{"path":"/value","op":"!=","value":1}"#, [2, 3, 4, 5, 6]),
    (#"{"path":"/value/n","op":"exists"}"#, [4]),
    (#"{"path":"/value","op":"exists","value":false}"#, [6]),
    (#"{"path":"/value","op":"in","value":[2,"x"]}"#, [2, 3]),
    (#"{"path":"/value","op":"prefix","value":"x"}"#, [3]),
    (#"{"path":"/value","op":">=","value":1},{"path":"/value","op":"<","value":2}"#, [1]),
    ("", [1, 2, 3, 4, 5, 6]),
  ])
  func `a filter selects events whose data meets all conditions, live and past`(
    conditions: String, expected: [Int]
  ) {
    let (subscribed, read) = seqs(filter(conditions))
    #expect(subscribed == expected)
    #expect(read == expected)
  }

  @Test
  func `conditions combine with types and streams, also for live events`() {
    client.send(
      #"{"id":1,"method":"subscribe","params":{"source":"events","sub":"f","filter":{"types":["cells.set"],"streams":["cells/b"],"where":[{"path":"/value","op":">","value":1}]}}}"#
    )
    _ = client.settle()
    for (name, value) in [("a", 9), ("b", 1), ("b", 2)] {
      client.send(#"{"method":"cells.set","params":["\#(name)",\#(value)]}"#)
    }
    #expect(client.settle().compactMap(Self.eventSeq) == [9])
  }

  @Test(arguments: [
    (#"{"path":"value","op":"==","value":1}"#, "/filter/where/0/path"),
    (#"{"path":"/a~","op":"==","value":1}"#, "/filter/where/0/path"),
    (#"{"path":"","op":"==","value":1},{"path":"","op":"=","value":1}"#, "/filter/where/1/op"),
    (#"{"path":"/a","op":"=="}"#, "/filter/where/0/value"),
    (#"{"path":"/a","op":"!="}"#, "/filter/where/0/value"),
    (#"{"path":"/a","op":"<","value":true}"#, "/filter/where/0/value"),
    (#"{"path":"/a","op":"<","value":[1]}"#, "/filter/where/0/value"),
    (#"{"path":"/a","op":">=","value":null}"#, "/filter/where/0/value"),
    (#"{"path":"/a","op":"in","value":1}"#, "/filter/where/0/value"),
    (#"{"path":"/a","op":"in","value":[]}"#, "/filter/where/0/value"),
    (#"{"path":"/a","op":"exists","value":1}"#, "/filter/where/0/value"),
    (#"{"path":"/a","op":"prefix","value":1}"#, "/filter/where/0/value"),
    (#"{"path":"/a"}"#, "/filter/where/0/op"),
    (#"{"op":"=="}"#, "/filter/where/0/path"),
    (#"{"path":"/a","op":"==","value":1,"not":true}"#, "/filter/where/0/not"),
    (#"{"path":1,"op":"==","value":1}"#, "/filter/where/0/path"),
    ("1", "/filter/where/0"),
  ])
  func `an invalid condition is refused with its place`(conditions: String, path: String) {
    for method in ["subscribe", "history"] {
      let error = client.error(
        #"{"id":1,"method":"\#(method)","params":{"source":"events","filter":\#(filter(conditions))}}"#
      )
      #expect(error?.name == .invalidParams)
      #expect(error?.data["path"] == .string(path))
    }
  }

  @Test
  func `the cost of a filter counts patterns, conditions, values and lengths, and is limited`() {
    func error(_ filter: String) -> WireError? {
      client.error(
        #"{"id":1,"method":"subscribe","params":{"source":"events","filter":\#(filter)}}"#)
    }
    func list(_ text: String, _ count: Int) -> String {
      Array(repeating: text, count: count).joined(separator: ",")
    }
    #expect(
      error(#"{"types":[\#(list(#""a.b""#, 32))],"streams":[\#(list(#""a/b""#, 32))]}"#) == nil)
    #expect(
      error(#"{"types":[\#(list(#""a.b""#, 32))],"streams":[\#(list(#""a/b""#, 33))]}"#)?.data[
        "cost"]
        == .number(JSONNumber(65)))
    let condition = #"{"path":"/a","op":"==","value":1}"#
    #expect(error(filter(list(condition, 64))) == nil)
    #expect(error(filter(list(condition, 65)))?.name == .tooExpensive)
    #expect(
      error(filter(#"{"path":"/a","op":"in","value":[\#(list("1", 65))]}"#))?.name == .tooExpensive)
    let long = "\"" + String(repeating: "x", count: 5000) + "\""
    let tooLong = error(filter(#"{"path":"","op":"==","value":\#(long)}"#))
    #expect(tooLong?.name == .tooExpensive)
    #expect(tooLong?.data["max"] == .number(JSONNumber(64)))
  }

  @Test
  func `the refusal of an empty list of values names it`() {
    let condition = filter(#"{"path":"/a","op":"in","value":[]}"#)
    let error = client.error(
      #"{"id":1,"method":"subscribe","params":{"source":"events","filter":\#(condition)}}"#)
    #expect(error?.data["got"] == .string("an empty array"))
  }
}

extension JSONValue {
  /// The member `seq` of an object.
  fileprivate var seq: Int? {
    guard case .object(let object) = self, case .number(let seq)? = object["seq"] else {
      return nil
    }
    return seq.int64.map { Int($0) }
  }
}
