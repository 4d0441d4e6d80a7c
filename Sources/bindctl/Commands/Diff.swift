import BinderClient
import Console
import Glibc
import JSON
import Wire

let diffSyntax = Syntax(
  "diff", "Shows how the values differ from those of another daemon or journal.",
  operands: [Operand("PATTERN", .optional, completes: .sources)],
  options: [
    Option("with", value: "ORIGIN", "the socket of the other daemon, or its journal"),
    Option("at", value: "WHEN", "the other values at a position or time; see 'bindctl help when'"),
  ],
  details: """
    Compares the values of all journaled sources, or of those that match PATTERN. Lines with - are values of the
    other one, lines with + those of this daemon. Within 'bindctl session --from ORIGIN', --with is ORIGIN if it is
    left out. States of operators are not compared. Exits with 0 if there is no difference, else with 1.
    """,
  examples: [
    "bindctl diff --with /run/binder/bus.sock 'cells/**'",
    "bindctl diff --with /var/backups/binder.db",
  ])

var diffCommand: Command {
  Command(diffSyntax) { context in
    let surrounding = variable("BINDER_ORIGIN").flatMap { $0.isEmpty ? nil : $0 }
    guard let origin = context.invocation.value("with") ?? surrounding else {
      throw UsageError("missing option --with", command: "diff")
    }
    let pattern = context.invocation.operands.first ?? "**"
    let moment = try context.moment("at") ?? .now
    let own = try values(of: pattern, at: .now, try context.client.connected())
    let other = try otherValues(of: pattern, at: moment, origin, context)
    var isSame = true
    for source in Set(own.keys).union(other.keys).sorted() where own[source] != other[source] {
      isSame = false
      show(source, other[source], own[source], context.output)
    }
    return isSame ? .done : .no
  }
}

private func otherValues(
  of pattern: String, at moment: When, _ origin: String, _ context: Context
) throws -> [String: JSONText] {
  if isSocket(origin) {
    return try values(of: pattern, at: moment, try Context.client(origin, nil, nil).connected())
  }
  // A copy, because a daemon may use the journal.
  let branch = try Branch(of: origin, at: nil)
  let signals = SignalWait([SIGCHLD, SIGINT, SIGQUIT, SIGTERM, SIGHUP])
  let daemon = try PrivateDaemon(
    context.daemonProgram, ["--read-only", "--offline"], of: branch, signals)
  defer { daemon.end() }
  return try values(
    of: pattern, at: moment, try Context.client(daemon.socket, nil, nil).connected())
}

private func values(
  of pattern: String, at moment: When, _ connection: BinderConnection
) throws -> [String: JSONText] {
  var values: [String: JSONText] = [:]
  for (source, value) in try connection.values(of: pattern, at: moment).values
  where !(source.hasPrefix("bindings/") && source.hasSuffix("/state")) {
    values[source] = value.text
  }
  return values
}

private func show(_ source: String, _ other: JSONText?, _ own: JSONText?, _ output: Output) {
  guard output.form == .human else {
    var change: JSONObject = ["source": .string(source)]
    change["from"] = other?.value
    change["to"] = own?.value
    output.result(change, bare: .string(source), human: "")
    return
  }
  if let other { output.line("- \(source) \(other.text)".harmless()) }
  if let own { output.line("+ \(source) \(own.text)".harmless()) }
}
