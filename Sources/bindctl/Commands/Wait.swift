import BinderClient
import Console
import JSON
import Wire

let waitSyntax = Syntax(
  "wait", "Waits until a source has a value, and prints it.",
  operands: [Operand("SRC"), Operand("VALUE", .optional)],
  options: [
    stringOption, Option("change", "waits for the next change, whatever it is"),
    noReconnectOption,
  ],
  details: """
    Returns at once if it has the value already. Without VALUE, waits for true. SRC may be a whole
    condition: 'a/b > 20', with == != < <= > >=, or 'a/b exists', 'a/b !exists'. While a source is not
    set, != holds for it, whatever the value. Goes on when the daemon is restarted, also with another
    journal.
    """,
  examples: [
    "bindctl wait cells/lamp true", "bindctl wait 'cells/temp > 20' -t 30",
    "bindctl wait cells/order --change",
  ])

var waitCommand: Command {
  Command(waitSyntax) { context in
    let condition = try condition(context)
    if context.invocation.has("change"),
      context.invocation.operands.count > 1 || Condition(context.operand(0)) != nil
    {
      throw UsageError("--change takes a source and nothing else", command: "wait")
    }
    var wait = Wait(condition, isForChange: context.invocation.has("change"))
    let deadline = context.client.limits.deadline
    // However short the time is, it is enough to see what is there already.
    if deadline != .never {
      context.client.limits.deadline = .later(deadline, inMilliseconds: 1000)
    }
    do throws(ClientError) {
      show(try wait.run(context, until: deadline), context)
      return .done
    } catch {
      guard error == .timedOut else { throw error }
      throw Failure("timed out waiting for \(wait)", .timeLimit)
    }
  }
}

/// What is waited for, and what was seen last.
private struct Wait: CustomStringConvertible {
  private let condition: Condition
  private let isForChange: Bool

  /// The present value; the outer `nil` is before one was seen, the inner one where there is none.
  private var present: JSONText??

  init(_ condition: Condition, isForChange: Bool) {
    (self.condition, self.isForChange) = (condition, isForChange)
  }

  /// Waits; the value that ends it may have been there before.
  mutating func run(_ context: Context, until deadline: Deadline) throws(ClientError) -> SourceValue
  {
    let reconnects = !context.invocation.has("no-reconnect")
    while true {
      let follower = try context.client.follow(
        [Topic(condition.source)], reconnects: reconnects)
      do throws(ClientError) {
        return try find(follower, until: deadline)
      } catch {
        // A position of another journal, or one that is not kept: the present value says it all.
        guard reconnects, case .refused(let refusal) = error,
          refusal.name == .epochMismatch || refusal.name == .seqExpired
        else { throw error }
      }
    }
  }

  private mutating func find(
    _ follower: Follower, until deadline: Deadline
  ) throws(ClientError) -> SourceValue {
    var isNew = false
    while true {
      switch try follower.next(until: deadline) {
      case .value(let value):
        isNew = true
        if take(value.value, isPresent: value.isPresent) { return value }
      case .caughtUp(_, let seq):
        // A source that is not set has no value to be told.
        if !isNew, take(nil, isPresent: true) {
          return SourceValue(source: condition.source, seq: seq, value: nil)
        }
      case .event, .missed, .completed: break
      }
    }
  }

  /// Takes a value; returns whether it is the one.
  private mutating func take(_ value: JSONText?, isPresent: Bool) -> Bool {
    defer { present = .some(value) }
    guard isForChange else { return condition.holds(for: value) }
    // After a new beginning what was seen before it counts.
    guard isPresent else { return true }
    return present.map { $0 != value } ?? false
  }

  /// What is waited for, and what there is instead.
  var description: String {
    let wanted = isForChange ? "a change of \(condition.source)" : "\(condition)"
    return wanted + ((present ?? nil).map { " (now \($0))" } ?? " (not set)")
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
