import BinderClient
import Console
import Glibc
import JSON
import Wire

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
    environment: invocation.value("socket").map { ["BINDER_SOCKET": $0] } ?? [:],
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
    durable: reader, passesGaps: true)
  let follower = try context.client.follow(
    [topic], reconnects: !context.invocation.has("no-reconnect"))
  while true {
    let update = try follower.next()
    noteMissed(update)
    guard case .event(let seq, let event) = update else { continue }
    switch try work.work(on: JournalItem(seq: seq, event: event.object), context.client) {
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
