import BinderClient
import Console
import JSON
import Wire

let eventsSyntax = Syntax(
  "events", "Shows the events of the journal, oldest first.",
  operands: [Operand("PATTERN", .optional)],
  options: [
    Option("follow", letter: "f", "wait for new events and show them, until Ctrl-C"),
    Option("count", letter: "n", value: "N", "only the last N; default 20 without --since"),
    sinceOption,
    Option("until", value: "WHEN", "only those up to a position or a time"),
    Option(
      "durable", value: "NAME",
      "the events that the durable reader NAME has not acknowledged; acknowledges none itself",
      completes: .names(of: "readers")),
    Option("type", value: "TYPE", "only those of a type, for example 'cells.*'; may be repeated"),
    Option("by", value: "USER", "only those of a user"),
    whoOption,
    noReconnectOption,
    waitDaemonOption,
  ],
  details: """
    PATTERN selects streams: cells/lamp, 'cells/**'. With -f no event is lost or repeated, even if the
    daemon is restarted.

    The daemon keeps the position of a durable reader. --since sets where a new reader starts; by
    default now. --durable alone shows the events after that position, with -n the oldest N, and changes
    nothing. 'bindctl ack NAME SEQ' acknowledges the events up to SEQ; they are not delivered again. So
    'events --durable' into a pipe loses nothing: the next run shows unacknowledged events again.

    'bindctl work' runs a command for each event of a durable reader.

      bindctl call readers.remove name=NAME                  removes the reader
    """,
  examples: [
    "bindctl events -n 5", "bindctl events 'cells/**' -f", "bindctl events --since -1h -j",
    "bindctl events lists/jobs --durable worker -j | ./work.sh",
  ])

var eventsCommand: Command {
  Command(eventsSyntax) { context in
    if let name = context.invocation.value("durable") {
      return try showUnacknowledged(name, context)
    }
    let follows = context.invocation.has("follow")
    if follows, context.invocation.has("until") {
      throw UsageError("--until and --follow cannot be used together", command: "events")
    }
    var writer = EventWriter(context.output)
    let range = try range(context)
    guard follows else {
      try context.client.connected().events(of: range) { writer.write($0) }
      return .done
    }
    try followEvents(range.filter, after: range.after, context) { writer.write($0) }
  }
}

/// Passes on the events after a position, as they happen.
func followEvents(
  _ filter: JSONObject, after seq: UInt64, _ context: Context, _ take: (JournalItem) -> Void
) throws -> Never {
  let from = JSONValue.object(["after": .number(JSONNumber(seq))])
  let follower = try context.client.follow(
    [Topic(eventsFrom: from, filter: filter, withOrigin: context.invocation.has("who"))],
    reconnects: !context.invocation.has("no-reconnect"))
  while true {
    let update = try follower.next()
    reportMissed(update)
    guard case .event(let seq, let event) = update else { continue }
    take(JournalItem(seq: seq, event: event.object))
  }
}

/// Reports events on stderr that are no longer retained.
func reportMissed(_ update: Update) {
  guard case .missed(_, let positions) = update else { return }
  let (first, last) = (positions.lowerBound, positions.upperBound)
  note(
    first == last
      ? "event \(first) is no longer kept" : "events \(first) to \(last) are no longer kept")
}

/// Returns the filter for events from the command line.
func eventFilter(_ context: Context) throws -> JSONObject {
  var filter = JSONObject()
  if let user = context.invocation.value("by") {
    guard let account = Account(user) else {
      throw UsageError("no user '\(user)'", command: context.invocation.command)
    }
    filter["by"] = .number(JSONNumber(UInt64(account.uid)))
  }
  if let pattern = context.invocation.operands.first {
    filter["streams"] = .array([.string(pattern)])
  }
  let types = context.invocation.values("type")
  if !types.isEmpty { filter["types"] = .array(types.map { .string($0) }) }
  return filter
}

/// Returns the requested range of the journal.
private func range(_ context: Context) throws -> JournalRange {
  let connection = try context.client.connected()
  let filter = try eventFilter(context)
  let since = try context.moment("since")
  let until = try context.moment("until")
  var range = JournalRange(
    after: try since.map { try connection.position(at: $0, isIncluded: false) }
      ?? connection.greeting.first - 1,
    end: try until.map { try connection.position(at: $0, isIncluded: true) }
      ?? connection.greeting.last,
    filter: filter)
  range.withOrigin = context.invocation.has("who")
  guard let count = try context.number("count") ?? (since == nil ? 20 : nil) else { return range }
  return try connection.last(count, of: range)
}

/// Writes events, one per line.
struct EventWriter {
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
    let data = event["data"] ?? .null
    var cells = [
      "\(item.seq)", output.isTerminal ? Timestamp(time)?.shownHere ?? time : time,
      event.string("type") ?? "", event.string("stream") ?? "",
    ]
    if let who = event.who { cells.append(who) }
    output.result(
      item.document, bare: data,
      human: columns.line(cells + [data.text.text]) { column, cell in
        switch column {
        case 0, 1: style.dim(cell)
        case 2: style.bold(cell)
        default: cell
        }
      })
  }
}

/// A range of journal positions, with a filter for events.
struct JournalRange {
  /// The position before the range.
  var after: UInt64

  /// The last position of the range.
  let end: UInt64

  let filter: JSONObject

  /// Whether each event says who has recorded it.
  var withOrigin = false
}

/// An event with the protocol's members.
struct JournalItem {
  let seq: UInt64
  let event: JSONObject

  init?(_ value: JSONValue) {
    guard case .object(let object) = value, case .number(let number)? = object["seq"],
      let seq = number.int64, case .object(let event)? = object["event"]
    else { return nil }
    self.seq = UInt64(seq)
    self.event = event
  }

  init(seq: UInt64, event: JSONObject) {
    self.seq = seq
    self.event = event
  }

  /// Returns the environment of a command that is run for this event of a durable reader.
  func variables(
    reader: String, attempt: UInt64, _ environment: [String: String]
  ) -> [String: String] {
    var variables = environment
    variables["BINDER_READER"] = reader
    variables["BINDER_SEQ"] = "\(seq)"
    variables["BINDER_ATTEMPT"] = "\(attempt)"
    for member in ["type", "stream", "time", "version"] {
      variables["BINDER_" + member.uppercased()] = event[member]?.bare ?? ""
    }
    return variables
  }
}

extension BinderConnection {
  /// Returns the position of the last event before a time or position.
  ///
  /// - Parameter isIncluded: Whether to include the event at the time or position itself.
  /// - Throws: ``Failure`` for a position beyond the journal, which is a typing error or belongs to
  ///   another journal; not if `isIncluded`.
  func position(at moment: When, isIncluded: Bool) throws -> UInt64 {
    switch moment {
    case .seq(let seq):
      guard seq <= greeting.last || isIncluded else {
        throw Failure("position \(seq) is beyond the end of the journal (\(greeting.last))")
      }
      return seq
    case .start: return isIncluded ? greeting.first : greeting.first - 1
    case .now: return greeting.last
    case .time(let time):
      let from = Timestamp(microseconds: time.microseconds + (isIncluded ? 1 : 0))
      // A subscription converts a time to a position; the filter matches no event.
      let answer = try call(
        "subscribe",
        [
          "source": .string("events"), "sub": .string("position"),
          "from": .object(["time": .string(from.text)]),
          "filter": .object(["types": .array([.string("-")])]),
        ])
      _ = try call("unsubscribe", ["sub": .string("position")])
      return answer.object.uint("after") ?? 0
    }
  }

  /// Returns the part of a range that contains its last `count` events.
  func last(_ count: UInt64, of range: JournalRange) throws -> JournalRange {
    var range = range
    guard count > 0 else {
      range.after = range.end
      return range
    }
    var (left, before) = (count, range.end + 1)
    while left > 0 {
      let page = try call(
        "history",
        [
          "source": .string("events"), "before": .number(JSONNumber(before)),
          "limit": .number(JSONNumber(min(left, 100))), "filter": .object(range.filter),
        ]
      ).object
      let items = page.items
      guard let first = items.first, first.seq > range.after else { return range }
      left -= min(left, UInt64(items.count))
      before = first.seq
      guard page["more"] == .bool(true), left > 0 else { break }
    }
    range.after = max(range.after, before - 1)
    return range
  }

  /// Passes the events of a range to a closure, page by page.
  ///
  /// - Parameter isEnough: Whether to stop before the next page.
  func events(
    of range: JournalRange, until isEnough: () -> Bool = { false },
    _ take: (JournalItem) throws -> Void
  ) throws {
    var after = range.after
    while after < range.end, !isEnough() {
      var params: JSONObject = [
        "source": .string("events"), "after": .number(JSONNumber(after)),
        "limit": .number(JSONNumber(1000)), "filter": .object(range.filter),
      ]
      if range.withOrigin { params["who"] = .bool(true) }
      let page = try call("history", params).object
      for item in page.items {
        guard item.seq <= range.end else { return }
        try take(item)
      }
      guard page["more"] == .bool(true), let end = page.uint("after"), end > after else { return }
      after = end
    }
  }
}

extension JSONObject {
  /// The events of a page.
  var items: [JournalItem] {
    guard case .array(let items)? = self["items"] else { return [] }
    return items.compactMap(JournalItem.init)
  }

  /// Returns a member that is a position or a count; `nil` if it is not one.
  func uint(_ name: String) -> UInt64? {
    guard case .number(let number)? = self[name] else { return nil }
    return number.int64.flatMap { UInt64(exactly: $0) }
  }

  /// Returns a member that is a string; `nil` if it is not one.
  func string(_ name: String) -> String? {
    guard case .string(let string)? = self[name] else { return nil }
    return string
  }
}
