import BinderClient
import Console
import JSON
import Wire

let sinceOption = Option(
  "since", value: "WHEN", "those after a seq, or from a time on; see 'bindctl help when'")

let eventsSyntax = Syntax(
  "events", "Shows what has happened: the events of the journal, oldest first.",
  operands: [Operand("PATTERN", .optional)],
  options: [
    Option("follow", letter: "f", "goes on with what happens, until Ctrl-C"),
    Option("count", letter: "n", value: "N", "the last N of them; 20 without --since"), sinceOption,
    Option("until", value: "WHEN", "those up to a seq or a time"),
    Option(
      "durable", value: "NAME",
      "as a reader whose position the daemon keeps: goes on behind what it has printed"),
    Option("steal", "takes the reader from who holds it"),
    Option("type", value: "TYPE", "only those of a type, as 'cells.*'; may stand repeatedly"),
    noReconnectOption,
  ],
  details: """
    PATTERN is the stream, or streams, they belong to: cells/lamp, 'cells/**'. With -f no event is
    left out and none comes twice, also when the daemon is restarted meanwhile.
    With --durable it goes on like -f, the next time behind what was printed the last time; --since
    says where a new reader begins (now). What was printed last may come again after a crash.
    'bindctl call readers.forget name=NAME' forgets it.
    """,
  examples: [
    "bindctl events -n 5", "bindctl events 'cells/**' -f", "bindctl events --since -1h -j",
  ])

var eventsCommand: Command {
  Command(eventsSyntax) { context in
    if let name = context.invocation.value("durable") {
      return try readDurably(name, context)
    }
    if context.invocation.has("steal") {
      throw UsageError("--steal is for --durable", command: "events")
    }
    let follows = context.invocation.has("follow")
    if follows, context.invocation.has("until") {
      throw UsageError("--until and --follow exclude each other", command: "events")
    }
    var writer = EventWriter(context.output)
    let range = try range(context)
    guard follows else {
      try context.client.connected().events(of: range) { writer.write($0) }
      return .done
    }
    let from = JSONValue.object(["after": .number(JSONNumber(range.after))])
    let follower = try context.client.follow(
      [Topic(eventsFrom: from, filter: range.filter)],
      reconnects: !context.invocation.has("no-reconnect"))
    while true {
      let update = try follower.next()
      noteMissed(update)
      guard case .event(let seq, let event) = update else { continue }
      writer.write(JournalItem(seq: seq, event: event.object))
    }
  }
}

/// Says on stderr what is not to be had any more.
func noteMissed(_ update: Update) {
  guard case .missed(_, let positions) = update else { return }
  let (first, last) = (positions.lowerBound, positions.upperBound)
  note(
    first == last
      ? "event \(first) is not kept any more" : "events \(first) to \(last) are not kept any more")
}

/// Writes the events of a durable reader, and acknowledges what is written.
private func readDurably(_ name: String, _ context: Context) throws -> ExitCode {
  for option in ["count", "until"]
  where context.invocation.has(option) || context.invocation.value(option) != nil {
    throw UsageError("--\(option) and --durable exclude each other", command: "events")
  }
  var writer = EventWriter(context.output)
  let reader = DurableReader(name, steals: context.invocation.has("steal"))
  let topic = Topic(
    eventsFrom: try context.moment("since")?.beginning, filter: filter(context), durable: reader)
  let follower = try context.client.follow(
    [topic], reconnects: !context.invocation.has("no-reconnect"))
  var (last, unacknowledged): (UInt64, Int) = (0, 0)
  while true {
    let update = try follower.next()
    noteMissed(update)
    if case .event(let seq, let event) = update {
      writer.write(JournalItem(seq: seq, event: event.object))
      last = seq
      unacknowledged += 1
    }
    // Each acknowledgement waits for the disk: one for what has come together.
    guard unacknowledged > 0, !follower.hasMore || unacknowledged == 100 else { continue }
    try follower.acknowledge(0, upTo: last)
    unacknowledged = 0
  }
}

/// Which events are wanted.
private func filter(_ context: Context) -> JSONObject {
  var filter = JSONObject()
  if let pattern = context.invocation.operands.first {
    filter["streams"] = .array([.string(pattern)])
  }
  let types = context.invocation.values("type")
  if !types.isEmpty { filter["types"] = .array(types.map { .string($0) }) }
  return filter
}

/// The part of the journal that is wanted.
private func range(_ context: Context) throws -> JournalRange {
  let connection = try context.client.connected()
  let filter = filter(context)
  let since = try context.moment("since")
  let until = try context.moment("until")
  let range = JournalRange(
    after: try since.map { try connection.position(at: $0, isIncluded: false) }
      ?? connection.greeting.first - 1,
    end: try until.map { try connection.position(at: $0, isIncluded: true) }
      ?? connection.greeting.last,
    filter: filter)
  guard let count = try context.number("count") ?? (since == nil ? 20 : nil) else { return range }
  return try connection.last(count, of: range)
}

/// Writes events, one a line.
private struct EventWriter {
  private let output: Output
  private var columns: Columns

  init(_ output: Output) {
    self.output = output
    columns = Columns(widths: [4, 23, 12, 16, 0], isTerminal: output.isTerminal)
  }

  mutating func write(_ item: JournalItem) {
    let event = item.event
    let time = event.string("time") ?? ""
    let style = output.style
    output.result(
      ["seq": .number(JSONNumber(item.seq)), "event": .object(event)],
      bare: event["data"] ?? .null,
      human: columns.line([
        "\(item.seq)", output.isTerminal ? Timestamp(time)?.shownHere ?? time : time,
        event.string("type") ?? "", event.string("stream") ?? "",
        (event["data"] ?? .null).text.text,
      ]) { column, cell in
        switch column {
        case 0, 1: style.dim(cell)
        case 2: style.bold(cell)
        default: cell
        }
      })
  }
}
