import BinderClient
import Console
import JSON

let callSyntax = Syntax(
  "call", "Calls a method and prints what it returns.",
  operands: [Operand("METHOD"), Operand("ARG", .any)],
  options: [
    Option(
      "cmd", value: "ID",
      "idempotency key: a repeated ID is not run again; the first result is returned"),
    Option("expect", value: "STREAM=N", "only if the stream has N events; may be repeated"),
  ],
  details: """
    ARG is name=text, name:=json, or all of them as one {…} or […]. 'bindctl describe METHOD' lists the
    parameters.
    """,
  examples: [
    "bindctl call cells.add name=visits by:=1", "bindctl call cells.toggle '[\"lamp\"]'",
    "bindctl call cells.add name=visits --cmd 0192f0c1",
  ])

var callCommand: Command {
  Command(callSyntax) { context in
    let connection = try context.client.connected()
    let id = try connection.send(context.operand(0), parameters(context))
    let result = try connection.answer(to: id).object
    let shown = result["value"] ?? .object(result)
    context.output.result(result, bare: shown, human: context.output.style.value(shown.text.text))
    return .done
  }
}

/// Returns the arguments of the call as JSON.
private func parameters(_ context: Context) throws -> JSONText {
  let words = context.invocation.operands.dropFirst()
  var object = JSONObject()
  if let word = words.first, word.hasPrefix("{") || word.hasPrefix("[") {
    let whole: JSONText
    do throws(JSONFault) {
      whole = try JSONText(parsing: word)
    } catch {
      throw misuse("'\(word)' is not JSON: \(error)")
    }
    if let extra = words.dropFirst().first { throw misuse("unexpected argument '\(extra)'") }
    guard word.hasPrefix("{") else {
      guard try options(context).members.isEmpty else {
        throw misuse("--cmd and --expect need arguments by name, not […]")
      }
      return whole
    }
    object = whole.object
  } else {
    for word in words { try object.add(word: word, command: "call") }
  }
  let options = try options(context)
  if !options.members.isEmpty { object["_meta"] = .object(options) }
  return JSONValue.object(object).text
}

/// Returns the members of `_meta`.
private func options(_ context: Context) throws(UsageError) -> JSONObject {
  var options = JSONObject()
  options["cmd"] = context.invocation.value("cmd").map { .string($0) }
  var expected = JSONObject()
  for word in context.invocation.values("expect") {
    guard let equals = word.lastIndex(of: "=") else {
      throw misuse("--expect takes STREAM=N, not '\(word)'")
    }
    expected[String(word[..<equals])] = expectation(String(word[word.index(after: equals)...]))
  }
  if !expected.members.isEmpty { options["expect"] = .object(expected) }
  return options
}

private func misuse(_ text: String) -> UsageError {
  UsageError(text, command: "call")
}
