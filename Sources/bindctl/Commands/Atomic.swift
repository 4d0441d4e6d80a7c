import BinderClient
import Console
import JSON
import Model
import Wire

let atomicSyntax = Syntax(
  "atomic", "Sets sources and calls methods in one commit, if conditions hold.",
  operands: [Operand("STEP", .any)],
  options: [
    Option("if", value: "COND", "only if it holds, such as 'cells/stock > 0'; may be repeated"),
    Option("cmd", value: "ID", "idempotency key: a repeated ID is not run again"),
    settleOption,
  ],
  details: """
    Each STEP begins with -- and is 'set SRC VALUE', 'set -s SRC TEXT' or 'call METHOD ARG …'. All steps
    take effect, or none. The daemon decides the conditions on the newest state, in the same commit, so no
    other client can come between. COND is a source, one of == != < <= > >= and a value, or 'SRC exists' or
    'SRC !exists'. Exits with 5 if a condition does not hold, and says what the value is. Prints what the
    calls return, a line each. --settle exits with 1 if the value of a binding was refused, or if bindings still
    write after 5 seconds; the steps have taken effect all the same.
    """,
  examples: [
    "bindctl atomic --if 'cells/stock >= 3' -- call cells.add name=stock by:=-3 -- set cells/sold true",
    "bindctl atomic --if 'cells/room !exists' -- set -s cells/room \"$USER\"",
  ])

var atomicCommand: Command {
  Command(atomicSyntax) { context in
    let steps = try steps(context)
    var params: JSONObject = ["calls": .array(steps.map(\.call))]
    let conditions = context.invocation.values("if")
    for text in conditions { try checkCondition(text, command: "atomic") }
    if !conditions.isEmpty { params["if"] = .array(conditions.map { .string($0) }) }
    var meta = JSONObject()
    if let id = context.invocation.value("cmd") { meta["cmd"] = .string(id) }
    let isSettling = context.invocation.has("settle")
    if isSettling { meta["settle"] = .bool(true) }
    try context.addCause(to: &meta)
    if meta != JSONObject() { params["_meta"] = .object(meta) }
    let result = try context.client.call("atomic", params).object
    let values = zip(steps, result.array("values")).filter { $0.0.isCall }.map {
      context.output.style.value($0.1.text.text)
    }
    context.output.result(
      result, bare: result["values"], human: values.joined(separator: "\n"))
    return isSettling ? showEffects(of: result, context) : .done
  }
}

private struct Step {
  let call: JSONValue

  /// Whether the user sees what it returns.
  let isCall: Bool
}

/// Returns the steps, each of which begins with `--`.
private func steps(_ context: Context) throws -> [Step] {
  let operands = context.invocation.operands
  guard context.invocation.operandsBeforeDashes == 0, !operands.isEmpty else {
    throw misuse(
      operands.isEmpty
        ? "missing a step, such as: -- set SRC VALUE"
        : "a step begins with --: bindctl atomic -- \(operands[0]) …")
  }
  return try operands.split(separator: "--", omittingEmptySubsequences: false).map { words in
    switch words.first {
    case "set": try setStep(words.dropFirst(), context)
    case "call": try callStep(words.dropFirst())
    case nil: throw misuse("an empty step: two -- in a row, or one at the end")
    case let word?: throw misuse("a step is 'set' or 'call', not '\(word)'")
    }
  }
}

private func setStep(_ words: ArraySlice<String>, _ context: Context) throws -> Step {
  let isText = words.first == "-s"
  let words = Array(isText ? words.dropFirst() : words)
  guard words.count == 2 else {
    throw misuse("a step 'set' takes SRC and VALUE, not \(words.count) arguments")
  }
  let value = try context.value(words[1], isText: isText)
  let params: JSONObject = ["source": .string(words[0]), "value": value.value]
  return Step(call: .object(["method": .string("set"), "params": .object(params)]), isCall: false)
}

private func callStep(_ words: ArraySlice<String>) throws -> Step {
  guard let method = words.first else { throw misuse("a step 'call' takes METHOD") }
  let params = try arguments(words.dropFirst())
  return Step(
    call: .object(["method": .string(method), "params": params.value]), isCall: true)
}

/// Checks a condition that the daemon is to decide.
func checkCondition(_ text: String, command: String) throws(UsageError) {
  let typed = try? SourceCondition(typed: text)
  guard typed != nil else {
    throw UsageError(
      "'\(text)' is not a condition; for example: 'a/b > 20'", command: command)
  }
}

private func misuse(_ text: String) -> UsageError {
  UsageError(text, command: "atomic")
}
