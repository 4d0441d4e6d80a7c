import BinderClient
import Console
import Glibc
import JSON

let bindSyntax = Syntax(
  "bind", "Binds two sources: what the one becomes, the other becomes.",
  operands: [Operand("EXPR")],
  options: [
    Option("daemon", "the daemon keeps it, also over a restart; else it ends with Ctrl-C"),
    Option("name", value: "NAME", "how it is called; left out, the daemon gives a number"),
  ],
  details: """
    EXPR is path op path [| transformer]…; op is ~> (left to right), <~ (right to left), <> (both),
    or !~> <~! <!>, which assign nothing at first. 'bindctl help transformers' lists the transformers.
    A value that a transformer or a source refuses is reported on stderr; the binding stays.
    """,
  examples: [
    "bindctl bind --daemon --name warm 'cells/c ~> cells/f | celsiusToFahrenheit | round(1)'"
  ])

var bindCommand: Command {
  Command(bindSyntax) { context in
    var params: JSONObject = ["expr": .string(context.operand(0))]
    params["binding"] = context.invocation.value("name").map { .string($0) }
    let isKept = context.invocation.has("daemon")
    if isKept { params["scope"] = .string("daemon") }
    let connection = try context.client.connected()
    connection.onNotification = { method, params in
      guard method == "fail", case .object(let error)? = params.object["error"] else { return }
      note("the binding rejected a value: \(error["message"]?.bare ?? "")")
    }
    let result = try connection.call("bind", params).object
    let handle = result["binding"]?.bare ?? ""
    context.output.result(
      result, bare: result["binding"],
      human: isKept ? "binding \(handle)" : "binding \(handle); press Ctrl-C to end it")
    // The binding lives as long as the connection; regular calls detect its loss.
    while !isKept {
      sleep(1)
      _ = try connection.call("ping")
    }
    return .done
  }
}
