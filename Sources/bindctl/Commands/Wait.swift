import BinderClient
import Console
import JSON

let waitSyntax = Syntax(
  "wait", "Waits until a source has a value, and prints it.",
  operands: [Operand("SRC"), Operand("VALUE", .optional)],
  options: [
    stringOption, Option("change", "waits for the next change, whatever it is"), timeoutOption,
    noReconnectOption,
  ],
  details: """
    Returns at once when it has the value already. Without VALUE it waits for true. SRC may be a
    whole condition: 'a/b > 20', with == != < <= > >=.
    """,
  examples: [
    "bindctl wait cells/lamp true", "bindctl wait 'cells/temp > 20' -t 30",
    "bindctl wait cells/order --change",
  ])

var waitCommand: Command {
  Command(waitSyntax) { context in
    let isForChange = context.invocation.has("change")
    let condition = try condition(context)
    if isForChange, context.invocation.operands.count > 1 || Condition(context.operand(0)) != nil {
      throw UsageError("--change takes a source and nothing else", command: "wait")
    }
    let deadline = try context.deadline()
    // However short the time is, it is enough to see what is there already.
    let firstLook = try context.milliseconds("timeout").map {
      Deadline(inMilliseconds: max($0, 1000))
    }
    let follower = try context.client.follow(
      [Topic(condition.source)], reconnects: !context.invocation.has("no-reconnect"),
      until: firstLook ?? .never)
    var last: SourceValue?
    do throws(ClientError) {
      while true {
        guard case .value(let value) = try follower.next(until: deadline) else { continue }
        let isIt = isForChange ? !value.isPresent : condition.holds(for: value.value)
        if isIt {
          show(value, context)
          return .done
        }
        last = value
      }
    } catch {
      guard error == .timedOut else { throw error }
      let wanted = isForChange ? "a change of '\(condition.source)'" : "'\(condition)'"
      let present = last?.value.map { "it is \($0)" } ?? "it is not set"
      throw Failure("\(wanted) has not come in time: \(present)", .timeLimit)
    }
  }
}

private func show(_ value: SourceValue, _ context: Context) {
  var document: JSONObject = ["source": .string(value.source)]
  document["seq"] = value.seq.map { .number(JSONNumber($0)) }
  if let text = value.value {
    document["value"] = text.value
  } else {
    document["gone"] = .bool(true)
  }
  context.output.result(
    document, bare: document["value"] ?? .string(""),
    human: value.value.map { context.output.style.value($0.text) } ?? "(gone)")
}
