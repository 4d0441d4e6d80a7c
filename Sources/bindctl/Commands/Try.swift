import BinderClient
import Console
import JSON
import Wire

/// The options of a trial over the past.
let trialOptions = [
  Option(
    "since", value: "WHEN", "with --try: from there on; by default the last 7 days"),
  Option("until", value: "WHEN", "with --try: up to a time; by default now"),
  Option("limit", value: "N", "with --try: show at most N writes; by default 100"),
]

extension Context {
  /// - Throws: ``UsageError`` for an option of a trial without `--try`, which would act on the present.
  func checkIsNoTrial() throws(UsageError) {
    for option in trialOptions where invocation.value(option.name) != nil {
      throw UsageError(
        "'--\(option.name)' is for '--try', which is missing; nothing was changed",
        command: invocation.command)
    }
  }
}

/// Runs bindings over the past without effect, and shows what they would have written.
func runTrial(of what: JSONObject, _ context: Context) throws -> ExitCode {
  let connection = try context.client.connected()
  var params = what
  if let since = try context.moment("since") { params["since"] = .object(connection.at(since)) }
  switch try context.moment("until") {
  case nil, .now: break
  case .time(let time): params["until"] = .string(time.text)
  case .seq, .start:
    throw UsageError("--until takes a time, not a position", command: context.invocation.command)
  }
  if let limit = try context.number("limit") {
    guard limit <= 1000 else {
      throw UsageError(
        "--limit takes 0 to 1000, not '\(limit)'", command: context.invocation.command)
    }
    params["limit"] = .number(JSONNumber(limit))
  }
  let result: JSONObject
  do throws(ClientError) {
    result = try connection.call("bindings.try", params).object
  } catch {
    guard case .refused(let refusal) = error, case .array(let faults)? = refusal.data["faults"]
    else { throw error }
    for fault in faults { note(fault.place) }
    throw Failure("the bindings were not tried", .refused)
  }
  guard case .object(let report)? = result["value"] else { return .no }
  for name in report.array("no_value") { note("\(name.bare) has no value yet") }
  guard context.output.form == .human else {
    context.output.result(report, bare: result["value"], human: "")
    return .done
  }
  show(report, context)
  return .done
}

private func show(_ report: JSONObject, _ context: Context) {
  let isTerminal = context.output.isTerminal
  var table = Table(["TIME", "SOURCE", "VALUE", "IN TRUTH", "WRITTEN"])
  for case .object(let row) in report.array("rows") {
    let time = row.string("time") ?? ""
    let values = ["value", "truth"].map { name in
      row["long"] == .bool(true) ? "(long)" : row[name]?.text.text ?? "-"
    }
    let by = row.string("binding").map { " (\($0))" } ?? ""
    let rule = row.string("rule").map { ": takes \($0)" } ?? ""
    table.add(
      [isTerminal ? Timestamp(time)?.shownHere ?? time : time, row.string("source") ?? ""] + values
        + [meaning(of: row.string("written")) + by + rule])
  }
  context.output.table(table, wraps: true)
  let counts = report["counts"]?.object ?? [:]
  func count(_ name: String) -> String { counts[name]?.bare ?? "0" }
  note(
    "\(count("writes")) writes: \(count("same")) as in truth, \(count("only_trial")) not made in "
      + "truth; \(count("only_truth")) more in truth; \(report["events"]?.bare ?? "0") events in "
      + "\(report["milliseconds"]?.bare ?? "0") ms")
  let refused = count("refused")
  if refused != "0" { note("\(refused) writes do not fit the type of their source") }
  let more = count("more")
  if more != "0" { note("\(more) more are not shown; see --limit") }
  if let fault = report.string("fault") {
    note("\(report["faults"]?.bare ?? "") values were refused, the first: \(fault)")
  }
  if let stopped = report.string("stopped") {
    let until = report.string("until") ?? ""
    note("ended early at \(until): \(stopped); try again with a later --since")
  }
}

private func meaning(of written: String?) -> String {
  switch written {
  case "both": "both"
  case "truth": "only in truth"
  case "refused": "refused"
  default: "only tried"
  }
}
