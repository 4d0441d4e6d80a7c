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
        let words = [name] + arguments(view, "args")
        table.add([words.joined(separator: " "), view["doc"]?.bare ?? ""])
      } else {
        context.output.result(view, bare: .string(name), human: "")
      }
    }
    if context.output.form == .human { context.output.table(table, wraps: true) }
    return .done
  }
}

let openSyntax = Syntax(
  "open", "Opens a view, which shows live values and offers actions (intents).",
  operands: [Operand("VIEW", .optional), Operand("ARG", .any)],
  options: [noReconnectOption, waitDaemonOption],
  details: """
    ARG is name=text or name:=json. Without VIEW, lists the views with their arguments.

    In a terminal, a view whose main intent takes a text has its field open: type, and enter sends.
    Escape leaves the field; then the last lines say which key sends which intent. Arrows choose a row,
    enter sends the main intent, space shows the whole row, escape goes back, ? lists all keys, q quits.
    Intents that remove something ask first. Pasted text is always text, never keys. After a restart of
    the daemon, bindctl logs in again and reopens the front view; typed text stays.

    With -j, or if stdin or stdout is not a terminal, input and output are lines of JSON. Output: the
    view, then {"next":…}, {"opened":…}, {"closed":…} and {"answer":…}. If the daemon is lost,
    {"lost":{"reason":…,"unanswered":[…]}} is printed, and the view again after the reconnect. Input:
    {"intent":NAME,"args":{…},"view":HANDLE} and {"close":HANDLE}; "view" defaults to the first view.
    After the end of stdin, bindctl waits for the answers and exits.
    """,
  examples: [
    "bindctl open system", "bindctl open cell name=lamp",
    #"echo '{"intent":"toggle"}' | bindctl open cell name=lamp"#,
  ])

var openCommand: Command {
  Command(openSyntax) { context in
    guard !context.invocation.operands.isEmpty else { return try viewsCommand.run(context) }
    var params: JSONObject = ["binder": .string(context.operand(0))]
    var arguments = JSONObject()
    for word in context.invocation.operands.dropFirst() {
      try arguments.add(word: word, command: "open")
    }
    if !arguments.members.isEmpty { params["args"] = .object(arguments) }
    let link = try ViewLink(
      context.client, open: params, reconnects: !context.invocation.has("no-reconnect"))
    if context.output.form == .human, let terminal = Terminal() {
      return try ViewTerminal(link, terminal, context.output.style).run()
    }
    return try ViewPipe(link, context.output, context.client).run()
  }
}
