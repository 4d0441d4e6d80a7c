import BinderClient
import Console
import JSON
import Model
import Wire

let isSyntax = Syntax(
  "is", "Tests whether a source has a value; the exit code is the result.",
  operands: [Operand("SRC"), Operand("VALUE", .optional)], options: [stringOption, pickOption],
  details: """
    Exits with 0 if it has the value, 1 if it has another value or none, 4 if it cannot exist.
    Without VALUE, tests for true. SRC may be a whole condition: 'a/b > 20', with == != < <= > >=, or
    'a/b exists', 'a/b !exists'. If a source is not set, != is true for every value.
    An empty list is [], an empty map {}. With --pick, a value without that part counts as not set.
    """,
  examples: [
    "bindctl is cells/lamp && echo on", "bindctl is cells/mode night",
    "bindctl is 'cells/temp > 20.5'", "bindctl is 'system/load < 2' --pick /one",
  ])

var isCommand: Command {
  Command(isSyntax) { context in
    let condition = try condition(context)
    let pointer = try context.pick()
    // Unlike `get`, a subscription distinguishes an unset cell from an impossible source.
    let follower = try context.client.follow([Topic(condition.source)], reconnects: false)
    var present: JSONText?
    while true {
      switch try follower.next() {
      case .value(let value): present = value.part(pointer).value
      case .caughtUp:
        context.suggestKey(of: condition.source, present) { "'\($0)' with --pick /\($1)" }
        return condition.holds(for: present) ? .done : .no
      case .event, .missed: break
      }
    }
  }
}

/// Returns the condition from the operands of `is` and `wait`.
func condition(_ context: Context) throws -> SourceCondition {
  let source = context.operand(0)
  let command = context.invocation.command
  let typed: SourceCondition?
  do throws(Condition.Fault) {
    typed = try SourceCondition(typed: source)
  } catch {
    throw UsageError("'\(source)' is not a condition; for example: 'a/b > 20'", command: command)
  }
  if let typed {
    try checkExists(typed, command)
    guard context.invocation.operands.count == 1 else {
      throw UsageError(
        "unexpected argument '\(context.operand(1))' after the condition '\(source)'",
        command: command)
    }
    return typed
  }
  guard !source.contains("*") else {
    throw UsageError(
      "\(command ?? "") takes one source, not the pattern '\(source)'", command: command)
  }
  guard context.invocation.operands.count > 1 else {
    return SourceCondition(source, is: JSONText(true))
  }
  return SourceCondition(source, is: try context.value(context.operand(1)))
}

/// Refuses to test whether a list or a map exists: each does, and is empty until it is written.
private func checkExists(_ condition: SourceCondition, _ command: String?) throws(UsageError) {
  let empty = ["lists": "[]", "maps": "{}"][condition.source.prefix { $0 != "/" }]
  guard condition.isExistence, let empty else { return }
  throw UsageError(
    "'\(condition.source)' exists even if it is empty; use '\(condition.source) != \(empty)'",
    command: command)
}

let waitSyntax = Syntax(
  "wait", "Waits until a source has a value, and prints it.",
  operands: [Operand("SRC"), Operand("VALUE", .optional)],
  options: [
    stringOption, pickOption, Option("change", "wait for the next change, whatever the value"),
    noReconnectOption, waitDaemonOption,
  ],
  details: """
    Returns at once if the source already has the value. Without VALUE, waits for true. SRC may be a whole
    condition: 'a/b > 20', with == != < <= > >=, or 'a/b exists', 'a/b !exists'. If a source is not
    set, != is true for every value. An empty list is [], an empty map {}. With --pick, a value without
    that part counts as not set, and only that part is printed. Continues after a restart of the daemon,
    even with another journal.
    """,
  examples: [
    "bindctl wait cells/lamp true", "bindctl wait 'cells/temp > 20' -t 30",
    "bindctl wait 'lists/jobs != []'", "bindctl wait cells/order --change",
  ])

var waitCommand: Command {
  Command(waitSyntax) { context in
    let condition = try condition(context)
    if context.invocation.has("change"),
      context.invocation.operands.count > 1 || condition.source != context.operand(0)
    {
      throw UsageError("--change takes a source without VALUE or condition", command: "wait")
    }
    var wait = Wait(
      condition, isForChange: context.invocation.has("change"), pointer: try context.pick())
    let deadline = context.client.limits.deadline
    // Even a short timeout suffices to read the current value.
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

/// A wait for a condition or a change, with the last value seen.
private struct Wait: CustomStringConvertible {
  private let condition: SourceCondition
  private let isForChange: Bool

  /// The part of the value to look at; `nil` for all of it.
  private let pointer: JSONPointer?

  /// The last value seen.
  ///
  /// The outer `nil` means none yet, the inner one a missing value.
  private var present: JSONText??

  init(_ condition: SourceCondition, isForChange: Bool, pointer: JSONPointer?) {
    (self.condition, self.isForChange, self.pointer) = (condition, isForChange, pointer)
  }

  /// Waits until the condition holds; it may hold already.
  mutating func run(_ context: Context, until deadline: Deadline) throws(ClientError) -> SourceValue
  {
    let reconnects = !context.invocation.has("no-reconnect")
    while true {
      let follower = try context.client.follow(
        [Topic(condition.source)], reconnects: reconnects)
      do throws(ClientError) {
        return try find(follower, until: deadline, context)
      } catch {
        // The position is of another journal or no longer retained; start from the current value.
        guard reconnects, case .refused(let refusal) = error,
          refusal.name == .epochMismatch || refusal.name == .seqExpired
        else { throw error }
      }
    }
  }

  private mutating func find(
    _ follower: Follower, until deadline: Deadline, _ context: Context
  ) throws(ClientError) -> SourceValue {
    var isNew = false
    let isFirst = present == nil
    while true {
      switch try follower.next(until: deadline) {
      case .value(let value):
        isNew = true
        let value = value.part(pointer)
        if record(value.value, isPresent: value.isPresent) { return value }
      case .caughtUp(_, let seq):
        // A source that is not set sends no value.
        if !isNew, record(nil, isPresent: true) {
          return SourceValue(source: condition.source, seq: seq, value: nil)
        }
        if isFirst {
          context.suggestKey(of: condition.source, present ?? nil) { "'\($0)' with --pick /\($1)" }
        }
      case .event, .missed: break
      }
    }
  }

  /// Records a value and returns whether the wait is over.
  private mutating func record(_ value: JSONText?, isPresent: Bool) -> Bool {
    defer { present = .some(value) }
    guard isForChange else { return condition.holds(for: value) }
    // After a restart from the current value, compare it with the last value seen, and a part always.
    guard isPresent || pointer != nil else { return true }
    return present.map { $0 != value } ?? false
  }

  /// The awaited condition, and the current value.
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

extension SourceValue {
  /// Returns the same with a part of the value; `nil` for all of it.
  func part(_ pointer: JSONPointer?) -> SourceValue {
    guard let pointer else { return self }
    return SourceValue(
      source: source, seq: seq, value: value.flatMap { pointer.find(in: $0) }, isPresent: isPresent)
  }
}
