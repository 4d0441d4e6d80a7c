import BinderClient
import Console
import JSON

let isSyntax = Syntax(
  "is", "Says by its exit code whether a source has a value.",
  operands: [Operand("SRC"), Operand("VALUE", .optional)], options: [stringOption],
  details: """
    Exits 0 when it has, 1 when it has another one or none, 4 when there can be no such source.
    Without VALUE it is true that is asked for. SRC may be a whole condition: 'a/b > 20', with
    == != < <= > >=.
    """,
  examples: [
    "bindctl is cells/lamp && echo on", "bindctl is cells/mode night",
    "bindctl is 'cells/temp > 20.5'",
  ])

var isCommand: Command {
  Command(isSyntax) { context in
    let condition = try condition(context)
    // A subscription tells a cell that is not set from a source that cannot be.
    let answer = try context.client.call("subscribe", ["source": .string(condition.source)]).object
    let value = answer["gone"] == nil ? answer["value"]?.text : nil
    return condition.holds(for: value) ? .done : .no
  }
}

/// What the operands of `is` and `wait` ask for.
func condition(_ context: Context) throws -> Condition {
  let source = context.operand(0)
  let command = context.invocation.command
  if let condition = Condition(source) {
    guard context.invocation.operands.count == 1 else {
      throw UsageError("after the condition '\(source)' there is no VALUE", command: command)
    }
    guard !condition.source.isEmpty, condition.isWhole else {
      throw UsageError("'\(source)' is no condition, as 'a/b > 20' is", command: command)
    }
    return condition
  }
  guard !source.contains("*") else {
    throw UsageError(
      "\(command ?? "") takes one source, not the pattern '\(source)'", command: command)
  }
  guard context.invocation.operands.count > 1 else {
    return Condition(source, is: JSONText(true))
  }
  return Condition(source, is: try context.value(context.operand(1)))
}
