import BinderClient
import Console
import Facts
import JSON

let stringOption = Option("string", letter: "s", "take VALUE as a string, even if it is valid JSON")

let setSyntax = Syntax(
  "set", "Sets a source, or with - several sources in one commit.",
  operands: [Operand("SRC"), Operand("VALUE", .optional)],
  options: [
    stringOption,
    Option("if-version", value: "N", "only if the version is N, or 'none' if it was never set"),
    Option("if", value: "VALUE", "only if it has this value; 'null' for none (cells only)"),
  ],
  details: """
    VALUE is JSON if it parses, otherwise a string; - reads stdin, @FILE reads a file. When the command
    returns, the value is on disk. Exits with 5 if the --if or --if-version condition is not met. - in
    place of SRC and VALUE reads lines 'SRC VALUE' from stdin, as printed by get: all sources are set in
    one commit, or none.
    """,
  examples: [
    "bindctl set cells/lamp true", "bindctl set cells/name 'Kim'",
    "bindctl set cells/lock mine --if null || echo taken",
    "bindctl get 'cells/**' > kept; bindctl set - < kept",
  ])

var setCommand: Command {
  Command(setSyntax) { context in
    let source = context.operand(0)
    guard context.invocation.operands.count > 1 else {
      guard source == "-" else { throw UsageError("missing argument VALUE", command: "set") }
      for option in ["if", "if-version"] where context.invocation.value(option) != nil {
        throw UsageError("option '--\(option)' needs one SRC, not '-'", command: "set")
      }
      return try setMany(context)
    }
    var params: JSONObject = ["value": try context.value(context.operand(1)).value]
    if let version = context.invocation.value("if-version") {
      params["_meta"] = .object(["expect": .object([source: expectation(version)])])
    }
    var method = "set"
    if let expected = context.invocation.value("if") {
      guard source.hasPrefix("cells/") else {
        throw UsageError("--if takes a cell, not '\(source)'", command: "set")
      }
      method = "cells.compareAndSet"
      params["name"] = .string(String(source.dropFirst("cells/".count)))
      params["expected"] = JSONText(typed: expected).value
    } else {
      params["source"] = .string(source)
    }
    let result = try context.client.call(method, params).object
    if context.output.form != .human {
      context.output.result(result, bare: result["value"], human: "")
    }
    return .done
  }
}

/// Returns an expected version as JSON: a number, or a word such as `none`.
func expectation(_ text: String) -> JSONValue {
  JSONNumber(text).map { .number($0) } ?? .string(text)
}
