import Console
import JSON

let openSyntax = Syntax(
  "open", "Shows a view, live: what it has, and what one can do there.",
  operands: [Operand("VIEW"), Operand("ARG", .any)],
  options: [noReconnectOption],
  details: """
    ARG is name=text or name:=json; 'bindctl views' says which there are. In a terminal an intent has
    the key that stands before its name, arrows choose a row, enter asks what fits the row, space
    shows it whole, escape goes back, ? says all keys, q ends; what takes something away asks before,
    and a text that is pasted is text. When the daemon is restarted the
    login is repeated and the view in front is opened again; what was being typed stays. With -j, and where stdout or stdin is no terminal, both ways are lines of
    JSON: out come the view, then {"next":…}, {"opened":…}, {"closed":…} and {"answer":…}; {"lost":{"reason":…,"unanswered":[…]}}
    says that the daemon has gone, and then comes the view anew; in go
    {"intent":NAME,"args":{…},"view":HANDLE} and {"close":HANDLE}, where VIEW is the first view when it
    is left out. After the end of stdin it waits for the answers and ends.
    """,
  examples: [
    "bindctl open system", "bindctl open cell name=lamp",
    #"echo '{"intent":"toggle"}' | bindctl open cell name=lamp"#,
  ])

var openCommand: Command {
  Command(openSyntax) { context in
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
