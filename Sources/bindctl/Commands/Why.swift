import BinderClient
import Console
import JSON
import Wire

let whySyntax = Syntax(
  "why", "Shows the events behind the value of a source, the newest first.",
  operands: [Operand("SRC")],
  options: [
    Option("at", value: "WHEN", "of the value at a position or time; see 'bindctl help when'")
  ],
  details: """
    Each line is an event, caused by the one below it: by a binding, the end of a lease, or a queued call. A binding
    has its name, and the line of its file, unless it has ended or was changed since. With
    'cause said by the client', the client has named the event below, and the daemon does not know whether that is
    true. The last one was begun by a person or a program. Who it was is shown to roles that may read daemon/connections.
    """,
  examples: ["bindctl why cells/heater", "bindctl why cells/heater --at 08:30"])

var whyCommand: Command {
  Command(whySyntax) { context in
    let source = context.operand(0)
    guard !source.contains("*") else {
      throw UsageError("why takes one source, not the pattern '\(source)'", command: "why")
    }
    let connection = try context.client.connected()
    var params: JSONObject = ["source": .string(source)]
    if let moment = try context.moment("at") { params["at"] = .object(connection.at(moment)) }
    let result = try connection.call("why", params).object
    let links = result.array("value").map(\.object)
    guard context.output.form == .human else {
      for link in links { context.output.result(link, bare: link["seq"], human: "") }
      return links.isEmpty ? .no : .done
    }
    if links.isEmpty {
      note(
        params["at"] == nil
          ? "nothing has changed '\(source)'" : "nothing had changed '\(source)' until then")
    }
    var table = Table(["SEQ", "TIME", "SOURCE", "VALUE", "BY"], numbers: [0])
    for link in links { table.add(cells(of: link, context.output.isTerminal)) }
    context.output.table(table, wraps: true)
    return links.isEmpty ? .no : .done
  }
}

/// Returns the cells of an event.
private func cells(of link: JSONObject, _ isTerminal: Bool) -> [String] {
  let time = link.string("time") ?? ""
  let source = link.string("source") ?? ""
  if let end = link.string("end") { return ["", "", source, "", meaning(of: end)] }
  let binding = link.string("binding").map { "binding \(place(of: link))\($0)" }
  let cause = link["cause"] == .string("client") ? "cause said by the client" : nil
  let by = [binding, link.who, link.string("cmd").map { "cmd \($0)" }, cause].compactMap(\.self)
  return [
    link["seq"]?.bare ?? "", isTerminal ? Timestamp(time)?.shownHere ?? time : time, source,
    link["value"]?.text.text ?? link.string("type") ?? "", by.joined(separator: ", "),
  ]
}

/// Returns the name of the binding, and the line of the file that declares it; its file without directory.
private func place(of link: JSONObject) -> String {
  if link["ended"] == .bool(true) { return "that is no longer there: " }
  guard let name = link.string("name") else { return "" }
  guard let file = link.string("file"), let line = link["line"]?.bare else { return "\(name): " }
  let place = "\(file.split(separator: "/").last ?? ""):\(line)"
  return name == place ? "\(place): " : "\(name) (\(place)): "
}

private func meaning(of end: String) -> String {
  switch end {
  case "removed": "the event is not in the journal any more"
  case "hidden": "your role may not read it"
  case "not_journaled": "the journal does not keep its values"
  case "long": "the chain goes on"
  case "not_recorded": "its cause was not recorded"
  default: end
  }
}
