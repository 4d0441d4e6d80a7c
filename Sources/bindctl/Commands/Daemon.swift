import BinderClient
import Console
import Glibc
import JSON
import Wire

let versionSyntax = Syntax("version", "Shows the versions of bindctl and of the daemon.")

var versionCommand: Command {
  Command(versionSyntax) { context in
    var document: JSONObject = ["bindctl": .string(Release.version)]
    var text = "bindctl \(Release.version)"
    do throws(ClientError) {
      let connection = try context.client.connected(until: Deadline(inMilliseconds: 2000))
      document[connection.greeting.server.name] = .string(connection.greeting.server.version)
      text +=
        "\n\(connection.greeting.server.name) \(connection.greeting.server.version), at \(connection.path)"
    } catch {
      // Without a daemon only this version is shown.
    }
    context.output.result(document, bare: .string(Release.version), human: text)
    return .done
  }
}

let statsSyntax = Syntax(
  "stats", "Shows the counters of the daemon.",
  options: [
    Option("every", value: "TIME", "print one line each TIME, until Ctrl-C"),
    Option("limits", "show the limits of the daemon instead"),
    Option("users", "show what each user uses instead"),
  ],
  examples: [
    "bindctl stats", "bindctl stats --every 1s", "bindctl stats --users",
    "bindctl stats -F '{stats.last}'",
  ])

var statsCommand: Command {
  Command(statsSyntax) { context in
    if context.invocation.has("users") { return try showUsers(context) }
    guard let interval = try context.milliseconds("every") else {
      let answer = try context.client.call("stats").object
      let part = context.invocation.has("limits") ? "limits" : "stats"
      context.output.result(
        answer, bare: nil,
        human: context.output.isTerminal
          ? shownList(answer[part], context.output) : list(answer[part]))
      return .done
    }
    try follow(context, everyMilliseconds: max(interval, 10))
  }
}

/// Shows a line for each user.
private func showUsers(_ context: Context) throws -> ExitCode {
  let answer = try context.client.call("get", ["source": .string("daemon/users")]).object
  guard case .array(let users)? = answer["value"] else {
    throw Failure("the daemon does not count by user; it is older than this bindctl")
  }
  let columns = [
    ("CLIENTS", "connections"), ("STATE", "state_bytes"), ("MEMORY", "memory_bytes"),
    ("BUFFERED", "buffered_bytes"), ("JOURNAL", "journal_bytes"),
  ]
  var table = Table(["UID", "USER"] + columns.map(\.0), numbers: [0, 2, 3, 4, 5, 6])
  for case .object(let user) in users {
    guard context.output.form == .human else {
      context.output.result(user, bare: nil, human: "")
      continue
    }
    let cells = columns.map {
      context.output.isTerminal ? amount(user[$1], $1) : user[$1]?.bare ?? ""
    }
    table.add([user["uid"]?.bare ?? "", user["user"]?.bare ?? ""] + cells)
  }
  if context.output.form == .human { context.output.table(table) }
  return .done
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
    let cells = shown.map { column in
      let value = stats[column.member]
      return context.output.isTerminal ? amount(value, column.member) : value?.bare ?? ""
    }
    context.output.result(answer, bare: nil, human: columns.line(cells) { $1 })
    try context.client.pause(milliseconds: interval)
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

/// Returns the members of an object, one per line, with units and the meaning of limits.
private func shownList(_ value: JSONValue?, _ output: Output) -> String {
  guard case .object(let object)? = value else { return "" }
  let rows = object.members.map { ($0.name, amount($0.value, $0.name)) }
  let (names, amounts) = (
    rows.map(\.0.columns).max() ?? 0, rows.map(\.1.columns).max() ?? 0
  )
  return Glossary(
    rows.map { name, amount in
      let space = String(repeating: " ", count: names - name.columns + amounts - amount.columns + 2)
      return (name + space + amount, LimitName(rawValue: name)?.row.meaning ?? "")
    }
  ).text(width: output.width, Style(isOn: false))
}

/// Returns a counter for people, with the unit that its name or its meaning says.
private func amount(_ value: JSONValue?, _ name: String) -> String {
  guard case .number(let number)? = value else { return value?.bare ?? "" }
  let meaning = LimitName(rawValue: name)?.row.meaning ?? ""
  if name.hasSuffix("_bytes") && meaning.isEmpty || meaning.hasPrefix("bytes") {
    return Amount.bytes(number.double)
  }
  if name.hasSuffix("_s") { return Amount.time(seconds: number.double) }
  if name.hasSuffix("_ms") {
    return meaning.isEmpty || number.double < 1000
      ? "\(value?.bare ?? "") ms" : Amount.time(seconds: number.double / 1000)
  }
  return value?.bare ?? ""
}

let reloadSyntax = Syntax(
  "reload", "Reloads the configuration of the daemon.",
  options: [
    Option("check", "check the files, and show what would change, without changing it"),
    Option(
      "try", value: "FILE",
      "show what the bindings of FILE would have written in the past, and change nothing"),
  ] + trialOptions,
  details: """
    Shows what changed, and what takes effect only after a restart. Clients stay connected. If a file
    is invalid, nothing changes: its errors are listed with line and column, and the exit code is 5.
    """,
  examples: ["bindctl reload --check", "bindctl reload --try heating.bind --since -7d"])

var reloadCommand: Command {
  Command(reloadSyntax) { context in
    if let file = context.invocation.value("try") {
      let text = try text(of: file)
      if context.invocation.has("check") {
        throw UsageError("--try and --check cannot be used together", command: "reload")
      }
      return try runTrial(of: ["text": .string(text), "file": .string(file)], context)
    }
    try context.checkIsNoTrial()
    let report: JSONObject
    do throws(ClientError) {
      let isCheck = context.invocation.has("check")
      report = try context.client.call("reload", isCheck ? ["check": .bool(true)] : [:]).object
    } catch {
      guard case .refused(let refusal) = error, case .array(let faults)? = refusal.data["faults"]
      else { throw error }
      for fault in faults { note(fault.place) }
      throw Failure("the configuration was not changed", .refused)
    }
    for warning in report.array("warnings") { note("warning: \(warning.place)") }
    let restart = report.array("needs_restart").map(\.bare).joined(separator: ", ")
    if !restart.isEmpty { note("\(restart): takes effect only after a restart") }
    if let units = context.units, let bindings = try? context.client.call("bindings.list").object,
      case .array(let all)? = bindings["value"], !all.isEmpty, let fix = units.bootFix
    {
      note("\(units.bootWarning); to start it at boot: \(fix)")
    }
    let changed = report.array("changed").map(\.bare).joined(separator: ", ")
    context.output.result(
      report, bare: report["changed"], human: "changed: \(changed.isEmpty ? "nothing" : changed)")
    return .done
  }
}

extension JSONValue {
  /// The text of a fault: `file:line:column: message`; without line and column if it is that of the
  /// whole file.
  var place: String {
    guard case .object(let fault) = self else { return "" }
    let isOfLine = fault["line"] != .number(JSONNumber(0))
    return (isOfLine ? ["file", "line", "column"] : ["file"]).compactMap { fault[$0]?.bare }
      .joined(separator: ":") + ": \(fault["message"]?.bare ?? "")"
  }
}

let aclSyntax = Syntax(
  "acl", "Shows whether a user may call a method or use a source, and which rule decides.",
  operands: [
    Operand("check", choices: ["check"]), Operand("USER"), Operand("METHOD", .optional),
  ],
  options: [
    Option("read", value: "SRC", "check whether the user may read SRC", completes: .sources),
    Option("write", value: "SRC", "check whether the user may write SRC", completes: .sources),
  ],
  details: """
    USER is a user name or number; the groups of the user on this machine are included. Exits with 1 if
    access is denied. The daemon answers by its current rules, see 'bindctl reload'.
    """,
  examples: ["bindctl acl check alice cells.set", "bindctl acl check 1000 --write cells/door"])

var aclCommand: Command {
  Command(aclSyntax) { context in
    let asked: [(name: String, value: String)] = [
      ("method", context.operand(2)), ("read", context.invocation.value("read") ?? ""),
      ("write", context.invocation.value("write") ?? ""),
    ].filter { !$0.1.isEmpty }
    guard asked.count == 1 else {
      throw UsageError("specify exactly one of METHOD, --read and --write", command: "acl")
    }
    try context.checkIsLocal("the accounts", "bindctl acl check …")
    guard let account = Account(context.operand(1)) else {
      throw Failure("there is no user '\(context.operand(1))' on this machine", .notFound)
    }
    let decision = try context.client.call(
      "acl",
      [
        "uid": .number(JSONNumber(account.uid)),
        "groups": .array(account.groups.map { .number(JSONNumber($0)) }),
        asked[0].name: .string(asked[0].value),
      ]
    ).object
    let isAllowed = decision["allowed"] == .bool(true)
    context.output.result(
      decision, bare: decision["allowed"], human: sentence(decision, isAllowed: isAllowed))
    if let limits = shownLimits(decision) { note("limits of the role: \(limits)") }
    let path = try context.client.connected().path
    if let obstacle = SocketAdmission.obstacle(
      to: path, user: account.uid, groups: account.groups)
    {
      note(obstacle.denial(of: account.uid, to: path))
    }
    return isAllowed ? .done : .no
  }
}

private func sentence(_ decision: JSONObject, isAllowed: Bool) -> String {
  let role = decision["role"].map { " as '\($0.bare)'" } ?? ""
  let place = decision["file"].map { " (\($0.bare):\(decision["line"]?.bare ?? ""))" } ?? ""
  return "\(isAllowed ? "allowed" : "denied")\(role): \(decision["rule"]?.bare ?? "")\(place)"
}

let errorsSyntax = Syntax("errors", "Lists the errors that the daemon can return.")

var errorsCommand: Command {
  Command(errorsSyntax) { context in
    var table = Table(["CODE", "NAME", "RETRY", "MEANING"], numbers: [0])
    for name in ErrorName.allCases {
      let row = name.row
      if context.output.form == .human {
        table.add(["\(row.code)", name.rawValue, row.retry ? "yes" : "no", row.meaning])
      } else {
        context.output.result(
          [
            "code": .number(JSONNumber(row.code)), "name": .string(name.rawValue),
            "retry": .bool(row.retry),
            "data": .array((row.data + row.optional).map { .string($0) }),
            "meaning": .string(row.meaning),
          ], bare: .string(name.rawValue), human: "")
      }
    }
    if context.output.form == .human { context.output.table(table, wraps: true) }
    return .done
  }
}
