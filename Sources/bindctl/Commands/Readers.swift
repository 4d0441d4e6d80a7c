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

/// Shows the unacknowledged events of a durable reader without moving its position.
func showUnacknowledged(_ name: String, _ context: Context) throws -> ExitCode {
  if context.invocation.has("until") {
    throw UsageError("--until and --durable cannot be used together", command: "events")
  }
  let connection = try context.client.connected()
  let filter = try eventFilter(context)
  let isOfReaders = context.invocation.operands.first?.hasPrefix("readers") ?? false
  var writer = EventWriter(context.output)
  var left = try context.number("count") ?? .max
  func show(_ item: JournalItem) {
    // Events about readers are not delivered to durable readers unless requested.
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
    try connection.events(of: range, until: { left == 0 }, show)
    return .done
  }
  guard left == .max else {
    throw UsageError(
      "--count and --follow cannot be used together with --durable", command: "events")
  }
  try followEvents(filter, after: range.after, context, show)
}

/// Returns the acknowledged position of a durable reader; creates the reader if it is new.
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

extension JournalItem {
  /// The event in the form of `-j`.
  var document: JSONObject { ["seq": .number(JSONNumber(seq)), "event": .object(event)] }
}
