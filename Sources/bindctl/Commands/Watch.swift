import BinderClient
import Console
import JSON
import Wire

let watchSyntax = Syntax(
  "watch", "Shows the present values of sources, then every change.",
  operands: [Operand("PATTERN", .some)],
  options: [
    Option("changes-only", "leave out the present values"),
    Option("count", letter: "n", value: "N", "exit after N changes"),
    Option("since", value: "WHEN", "show the changes since then instead of the present values"),
    Option(
      "every", value: "TIME", "show at most one value per TIME, the newest; leave out those between"
    ),
    noReconnectOption,
  ],
  details: """
    A pattern is a source, or has * for one segment of a name and ** for the rest. A line --- live, with
    -j {"caught_up":true}, separates the present values from changes. Every change of a journaled source
    is shown exactly once, even if the daemon is restarted meanwhile. For a pattern that begins with *,
    only the latest values are shown; values between may be skipped.
    """,
  examples: ["bindctl watch 'cells/**'", "bindctl watch system/load --every 5s -j"])

var watchCommand: Command {
  Command(watchSyntax) { context in
    var watcher = try Watcher(context)
    let follower = try context.client.follow(
      try topics(context), reconnects: !context.invocation.has("no-reconnect"))
    while !watcher.isDone { watcher.show(try follower.next()) }
    return .done
  }
}

private func topics(_ context: Context) throws -> [Topic] {
  let interval = try context.milliseconds("every")
  let from = try context.moment("since").map(\.beginning)
  if interval != nil, from != nil {
    throw UsageError("--since and --every cannot be used together", command: "watch")
  }
  return context.invocation.operands.map { pattern in
    Topic(
      pattern, mode: interval == nil ? from == nil ? .everyIfJournaled : .every : .newest,
      from: from, everyMilliseconds: interval ?? 0)
  }
}

extension When {
  /// The start position as a parameter of `subscribe`: after a position, or from a time on.
  var beginning: JSONValue {
    switch self {
    case .seq(let seq): .object(["after": .number(JSONNumber(seq))])
    case .time(let time): .object(["time": .string(time.text)])
    case .start: .string("start")
    case .now: .string("now")
    }
  }
}

/// Prints the updates of watched sources.
private struct Watcher {
  private let output: Output
  private let isChangesOnly: Bool
  private var left: UInt64?
  private var topicsToCatchUp: Int
  private var columns: Columns

  /// The initial values, collected so that their columns can be aligned.
  private var present: [SourceValue] = []

  init(_ context: Context) throws {
    output = context.output
    isChangesOnly = context.invocation.has("changes-only")
    left = try context.number("count")
    topicsToCatchUp = context.invocation.operands.count
    columns = Columns(widths: [12, 0], isTerminal: output.isTerminal)
  }

  /// Whether the requested number of changes was shown.
  var isDone: Bool { left == 0 }

  mutating func show(_ update: Update) {
    switch update {
    case .value(let value):
      guard !isDone, !(value.isPresent && isChangesOnly) else { return }
      guard !value.isPresent else {
        present.append(value)
        return
      }
      showPresent()
      show(value)
      left? -= 1
    case .missed: noteMissed(update)
    case .caughtUp(_, let seq):
      topicsToCatchUp -= 1
      guard topicsToCatchUp == 0 else { return }
      showPresent()
      if !isChangesOnly { mark(seq) }
    case .event: break
    }
  }

  private mutating func showPresent() {
    for value in present { columns.widen(for: [value.source]) }
    for value in present { show(value) }
    present = []
  }

  private mutating func show(_ value: SourceValue) {
    var document = JSONObject()
    document["seq"] = value.seq.map { .number(JSONNumber($0)) }
    document["source"] = .string(value.source)
    if let text = value.value {
      document["value"] = text.value
    } else {
      document["gone"] = .bool(true)
    }
    if value.skipped > 0 { document["skipped"] = .number(JSONNumber(value.skipped)) }
    let style = output.style
    output.result(
      document, bare: document["value"] ?? .string(""),
      human: columns.line([value.source, value.value?.text ?? "(gone)"]) { column, cell in
        column == 0 ? cell : value.value == nil ? style.dim(cell) : style.value(cell)
      })
  }

  /// Marks the start of live changes.
  private func mark(_ seq: UInt64?) {
    switch output.form {
    case .human:
      output.line(output.style.dim("--- live" + (seq.map { " after \($0)" } ?? "")))
    case .json:
      var document: JSONObject = ["caught_up": .bool(true)]
      document["seq"] = seq.map { .number(JSONNumber($0)) }
      output.line(JSONValue.object(document).text.text)
    case .raw, .template: break
    }
  }
}
