import API
import Features
import JSON
import ServiceTestSupport
import Signals
import TestSupport
import Testing

@Suite(.leavesNothing)
struct JSONTransformerTests {
  private func run(_ call: String, _ input: String, reversed: Bool = false) -> String? {
    guard let expression = try? BindExpression("a \(reversed ? "<~" : "~>") b | \(call)"),
      let all = try? JSONTransformers.all.transformer(for: expression),
      let value = try? JSONValue(parsing: input)
    else { return "no transformer" }
    guard case .now(let step)? = reversed ? all.reverse : all.forward else { return "no way" }
    return (try? step(value))?.text.text
  }

  @Test(arguments: [
    ("not", "true", "false"), ("negate", "2.5", "-2.5"), ("to_string", "1.50", #""1.50""#),
    ("to_string", "true", #""true""#), ("to_number", #"" 7 ""#, "7"),
    ("scale(0.5)", "3", "1.5"), ("scale(2)", "3", "6"), ("offset(-1)", "3", "2"),
    ("json", #"{"a":1}"#, #""{\"a\":1}""#), ("celsius_to_fahrenheit", "100", "212"),
  ])
  func `a reversible transformer converts a value and back`(
    call: String, input: String, output: String
  ) {
    #expect(run(call, input) == output)
    let back = run(call, output, reversed: true)
    #expect(run(call, back ?? "") == output)
  }

  @Test(arguments: [
    ("uppercase", #""añ""#, #""AÑ""#), ("lowercase", #""AB""#, #""ab""#),
    ("trim", #""  a b ""#, #""a b""#), ("trim", #""  ""#, #""""#), ("round(1)", "2.349", "2.3"),
    ("round(0)", "2.5", "3"), ("round(-2)", "1234", "1200"),
    (#"format("{} °C")"#, "20.5", #""20.5 °C""#), (#"format("{}/{}")"#, #""x""#, #""x/x""#),
    ("default(0)", "null", "0"), ("default(0)", "false", "false"), ("length", #""héé""#, "3"),
    ("length", "[1,2]", "2"), ("length", #"{"a":1}"#, "1"), ("parse_json", #""[1, 2]""#, "[1,2]"),
    (#"pick("/a/1")"#, #"{"a":[1,{"b":2}]}"#, #"{"b":2}"#), (#"pick("/x~1y")"#, #"{"x/y":1}"#, "1"),
    (#"pick("/none")"#, #"{"a":1}"#, "null"), (#"pick("")"#, "1", "1"),
  ])
  func `a transformer converts a value`(call: String, input: String, output: String) {
    #expect(run(call, input) == output)
  }

  @Test(arguments: [
    ("sum", "10999999999999999989"), ("min", "999999999999999999"),
    ("max", "999999999999999999"),
  ])
  func `aggregates of large integers are exact`(call: String, output: String) {
    let all = Array(repeating: "999999999999999999", count: 11).joined(separator: ",")
    #expect(run(call, "[\(all),null]") == output)
  }

  @Test(arguments: [
    ("not", "1"), ("negate", #""1""#), ("to_number", #""warm""#), ("uppercase", "1"),
    ("scale(2)", "null"), ("scale(1e300)", "1e300"), ("length", "1"), ("parse_json", #""{""#),
    ("to_string", "[]"),
  ])
  func `a value that a transformer cannot convert is refused`(call: String, input: String) {
    #expect(run(call, input) == nil)
  }

  @Test
  func `parsing a text refuses a value that is nested too deep`() {
    func nested(_ depth: Int) -> String {
      String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    }
    #expect(run("parse_json", #""\#(nested(54))""#) == nested(54))
    #expect(run("parse_json", #""\#(nested(55))""#) == nil)
  }

  @Test(arguments: ["uppercase", "lowercase", "trim", "round(1)", "length"])
  func `a transformer without a reverse cannot be used in both directions`(call: String) {
    #expect(run(call, "1", reversed: true) == "no transformer")
  }

  @Test
  func `extreme arguments are taken, and a pointer without a slash is not`() {
    #expect(run("round(-9223372036854775808)", "5") == "0")
    #expect(run(#"pick("x")"#, #"{"x":1}"#) == "no transformer")
    #expect(run(#"pick("/x")"#, #"{"x":1}"#) == "1")
  }

  @Test
  func `no step makes a value longer than the limit`() {
    let ten = #"format("{}{}{}{}{}{}{}{}{}{}")"#
    let chain = Array(repeating: ten, count: 7).joined(separator: " | ")
    #expect(run(chain, #""01234567890123456789""#) == nil)
    #expect(run(ten, #""\#(String(repeating: "x", count: 26_214))""#)?.utf8.count == 262_142)
    #expect(run(ten, #""\#(String(repeating: "x", count: 26_215))""#) == nil)
    #expect(run(#"format("{}")"#, #""\#(String(repeating: #"\""#, count: 131_071))""#) != nil)
    #expect(run(#"format("{}{}")"#, #""\#(String(repeating: #"\""#, count: 65_536))""#) == nil)
    let quotes = #""\#(String(repeating: #"\""#, count: 60_000))""#
    #expect(run("json", quotes) != nil)
    #expect(run(Array(repeating: "json", count: 16).joined(separator: " | "), quotes) == nil)
    #expect(run("parse_json", quotes, reversed: true) != nil)
  }
}
