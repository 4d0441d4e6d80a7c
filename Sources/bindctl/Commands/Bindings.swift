import BinderClient
import Console
import JSON

let bindingsSyntax = Syntax(
  "bindings", "Lists the bindings that the daemon keeps.", examples: ["bindctl bindings"])

var bindingsCommand: Command {
  Command(bindingsSyntax) { context in
    let result = try context.client.call("get", ["source": .string("bindings/*")]).object
    let all = result.object("values").members.sorted { $0.name < $1.name }
    for member in all {
      let name = String(member.name.dropFirst("bindings/".count))
      let document: JSONObject = ["binding": .string(name), "expr": member.value]
      context.output.result(
        document, bare: member.value, human: "\(name)\t\(member.value.bare)")
    }
    return .done
  }
}
