import BinderClient
import Console
import Glibc
import JSON
import Wire

let watchSyntax = Syntax(
  "watch", "Shows the present values of sources, then every change.",
  operands: [Operand("PATTERN", .some), Operand("-- CMD", .any)],
  options: [
    Option("changes-only", "leave out the present values"),
    Option("count", letter: "n", value: "N", "exit after N changes"),
    Option("since", value: "WHEN", "show the changes since then instead of the present values"),
    Option(
      "every", value: "TIME", "show at most one value per TIME, the newest; leave out those between"
    ),
    pickOption, noReconnectOption, waitDaemonOption,
  ],
  details: """
    A pattern is a source, or has * for one segment of a name and ** for the rest. A line --- live, with
    -j {"caught_up":true}, separates the present values from changes. Every change of a journaled source
    is shown exactly once, even if the daemon is restarted meanwhile. For a pattern that begins with *,
    only the latest values are shown; values between may be skipped. With --pick, only changes of that
    part are shown.

    With -- CMD, runs CMD for each value instead of showing it, one at a time and in order. CMD gets
    BINDER_SOURCE, BINDER_VALUE and BINDER_SEQ in its environment, and the line of -j on stdin.
    BINDER_VALUE is text without quotes, and empty if the source is gone. It is not set, and a note says
    so, if the value has a NUL character or more than 32 KiB. Values that come meanwhile wait. A CMD that
    fails is reported, and the next value follows; for retries see 'bindctl help work'.
    """,
  examples: [
    "bindctl watch 'cells/**'", "bindctl watch system/load --every 5s --pick /one",
    "bindctl watch cells/mode --changes-only -- ./apply.sh",
  ])

var watchCommand: Command {
  Command(watchSyntax) { context in
    let invocation = context.invocation
    let count = invocation.operandsBeforeDashes ?? invocation.operands.count
    let (patterns, words) = (
      Array(invocation.operands.prefix(count)), Array(invocation.operands.dropFirst(count))
    )
    guard !patterns.isEmpty else { throw UsageError("missing argument PATTERN", command: "watch") }
    var watcher = try Watcher(patterns, running: words, context)
    let follower = try context.client.follow(
      try topics(patterns, context), reconnects: !invocation.has("no-reconnect"))
    while !watcher.isDone {
      let update = try follower.next()
      try watcher.show(update)
      if case .value(let value) = update, value.isPresent, patterns.contains(value.source) {
        context.suggestKey(of: value.source, value.value) { "'\($0)' with --pick /\($1)" }
      }
    }
    return .done
  }
}

private func topics(_ patterns: [String], _ context: Context) throws -> [Topic] {
  let pick = try context.pick()?.text
  let interval = try context.milliseconds("every")
  let from = try context.moment("since").map(\.beginning)
  if interval != nil, from != nil {
    throw UsageError("--since and --every cannot be used together", command: "watch")
  }
  return patterns.map { pattern in
    Topic(
      pattern, mode: interval == nil ? from == nil ? .everyIfJournaled : .every : .newest,
      from: from, everyMilliseconds: interval ?? 0, pick: pick)
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

  /// The last part of the value of each source; `nil` without `--pick`.
  private var parts: [String: JSONText?]?

  /// The command to run for each value; empty to show the value.
  private let words: [String]

  /// Ends the command if bindctl is killed; `nil` without one.
  private let guardian: Guardian?
  private let environment: [String: String]

  /// The initial values, collected so that their columns can be aligned.
  private var present: [SourceValue] = []

  init(_ patterns: [String], running words: [String], _ context: Context) throws {
    output = context.output
    (self.words, environment) = (words, context.childEnvironment)
    isChangesOnly = context.invocation.has("changes-only")
    guardian = words.isEmpty ? nil : try Guardian()
    left = try context.number("count")
    if context.invocation.has("pick") { parts = [:] }
    topicsToCatchUp = patterns.count
    columns = Columns(widths: [12, 0], isTerminal: output.isTerminal)
  }

  /// Whether the requested number of changes was shown.
  var isDone: Bool { left == 0 }

  mutating func show(_ update: Update) throws {
    switch update {
    case .value(let value):
      // The journal has every change of the value, also if the part is the same.
      if let part = parts?.updateValue(value.value, forKey: value.source), part == value.value {
        return
      }
      guard !isDone, !(value.isPresent && isChangesOnly) else { return }
      guard !value.isPresent else {
        present.append(value)
        return
      }
      try showPresent()
      try show(value)
      left? -= 1
    case .missed: reportMissed(update)
    case .caughtUp(_, let seq):
      topicsToCatchUp -= 1
      guard topicsToCatchUp == 0 else { return }
      try showPresent()
      if !isChangesOnly, words.isEmpty { mark(seq) }
    case .event: break
    }
  }

  private mutating func showPresent() throws {
    for value in present { columns.widen(for: [value.source]) }
    for value in present { try show(value) }
    present = []
  }

  private mutating func show(_ value: SourceValue) throws {
    var document = JSONObject()
    document["seq"] = value.seq.map { .number(JSONNumber($0)) }
    document["source"] = .string(value.source)
    if let text = value.value {
      document["value"] = text.value
    } else {
      document["gone"] = .bool(true)
    }
    if value.skipped > 0 { document["skipped"] = .number(JSONNumber(value.skipped)) }
    guard words.isEmpty else { return try run(document, value) }
    let style = output.style
    output.result(
      document, bare: document["value"] ?? .string(""),
      human: columns.line([value.source, value.value?.text ?? "(gone)"]) { column, cell in
        column == 0 ? cell : value.value == nil ? style.dim(cell) : style.value(cell)
      })
  }

  /// Runs the command for a value, and waits for its end.
  private func run(_ document: JSONObject, _ value: SourceValue) throws {
    var variables = environment
    variables["BINDER_SOURCE"] = value.source
    variables["BINDER_SEQ"] = value.seq.map { "\($0)" } ?? ""
    variables["BINDER_VALUE"] = value.value?.value.bare ?? ""
    for sentence in Child.unset(of: variables) { note(sentence) }
    let end = try Child.run(
      words, environment: variables, input: JSONValue.object(document).text.text + "\n",
      watchedBy: guardian)
    if let number = end.signal {
      // End by the signal, so that its sender sees the usual exit status.
      signal(number, SIG_DFL)
      raise(number)
    }
    switch end.code {
    case 0: break
    case 126, 127:
      throw Failure("the command cannot be run (\(end.code))", ExitCode(rawValue: end.code))
    default: note("\(value.source): the command has \(Child.end(end.code))")
    }
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
