import BinderClient
import Console
import JSON

let bindingsSyntax = Syntax(
  "bindings", "Lists the bindings that the daemon keeps.", examples: ["bindctl bindings"])

var bindingsCommand: Command {
  Command(bindingsSyntax) { context in
    guard case .array(let all)? = try context.client.call("bindings.list").object["value"] else {
      return .done
    }
    for case .object(let binding) in all {
      let name = binding["binding"]?.bare ?? ""
      var columns = [name, binding["expr"]?.bare ?? ""]
      if let file = binding["file"], let line = binding["line"] {
        columns.append("\(file.bare):\(line.bare)")
      }
      columns += [binding["failure"], binding["failed_at"]].compactMap { $0?.bare }
      context.output.result(
        binding, bare: binding["expr"], human: columns.joined(separator: "\t"))
    }
    return .done
  }
}
