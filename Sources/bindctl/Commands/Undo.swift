import BinderClient
import Console
import Glibc
import JSON
import Wire

let undoSyntax = Syntax(
  "undo", "Gives sources the values that they had before some events, in one commit.",
  operands: [Operand("SEQ|PATTERN", .any)],
  options: [
    Option("since", value: "WHEN", "events after a position, or from a time on"),
    Option("until", value: "WHEN", "events up to a position or time; needs --since"),
    Option("by", value: "USER", "only the events of a user"),
    Option("cmd", value: "ID", "only the events of the command with this idempotency key"),
    Option("force", "also what something else has changed since"),
    Option("preview", letter: "n", "show what would change, and change nothing"), yesOption,
  ],
  details: """
    SEQ is the position of one event; see 'bindctl events'. PATTERN selects sources. --by without SEQ, --since or
    --cmd undoes what the user has changed in the last hour, and shows the newest change first. Shows the changes
    first, and asks on a terminal; in a script, add --yes. Refuses a source that another event has changed since, unless
    --force is given. Cells, lists, maps, rows of services, declared types and kept bindings can be undone; for others
    it says why not. An undo is an event like others, and can be undone too.
    """,
  examples: [
    "bindctl undo 81234", "bindctl undo --since -10m 'cells/kitchen/**'",
    "bindctl undo --by alice --preview", "bindctl undo --since -1d --by alice",
    "bindctl undo --cmd import-7 --yes",
  ])

var undoCommand: Command {
  Command(undoSyntax) { context in
    let connection = try context.client.connected()
    var params = try selection(context, connection)
    let isForced = context.invocation.has("force")
    if isForced { params["force"] = .bool(true) }
    var preview = params
    preview["preview"] = .bool(true)
    var plan = try Plan(connection.call("undo", preview).object)
    // Without a span, a person looks for the last mistake.
    if context.isOfLastHour { plan.showsNewestFirst = true }
    let isPreview = context.invocation.has("preview")
    if context.output.form == .human { plan.show(context, withConflicts: isPreview || isForced) }
    if isPreview {
      if context.output.form != .human {
        context.output.result(plan.document, bare: plan.document["value"], human: "")
      }
      return plan.count > 0 ? .done : .no
    }
    guard plan.count > 0 else { return .no }
    // A conflict is refused by the daemon, with its reason.
    if isForced || !plan.hasConflicts {
      let what = plan.count == 1 ? "this change" : "these \(plan.count) changes"
      guard try context.confirms("Undo \(what)?") else { return .no }
    }
    // What has come since the preview is not undone.
    if params["seq"] == nil { params["until"] = plan.end }
    let result = try connection.call("undo", params).object
    if context.output.form != .human {
      context.output.result(result, bare: result["value"], human: "")
    } else {
      note("to undo that: \(bindctlCommand) undo \(inverse(of: result))")
    }
    return .done
  }
}

/// Returns the parameters that select the events.
private func selection(
  _ context: Context, _ connection: BinderConnection
) throws -> JSONObject {
  var params = JSONObject()
  for operand in context.invocation.operands {
    let isPosition = UInt64(operand) != nil
    guard params[isPosition ? "seq" : "source"] == nil else {
      throw misuse("unexpected argument '\(operand)'")
    }
    if let seq = UInt64(operand) {
      guard seq > 0 else { throw misuse("SEQ is the position of an event, from 1, not 0") }
      params["seq"] = .number(JSONNumber(seq))
    } else {
      params["source"] = .string(operand)
    }
  }
  for name in ["since", "until"] {
    guard let moment = try context.moment(name) else { continue }
    params[name] = .object(
      moment == .start
        ? ["seq": .number(JSONNumber(max(connection.greeting.first, 1) - 1))]
        : connection.at(moment))
  }
  if let user = context.invocation.value("by") {
    guard let account = Account(user) else { throw misuse("no user '\(user)'") }
    params["by"] = .number(JSONNumber(UInt64(account.uid)))
  }
  if let id = context.invocation.value("cmd") { params["cmd"] = .string(id) }
  guard params["seq"] == nil, params["since"] == nil, params["cmd"] == nil else { return params }
  guard context.isOfLastHour else {
    throw misuse("missing argument SEQ, the position of an event, or --since, --by or --cmd")
  }
  let since = Timestamp(microseconds: context.now.microseconds - 3_600_000_000)
  note("what the user has changed in the last hour, since \(since.shownHere); see --since")
  params["since"] = .object(["time": .string(since.text)])
  return params
}

extension Context {
  /// Whether `--by` selects the events alone: those of the last hour.
  fileprivate var isOfLastHour: Bool {
    invocation.value("by") != nil && invocation.value("since") == nil
      && invocation.value("until") == nil && invocation.value("cmd") == nil
      && !invocation.operands.contains { UInt64($0) != nil }
  }
}

private func misuse(_ text: String) -> UsageError {
  UsageError(text, command: "undo")
}

/// Returns the arguments of the undo of an undo.
private func inverse(of result: JSONObject) -> String {
  let value: JSONObject? = if case .object(let value)? = result["value"] { value } else { nil }
  let seq = result["seq"]?.bare ?? ""
  return value?.array("changes").count == 1
    ? seq : "--since \(value?["after"]?.bare ?? "") --until \(seq)"
}

/// The changes of an undo, as the daemon tells them.
private struct Plan {
  let document: JSONObject
  private let value: JSONObject

  /// Whether the changes are shown in the reverse order of their first events.
  var showsNewestFirst = false

  init(_ document: JSONObject) {
    self.document = document
    value = if case .object(let value)? = document["value"] { value } else { [:] }
  }

  var count: Int { value.array("changes").count }
  var hasConflicts: Bool { !value.array("conflicts").isEmpty }

  /// The last position that it has looked at, as a parameter.
  var end: JSONValue { .object(["seq": value["through"] ?? .null]) }

  func show(_ context: Context, withConflicts: Bool) {
    let changes = value.array("changes")
    for case .object(let change) in showsNewestFirst ? changes.reversed() : changes {
      guard let source = change.string("source") else { continue }
      if change["long"] == .bool(true) {
        context.output.line(context.output.style.yellow("~ \(source)") + " (a long value)")
      } else {
        Difference(source: source, before: change["from"], after: change["to"]).show(context, nil)
      }
    }
    for change in changes.map(\.object) {
      guard let source = change.string("source") else { continue }
      if let refusal = change.string("refused") { note("it would be refused: \(refusal)") }
      if change["leased"] == .bool(true) {
        note("the value of '\(source)' had a time limit, which does not come back: it stays")
      }
    }
    for case .object(let conflict) in withConflicts ? value.array("conflicts") : [] {
      let (seq, source) = (conflict["seq"]?.bare ?? "", conflict.string("source") ?? "")
      note("event \(seq) has changed '\(source)' since")
    }
    for case .object(let left) in value.array("left") {
      note("'\(left.string("stream") ?? "")' is left: \(left.string("reason") ?? "")")
    }
    if count == 0 { note("nothing to undo") }
  }
}
