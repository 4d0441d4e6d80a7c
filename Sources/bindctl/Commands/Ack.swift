import BinderClient
import Console
import JSON
import Wire

let ackSyntax = Syntax(
  "ack", "Acknowledges the events of a durable reader up to a position.",
  operands: [Operand("NAME"), Operand("SEQ")],
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
