import BinderClient
import Console
import JSON

let unbindSyntax = Syntax(
  "unbind", "Removes a binding from the daemon.", operands: [Operand("NAME")],
  details: "Exits with 1 if there was no such binding.", examples: ["bindctl unbind warm"])

var unbindCommand: Command {
  Command(unbindSyntax) { context in
    let name = context.operand(0)
    let result = try context.client.call("unbind", ["binding": .string(name)]).object
    let was = result["was"] == .string("active")
    if context.output.form != .human {
      context.output.result(result, bare: result["was"], human: "")
    } else if !was {
      note("there was no binding '\(name)'")
    }
    return was ? .done : .no
  }
}
