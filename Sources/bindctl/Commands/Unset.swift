import BinderClient
import Console
import JSON

let unsetSyntax = Syntax(
  "unset", "Removes a cell.", operands: [Operand("SRC")],
  details: "Exits with 1 if the cell was not set.", examples: ["bindctl unset cells/lamp"])

var unsetCommand: Command {
  Command(unsetSyntax) { context in
    let source = context.operand(0)
    guard source.hasPrefix("cells/") else {
      throw UsageError(
        "unset takes a cell, for example cells/lamp, not '\(source)'", command: "unset")
    }
    let name = JSONValue.string(String(source.dropFirst("cells/".count)))
    let result = try context.client.call("cells.unset", ["name": name]).object
    let wasThere = result["value"] == .bool(true)
    if context.output.form != .human {
      context.output.result(result, bare: result["value"], human: "")
    } else if !wasThere {
      note("'\(source)' was not set")
    }
    return wasThere ? .done : .no
  }
}
