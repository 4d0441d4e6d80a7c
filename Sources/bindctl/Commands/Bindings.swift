import BinderClient
import Console
import JSON
import Wire

let bindSyntax = Syntax(
  "bind", "Binds two sources: a change of one is assigned to the other.",
  operands: [Operand("EXPR", completes: .sources)],
  options: [
    Option(
      "daemon", "keep the binding in the daemon, also after a restart; without it, Ctrl-C ends it"),
    Option(
      "name", value: "NAME", "the name of the binding; without it, the daemon assigns a number"),
    Option("try", "show what it would have written in the past, and change nothing"),
  ] + trialOptions,
  details: """
    EXPR is source [| transformer]… op path [| transformer]…. source is a path, a list of paths in
    parentheses, every(5m), every("08:00") or every("mon-fri 07:00 Europe/Berlin"). The days are those
    of the week, of a year, of each month or of one year: "mon-fri", "12-24", "*-01", "2026-12-24", or
    several with commas. op is ~> (left to right), <~ (right to left), <> (both), or !~> <~! <!>, which
    do not assign the present value.
    'bindctl help transformers' lists the transformers. A value that a transformer or a source rejects
    is reported on stderr; the binding stays. --try runs EXPR over the journal, with its operators and
    its clock as they would have been, and shows each write beside what was written in truth.
    """,
  examples: [
    "bindctl bind --try --since -7d 'cells/kitchen | below(19) ~> cells/heater'",
    "bindctl bind --daemon '(cells/a, cells/b) | sum ~> cells/total'",
    "bindctl bind --daemon --name warm 'cells/c ~> cells/f | celsius_to_fahrenheit'",
  ])

var bindCommand: Command {
  Command(bindSyntax) { context in
    var params: JSONObject = ["expr": .string(context.operand(0))]
    if context.invocation.has("try") {
      for option in ["daemon", "name"] where context.invocation.has(option) {
        throw UsageError("--try and --\(option) cannot be used together", command: "bind")
      }
      return try runTrial(of: params, context)
    }
    try context.checkIsNoTrial()
    params["binding"] = context.invocation.value("name").map { .string($0) }
    let isKept = context.invocation.has("daemon")
    if isKept { params["scope"] = .string("daemon") }
    let connection = try context.client.connected()
    connection.onNotification = { method, params in
      guard method == "fail", case .object(let error)? = params.object["error"] else { return }
      note("the binding rejected a value: \(error["message"]?.bare ?? "")")
    }
    let result = try connection.call("bind", params).object
    let handle = result["binding"]?.bare ?? ""
    context.output.result(
      result, bare: result["binding"],
      human: isKept ? "binding \(handle)" : "binding \(handle); press Ctrl-C to end it")
    for name in result.array("no_value") { note("\(name.bare) has no value yet") }
    if case .string(let left)? = result["left"], left.hasPrefix("maps/") {
      let value = try? connection.call("get", ["source": .string(left)]).object["value"]
      context.suggestKey(of: left, value?.text) { "\($0) | pick(\"/\($1)\")" }
    }
    if isKept, let units = context.units, let fix = units.bootFix {
      note("\(units.bootWarning); to start it at boot: \(fix)")
    }
    // The binding lives as long as the connection; regular calls detect its loss.
    while !isKept {
      try context.client.pause(milliseconds: 1000)
      _ = try connection.call("ping")
    }
    return .done
  }
}

let unbindSyntax = Syntax(
  "unbind", "Removes a binding from the daemon.", operands: [Operand("NAME", completes: .bindings)],
  details: "Exits with 1 if there was no such binding.", examples: ["bindctl unbind warm"])

var unbindCommand: Command {
  Command(unbindSyntax) { context in
    let name = context.operand(0)
    let result = try context.client.call("unbind", ["binding": .string(name)]).object
    let was = result["was"] == .string("active")
    if context.output.form != .human {
      context.output.result(result, bare: result["was"], human: "")
    } else if !was {
      note("there was no binding '\(name)'")
    }
    return was ? .done : .no
  }
}

let bindingsSyntax = Syntax(
  "bindings", "Lists the bindings that the daemon keeps: when each ran last, with what value.",
  details: """
    STATE is 'ok', the reason why the last value has not arrived, or 'no value yet' with the sources that
    never had one. After a restart the last run is known if the target still has that value. On a terminal
    times are local. In a pipe the columns are the same, separated by tabs, without the headings, and times
    are UTC: name, binding, last run ('never' if there was none), value, file, state.
    """,
  examples: [
    "bindctl bindings", "bindctl bindings | cut -f 1,6",
    "bindctl bindings -j | jq 'select(.no_value)'",
  ])

var bindingsCommand: Command {
  Command(bindingsSyntax) { context in
    guard case .array(let all)? = try context.client.call("bindings.list").object["value"] else {
      return .done
    }
    let output = context.output
    var table = Table(["NAME", "BINDING", "LAST RUN", "VALUE", "FILE", "STATE"])
    for case .object(let binding) in all {
      if output.form == .human {
        table.add(row(of: binding, isTerminal: output.isTerminal))
      } else {
        output.result(binding, bare: binding["expr"], human: "")
      }
    }
    if output.form == .human, !all.isEmpty { output.table(table) }
    return .done
  }
}

/// Returns the row of a binding; on a terminal with local times.
private func row(of binding: JSONObject, isTerminal: Bool) -> [String] {
  func time(_ name: String) -> String? {
    binding.string(name).map { isTerminal ? Timestamp($0)?.shownHere ?? $0 : $0 }
  }
  let state: String
  if let failure = binding.string("failure") {
    state = failure + (time("failed_at").map { " (\($0))" } ?? "")
  } else if binding["active"] != .bool(true) {
    state = "it could not be made"
  } else if case .array(let names)? = binding["no_value"] {
    state = "no value yet: " + names.map(\.bare).joined(separator: ", ")
  } else {
    state = "ok"
  }
  let ran = time("ran_at")
  let value = binding["value"]?.bare ?? (ran == nil ? "" : "(long)")
  return [
    binding["binding"]?.bare ?? "", binding["expr"]?.bare ?? "", ran ?? "never", value,
    binding.place ?? "", state,
  ].map(\.onOneLine)
}

extension JSONObject {
  /// The file and line of a binding; `nil` if it is in the journal.
  fileprivate var place: String? {
    guard let file = self["file"], let line = self["line"] else { return nil }
    return "\(file.bare):\(line.bare)"
  }
}

let transformersTopic = "transformers"

let transformersText = """
  A binding passes its values through transformers, from left to right, before
  and after the operator:
  'cells/c ~> cells/f | celsius_to_fahrenheit | round(1)'
  'system/load | pick("/one") | sample(5s) | above(4) | debounce(60s) ~> cells/alarm'
  |! applies the reverse. A binding with <> needs reversible transformers. One
  that is marked ~> drops, keeps or delays values and needs ~> or !~>.
  A duration is a number with ms, s, m, h or d. ? marks what can be left out.
  """

/// Shows the help on transformers, with the list that the daemon supports.
///
/// - Throws: ``ClientError`` if no daemon returns the list; the text is printed before.
func showTransformers(_ context: Context) throws -> ExitCode {
  let output = context.output
  if output.form == .human {
    output.line(output.style.bold(transformersTopic) + "\n\n" + transformersText + "\n")
  }
  let answer = try context.client.call("describe").object
  let transformers = Transformers(answer)
  guard output.form == .human else {
    for transformer in transformers.all {
      output.result(transformer, bare: transformer["name"], human: "")
    }
    return .done
  }
  output.line(transformers.text(width: output.width))
  return .done
}

/// The transformers that a daemon supports.
struct Transformers {
  let all: [JSONObject]

  /// - Parameter description: The reply to `describe`.
  init(_ description: JSONObject) {
    guard case .array(let elements)? = description["transformers"] else {
      all = []
      return
    }
    all = elements.compactMap { if case .object(let object) = $0 { object } else { nil } }
  }

  /// Returns one line per transformer.
  func text(width: Int?) -> String {
    let rows = all.map { transformer in
      (typed(transformer), "\(direction(transformer)); \(transformer["doc"]?.bare ?? "")")
    }
    return Glossary(rows).text(width: width, Style(isOn: false))
  }

  private func direction(_ transformer: JSONObject) -> String {
    if transformer["operator"] == .bool(true) { return "~>" }
    return transformer["reversible"] == .bool(true) ? "reversible" : "one way"
  }

  /// Returns the call syntax, for example `scale(number)`.
  private func typed(_ transformer: JSONObject) -> String {
    let name = transformer["name"]?.bare ?? ""
    guard case .array(let parameters)? = transformer["params"], !parameters.isEmpty else {
      return name
    }
    return name + "(" + parameters.map(\.bare).joined(separator: ", ") + ")"
  }
}
