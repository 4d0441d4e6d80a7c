import BinderClient
import Console
import JSON

let serviceSyntax = Syntax(
  "service", "Checks a service in a file, or tries it on the events of the journal.",
  operands: [Operand("ACTION", choices: ["check", "try"]), Operand("FILE", .some)],
  options: [
    Option(
      "call", value: "CALL",
      "with try: run a method and show its events, 'book room=blue from=9'; may be repeated"),
    Option("diff", "with try: show the sources that would differ, 100 at most"),
  ],
  details: """
    'check' reads the file and lists its faults with line and column. A fault makes the exit code 5.

    'try' folds all events of the journal by the file, and shows how many, how long it took, and how
    many sources would differ from those of the running service. Each --call then runs on that state.
    Nothing is recorded, and nobody sees it.

    Only administrators of the daemon may do both. Installed services are in service.d beside bind.d;
    'bindctl reload' uses a new version. Documentation/services-in-a-file.md explains the language.
    """,
  examples: [
    "bindctl service check rooms.service",
    "bindctl service try rooms.service --call 'book room=blue from=09 to=10' --diff",
  ])

var serviceCommand: Command {
  Command(serviceSyntax) { context in
    let files = context.invocation.operands.dropFirst()
    guard context.operand(0) == "try" else {
      for option in ["call", "diff"] where context.invocation.has(option) {
        throw UsageError("'--\(option)' is for 'service try'", command: "service")
      }
      var isFaulty = false
      for path in files where try check(path, context) {
        isFaulty = true
      }
      return isFaulty ? .refused : .done
    }
    var isRefused = false
    for path in files where try attempt(path, context) {
      isRefused = true
    }
    return isRefused ? .refused : .done
  }
}

/// Checks one file, and returns whether it has faults.
private func check(_ path: String, _ context: Context) throws -> Bool {
  let params: JSONObject = ["text": .string(try wholeText(of: path)), "file": .string(path)]
  let answer = try context.client.call("scripts.check", params).object
  let faults = answer.array("faults").map { fault -> String in
    guard case .object = fault else { return "" }
    return fault.place
  }
  let lines = faults.isEmpty ? ["\(path) is valid"] : faults
  for warning in answer.array("warnings") { note("warning: \(warning.place)") }
  context.output.result(
    answer, bare: .string(lines.joined(separator: "\n")),
    human: lines.map { $0.harmless() }.joined(separator: "\n"))
  return !faults.isEmpty
}

/// Tries one file, and returns whether a fold or a call was refused.
private func attempt(_ path: String, _ context: Context) throws -> Bool {
  var calls: [JSONValue] = []
  for line in context.invocation.values("call") {
    let words = ShellWords(line).words
    guard let method = words.first else {
      throw UsageError("'--call' needs METHOD and its parameters", command: "service")
    }
    var params = JSONObject()
    for word in words.dropFirst() { try params.add(word: word, command: "service") }
    calls.append(.object(["method": .string(method), "params": .object(params)]))
  }
  let params: JSONObject = [
    "text": .string(try wholeText(of: path)), "file": .string(path), "calls": .array(calls),
    "diff": .bool(context.invocation.has("diff")),
  ]
  let answer = try context.client.call("scripts.try", params).object
  var lines = [
    "\(answer["events"]?.bare ?? "0") events in \(answer["milliseconds"]?.bare ?? "0") ms; "
      + "\(answer["differs"]?.bare ?? "0") sources would differ"
  ]
  if let stopped = answer.string("stopped") { lines.append("it stops at \(stopped)") }
  for case .object(let source) in answer.array("sources") {
    lines.append(source.string("source") ?? "")
    if let before = source["before"] { lines.append("- \(before.text)") }
    if let after = source["after"] { lines.append("+ \(after.text)") }
  }
  for warning in answer.array("warnings") { note("warning: \(warning.place)") }
  var isRefused = answer["stopped"] != nil
  for case .object(let call) in answer.array("calls") {
    let method = call.string("method") ?? ""
    if let error = call.string("error") {
      lines.append("\(method): \(error)")
      isRefused = true
    } else {
      lines.append("\(method)" + (call["value"].map { ": \($0.text)" } ?? ""))
    }
    for case .object(let event) in call.array("events") {
      lines.append(
        "  \(event.string("type") ?? "") \(event.string("stream") ?? "") "
          + (event["data"]?.text.text ?? ""))
    }
  }
  context.output.result(
    answer, bare: .string(lines.joined(separator: "\n")),
    human: lines.map { $0.harmless() }.joined(separator: "\n"))
  return isRefused
}
