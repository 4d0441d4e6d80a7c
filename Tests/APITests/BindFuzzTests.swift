import API
import Features
import JSON
import ServiceTestSupport
import Signals
import TestSupport
import Testing

@Suite(.leavesNothing)
struct BindFuzzTests {
  private static let mutation = Mutation(
    of: [
      "cells/a ~> cells/b", "cells/a <~ lists/b/c | not",
      "a <> b | !celsius_to_fahrenheit | scale(-2.5)",
      "a !~> b | format(\"{} °\") | uppercase | trim", "a <~! b | pick(\"/x/0\") | default(null)",
      "a <!> b | to_string | json | offset(1e3)", "  a~>b|round( 2 )|!!not  ",
    ],
    words: [
      "~>", "<~", "<>", "!~>", "<~!", "<!>", "|", "|!", "(", ")", "\"", "\\", "/", ",", " ", "not",
      "negate",
      "scale(0)", "scale(1e308)", "round(99999)", "round(-5)", "parse_json", "json", "length",
      "pick(\"\")",
      "pick(\"/~2\")", "format(\"{}{}\")", "default(9223372036854775808)", "ü", "\u{0}", "1e400",
      "-",
      "to_number", "lowercase", "(", "every(", "5m", "1e9d", "count", "count(3)", "scan(avg)",
      "map(1,2)", "clamp(2,1)", "between(1,2)", "delay(1s)", "sample(0s)", "distinct", "avg",
    ])

  /// Values that transformers may not like.
  private static let values: [JSONValue] = [
    .null, .bool(true), .number(JSONNumber(0)), .number(JSONNumber("-0") ?? JSONNumber(0)),
    .number(JSONNumber("1e308") ?? JSONNumber(0)), .number(JSONNumber(Int64.min)),
    .string(""), .string("\u{0}ü{}\"\\"), .string("1e999"), .string("[1,"), .string("{\"x\":[1]}"),
    .array([]), .array([.null, .array([])]), .object(["x": .array([.bool(false)]), "": .null]),
  ]

  @Test
  func `any expression is accepted, or refused with the column of the fault`() {
    let transformers = JSONTransformers.all
    let found = Fuzzing("bind").run(Self.mutation.make) { input in
      let text = String(decoding: input, as: UTF8.self)
      do throws(BindFault) {
        let expression = try BindExpression(text)
        let again = try BindExpression(expression.description)
        guard again.description == expression.description else {
          return "'\(expression.description)' reads back as '\(again.description)'"
        }
        return fault(try transformers.steps(for: expression))
      } catch {
        guard !"\(error)".isEmpty, 1...text.unicodeScalars.count + 1 ~= error.column else {
          return "\(error): there is no such column"
        }
        return nil
      }
    }
    if let found { Issue.record("\(found)") }
  }

  private func fault(_ steps: [BindStep<JSONValue>]) -> String? {
    var time = 0.0
    var waiting: [() -> Void] = []
    let clock = BindClock(now: { time }) { _, action in
      waiting.append(action)
      return SimpleDisposable()
    }
    for step in steps {
      switch step {
      case .transformer(let transformer): if let fault = fault(transformer) { return fault }
      case .filter(let passes): for value in Self.values { _ = try? passes(value) }
      case .stage(let make):
        let stage = make()
        var made: [JSONValue] = []
        stage.start(clock) { made.append($0) }
        for value in Self.values { try? stage.receive(value) }
        time += 1e6
        for action in waiting { action() }
        stage.restore(stage.state, waits: true)
        stage.restore(Self.values, waits: true)
        for value in Self.values { try? stage.receive(value) }
        stage.stop()
        if let value = made.first(where: { (try? JSONValue(parsing: $0.text.text)) != $0 }) {
          return "it emits \(value.text.text)"
        }
      }
    }
    return nil
  }

  /// Returns a description of an invalid result of a transformer; `nil` if it has none.
  ///
  /// A transformer may refuse a value.
  private func fault(_ transformer: Transformer<JSONValue, JSONValue>) -> String? {
    for value in Self.values {
      for step in [transformer.forward, transformer.reverse] {
        guard case .now(let change)? = step, let made = try? change(value) else { continue }
        guard (try? JSONValue(parsing: made.text.text)) == made else {
          return "\(value.text.text) becomes \(made.text.text)"
        }
      }
    }
    return nil
  }
}
