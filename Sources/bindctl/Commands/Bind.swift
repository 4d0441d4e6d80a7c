import BinderClient
import Console
import Glibc
import JSON

let bindSyntax = Syntax(
  "bind", "Binds two sources: a change of one is assigned to the other.",
  operands: [Operand("EXPR")],
  options: [
    Option(
      "daemon", "keep the binding in the daemon, also after a restart; without it, Ctrl-C ends it"),
    Option(
      "name", value: "NAME", "the name of the binding; without it, the daemon assigns a number"),
  ],
  details: """
    EXPR is path op path [| transformer]…; op is ~> (left to right), <~ (right to left), <> (both),
    or !~> <~! <!>, which do not assign the present value. 'bindctl help transformers' lists the
    transformers. A value that a transformer or a source rejects is reported on stderr; the binding
    stays.
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
