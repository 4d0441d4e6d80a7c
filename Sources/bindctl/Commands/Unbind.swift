import BinderClient
import Console
import JSON

let unbindSyntax = Syntax(
  "unbind", "Ends a binding that the daemon keeps.", operands: [Operand("NAME")],
  details: "Exits 1 when there was none.", examples: ["bindctl unbind warm"])

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
