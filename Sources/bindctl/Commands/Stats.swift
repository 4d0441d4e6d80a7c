import BinderClient
import Console
import Glibc
import JSON

let statsSyntax = Syntax(
  "stats", "Shows the counters of the daemon.",
  options: [
    Option("every", value: "TIME", "print one line each TIME, until Ctrl-C"),
    Option("limits", "show the limits of the daemon instead"),
  ],
  examples: ["bindctl stats", "bindctl stats --every 1s", "bindctl stats -F '{stats.last}'"])

var statsCommand: Command {
  Command(statsSyntax) { context in
    guard let interval = try context.milliseconds("every") else {
      let answer = try context.client.call("stats").object
      let part = context.invocation.has("limits") ? "limits" : "stats"
      context.output.result(answer, bare: nil, human: list(answer[part]))
      return .done
    }
    try follow(context, everyMilliseconds: max(interval, 10))
  }
}

/// The columns of a line of `--every`.
private let shown: [(heading: String, member: String)] = [
  ("CLIENTS", "connections"), ("SUBS", "subscriptions"), ("REQUESTS", "requests"),
  ("LAST", "last"), ("EVENTS/S", "events_per_second"), ("COMMITS/S", "commits_per_second"),
  ("COMMIT MS", "commit_mean_ms"), ("MEMORY", "resident_bytes"),
]

/// Prints a line at each interval, as vmstat does.
private func follow(_ context: Context, everyMilliseconds interval: UInt64) throws -> Never {
  var columns = Columns(
    widths: shown.map { max($0.heading.count, 6) }, isTerminal: context.output.isTerminal)
  var isFirst = true
  while true {
    let answer = try context.client.call("stats").object
    guard case .object(let stats)? = answer["stats"] else {
      throw Failure("the daemon's answer contains no stats")
    }
    if isFirst, context.output.isTerminal, context.output.form == .human {
      context.output.line(columns.line(shown.map(\.heading)) { context.output.style.bold($1) })
    }
    isFirst = false
    context.output.result(
      answer, bare: nil, human: columns.line(shown.map { stats[$0.member]?.bare ?? "" }) { $1 })
    usleep(useconds_t(min(interval, 3_600_000) * 1000))
  }
}

/// Returns the members of an object, one per line.
private func list(_ value: JSONValue?) -> String {
  guard case .object(let object)? = value else { return "" }
  let width = object.members.map(\.name.count).max() ?? 0
  return object.members.map { member in
    member.name + String(repeating: " ", count: width - member.name.count + 2) + member.value.bare
  }.joined(separator: "\n")
}
