import BinderClient
import Console
import Glibc
import JSON
import Wire

let ackSyntax = Syntax(
  "ack", "Acknowledges the events of a durable reader up to a position.",
  operands: [Operand("NAME", completes: .names(of: "readers")), Operand("SEQ")],
  options: [Option("steal", "take the reader over from its current holder")],
  details: """
    NAME is a durable reader, see 'bindctl help events'; a new reader starts after SEQ. When the
    command returns, the position is on disk: events up to SEQ are not delivered again. Exits with 5
    while another program holds the reader.
    """,
  examples: [
    "bindctl events --durable mailer -F '{seq} {event.data.text}'", "bindctl ack mailer 81234",
  ])

var ackCommand: Command {
  Command(ackSyntax) { context in
    let name = context.operand(0)
    guard let seq = UInt64(context.operand(1)) else {
      throw UsageError(
        "SEQ is the position of an event, not '\(context.operand(1))'", command: "ack")
    }
    let last = try context.client.connected().greeting.last
    guard seq <= last else {
      throw Failure("position \(seq) is beyond the end of the journal (\(last))")
    }
    // A filter without matches: only the end of the replay is needed.
    let topic = Topic(
      eventsFrom: .object(["after": .number(JSONNumber(seq))]),
      filter: ["types": .array([.string("-")])],
      durable: DurableReader(name, steals: context.invocation.has("steal")), passesGaps: true)
    let follower = try context.client.follow([topic], reconnects: false)
    while true {
      if case .caughtUp = try follower.next() { break }
    }
    try follower.acknowledge(0, upTo: seq)
    let position = try context.client.call("get", ["source": .string("readers/\(name)")]).object
    context.output.result(position, bare: .number(JSONNumber(seq)), human: "")
    return .done
  }
}

/// Processes the events of a durable consumer, or shows the unacknowledged ones.
func readDurably(_ name: String, _ context: Context) throws -> ExitCode {
  let invocation = context.invocation
  if invocation.has("until") {
    throw UsageError("--until and --durable cannot be used together", command: "events")
  }
  guard let command = invocation.value("exec") else {
    for option in ["max-retries", "retry-delay", "steal"] where invocation.has(option) {
      throw UsageError("option '--\(option)' needs --exec", command: "events")
    }
    return try showUnacknowledged(name, context)
  }
  for option in ["count", "follow"] where invocation.has(option) {
    throw UsageError("--\(option) and --exec cannot be used together", command: "events")
  }
  let work = EventWork(
    name: name, words: ["/bin/sh", "-c", command],
    // The command must use the daemon that sent the event.
    environment: context.childEnvironment,
    maxRetries: try context.number("max-retries") ?? 5,
    firstPauseMilliseconds: try context.milliseconds("retry-delay") ?? 1_000)
  return try run(work, context)
}

private func run(_ work: EventWork, _ context: Context) throws -> ExitCode {
  // One at a time: while the command runs, this program reads nothing.
  let reader = DurableReader(
    work.name, maxUnacknowledged: 1, steals: context.invocation.has("steal"))
  let topic = Topic(
    eventsFrom: try context.moment("since")?.beginning, filter: eventFilter(context),
    durable: reader, passesGaps: true, withOrigin: context.invocation.has("who"))
  let follower = try context.client.follow(
    [topic], reconnects: !context.invocation.has("no-reconnect"))
  while true {
    let update = try follower.next()
    noteMissed(update)
    guard case .event(let seq, let event) = update else { continue }
    let first: UInt64 = follower.wasDelivered(0, seq) ? 2 : 1
    let item = JournalItem(seq: seq, event: event.object)
    switch try work.work(on: item, firstAttempt: first, context.client) {
    case .done: try follower.acknowledge(0, upTo: seq)
    case .interrupted(let number, let isDone):
      if isDone { try follower.acknowledge(0, upTo: seq) }
      // End by the signal, so that its sender sees the usual exit status.
      signal(number, SIG_DFL)
      raise(number)
      return ExitCode(rawValue: 128 + number)
    }
  }
}

/// Shows the unacknowledged events of a durable consumer without moving its position.
private func showUnacknowledged(_ name: String, _ context: Context) throws -> ExitCode {
  let connection = try context.client.connected()
  let filter = eventFilter(context)
  let isOfReaders = context.invocation.operands.first?.hasPrefix("readers") ?? false
  var writer = EventWriter(context.output)
  var left = try context.number("count") ?? .max
  func take(_ item: JournalItem) {
    // Events about consumers are not delivered to durable consumers unless requested.
    let isReaders = item.event.string("stream")?.hasPrefix("readers/") ?? false
    guard left > 0, isOfReaders || !isReaders else { return }
    writer.write(item)
    left -= 1
  }
  var range = JournalRange(
    after: try position(of: name, context), end: connection.greeting.last, filter: filter)
  range.after = max(range.after, connection.greeting.first - 1)
  range.withOrigin = context.invocation.has("who")
  guard context.invocation.has("follow") else {
    try connection.events(of: range, until: { left == 0 }, take)
    return .done
  }
  guard left == .max else {
    throw UsageError(
      "--count and --follow cannot be used together with --durable", command: "events")
  }
  try followEvents(filter, after: range.after, context, take)
}

/// Returns the acknowledged position of a durable consumer; creates the consumer if it is new.
private func position(of name: String, _ context: Context) throws -> UInt64 {
  let connection = try context.client.connected()
  var params: JSONObject = [
    "source": .string("events"), "sub": .string("position"), "durable": .string(name),
    "on_gap": .string("continue"), "filter": .object(["types": .array([.string("-")])]),
  ]
  do throws(ClientError) {
    let value = try connection.call("get", ["source": .string("readers/\(name)")]).object["value"]
    if case .object(let state)? = value, let seq = state.uint("seq") { return seq }
  } catch {
    guard case .refused(let refusal) = error, refusal.name == .notFound else { throw error }
  }
  params["from"] = try context.moment("since")?.beginning
  let answer = try connection.call("subscribe", params).object
  _ = try connection.call("unsubscribe", ["sub": .string("position")])
  return answer.uint("after") ?? 0
}

/// Runs a command for each event of a durable consumer, and acknowledges handled events.
///
/// An event is handled if the command has succeeded. After too many failures it is parked: appended
/// to the list `lists/NAME.parked`, exactly once, before it is acknowledged. A crash at any moment
/// may repeat work, but loses none.
struct EventWork {
  /// The name of the durable consumer.
  let name: String

  /// The program and its arguments.
  let words: [String]

  /// Variables for each run, in addition to those of the event.
  let environment: [String: String]

  /// The number of retries before an event is parked.
  let maxRetries: UInt64

  /// The pause before the first retry, in milliseconds.
  ///
  /// It doubles for each further retry, up to a minute.
  let firstPauseMilliseconds: UInt64

  private static let longestPauseMilliseconds: UInt64 = 60_000

  /// The result of processing an event.
  enum Outcome {
    case done
    /// A signal arrived meanwhile; `isDone` is true if the command has succeeded anyway.
    case interrupted(CInt, isDone: Bool)
  }

  /// The list of parked events.
  var parkedList: String { "\(name).parked" }

  /// Processes an event until it may be acknowledged, or a signal arrives.
  ///
  /// - Parameters:
  ///   - first: The number of the first run, 2 if an earlier program may have run the command.
  ///   - client: The client for parking events.
  /// - Throws: ``Failure`` if the command cannot be run; ``ClientError`` if the event cannot be
  ///   parked. The event must not be acknowledged then.
  func work(
    on item: JournalItem, firstAttempt first: UInt64, _ client: BinderClient
  ) throws -> Outcome {
    // Skip the events that this consumer creates by parking.
    if item.event.string("stream") == "lists/\(parkedList)" { return .done }
    var attempt: UInt64 = 1
    var pause = firstPauseMilliseconds
    while true {
      let (code, signal) = try run(item, first + attempt - 1)
      if let signal { return .interrupted(signal, isDone: code == 0) }
      if code == 0 { return .done }
      guard code != 126, code != 127 else {
        throw Failure(
          "the command cannot be run; event \(item.seq) and later events are not acknowledged",
          ExitCode(rawValue: code))
      }
      guard attempt <= maxRetries else {
        try park(item, code, attempt, client)
        return .done
      }
      note(
        "event \(item.seq): the command has \(Child.end(code)); retry \(attempt) of \(maxRetries) in"
          + " \(Double(pause) / 1000) s")
      // Nothing is in progress, so a signal may end the program here.
      try client.pause(milliseconds: pause)
      attempt += 1
      pause = min(pause * 2, max(Self.longestPauseMilliseconds, firstPauseMilliseconds))
    }
  }

  // MARK: Running the command

  /// Runs the command once; a first signal lets it finish, further signals are passed to it.
  ///
  /// - Returns: Its exit code as in shells, and the first signal that arrived meanwhile.
  private func run(_ item: JournalItem, _ attempt: UInt64) throws -> (code: CInt, signal: CInt?) {
    try Child.run(
      words, environment: item.variables(reader: name, attempt: attempt, environment),
      input: JSONValue.object(item.document).text.text + "\n")
  }

  // MARK: Parking

  /// Appends an event to the list of parked events, exactly once.
  private func park(
    _ item: JournalItem, _ code: CInt, _ attempts: UInt64, _ client: BinderClient
  ) throws {
    var entry = item.document
    entry["failure"] = .string(Child.end(code))
    entry["attempts"] = .number(JSONNumber(attempts))
    let identity = try identity(of: item, client)
    do throws(ClientError) {
      try append(entry, identity, client)
    } catch {
      // The entry exceeds the size limit of a value. The event's data stays in the journal.
      guard case .refused(let refusal) = error, refusal.name == .invalidParams,
        refusal.data["path"] == .string("/value"), case .object(var event)? = entry["event"]
      else { throw error }
      event["data"] = nil
      entry["event"] = .object(event)
      entry["left_out"] = .string("data")
      try append(entry, identity + "-", client)
    }
    note(
      "event \(item.seq): the command has \(Child.end(code)), attempt \(attempts) of \(attempts); the event"
        + " is parked in lists/\(parkedList)")
  }

  private func append(
    _ entry: JSONObject, _ identity: String, _ client: BinderClient
  ) throws(ClientError) {
    do throws(ClientError) {
      try client.command(
        "lists.append", ["name": .string(parkedList), "value": .object(entry)], id: identity)
    } catch {
      // An earlier run has parked it but ended before it could acknowledge.
      guard case .refused(let refusal) = error, refusal.name == .cmdReused else { throw error }
    }
  }

  /// Returns the idempotency key for parking an event.
  ///
  /// It includes the version of the consumer's own stream. If the consumer is reset, a redelivered
  /// event can therefore be parked again.
  private func identity(
    of item: JournalItem, _ client: BinderClient
  ) throws(ClientError) -> String {
    let page = try client.query(
      "history",
      [
        "source": .string("events"), "before": .number(JSONNumber(Int64.max)),
        "limit": .number(JSONNumber(1)),
        "filter": .object(["streams": .array([.string("readers/\(name)")])]),
      ]
    ).object
    var version = "0"
    if case .array(let items)? = page["items"], let last = items.last.flatMap(JournalItem.init) {
      version = last.event["version"]?.bare ?? version
    }
    // The key has at most 64 bytes, so a long name is replaced by its hash.
    let short = name.utf8.count <= 20 ? name : "#" + String(name.hash, radix: 36)
    return "\(short):\(version):\(item.seq)"
  }
}

extension JournalItem {
  /// The event in the form of `-j`.
  var document: JSONObject { ["seq": .number(JSONNumber(seq)), "event": .object(event)] }
}

extension String {
  /// A stable hash of the text: FNV-1a, <http://www.isthe.com/chongo/tech/comp/fnv/>.
  fileprivate var hash: UInt64 {
    utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
  }
}
