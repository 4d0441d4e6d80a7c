import BinderClient
import Console
import Facts
import JSON

let isSyntax = Syntax(
  "is", "Tests whether a source has a value; the exit code is the result.",
  operands: [Operand("SRC"), Operand("VALUE", .optional)], options: [stringOption],
  details: """
    Exits with 0 if it has the value, 1 if it has another value or none, 4 if it cannot exist.
    Without VALUE, tests for true. SRC may be a whole condition: 'a/b > 20', with == != < <= > >=, or
    'a/b exists', 'a/b !exists'. If a source is not set, != is true for every value.
    An empty list is [], an empty map {}.
    """,
  examples: [
    "bindctl is cells/lamp && echo on", "bindctl is cells/mode night",
    "bindctl is 'cells/temp > 20.5'",
  ])

var isCommand: Command {
  Command(isSyntax) { context in
    let condition = try condition(context)
    // Unlike `get`, a subscription distinguishes an unset cell from an impossible source.
    let follower = try context.client.follow([Topic(condition.source)], reconnects: false)
    var present: JSONText?
    while true {
      switch try follower.next() {
      case .value(let value): present = value.value
      case .caughtUp: return condition.holds(for: present) ? .done : .no
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
