import BinderClient
import Console
import JSON

let viewsSyntax = Syntax(
  "views", "Lists the views that can be opened.",
  details: "'bindctl open VIEW' opens one.")

var viewsCommand: Command {
  Command(viewsSyntax) { context in
    let answer = try context.client.call("describe").object
    guard case .array(let views)? = answer["views"] else { return .done }
    var table = Table(["VIEW", "DESCRIPTION"])
    for case .object(let view) in views {
      let name = view["name"]?.bare ?? ""
      if context.output.form == .human {
        let words = [name] + arguments(view)
        table.add([words.joined(separator: " "), view["doc"]?.bare ?? ""])
      } else {
        context.output.result(view, bare: .string(name), human: "")
      }
    }
    if context.output.form == .human { context.output.table(table) }
    return .done
  }
}

/// Returns the arguments of a view, as a user types them.
private func arguments(_ view: JSONObject) -> [String] {
  guard case .array(let arguments)? = view["args"] else { return [] }
  return arguments.compactMap { argument in
    guard case .object(let argument) = argument, let name = argument["name"]?.bare else {
      return nil
    }
    let word = name + (argument["type"] == .string("string") ? "=" : ":=") + "…"
    return argument["optional"] == .bool(true) ? "[\(word)]" : word
  }
}
