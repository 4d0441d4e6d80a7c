import BinderClient
import Console
import Glibc
import JSON
import Wire

let slowSyntax = Syntax(
  "slow", "Shows the last slow requests, with the times of their stages.",
  options: [Option("count", letter: "n", value: "N", "show only the last N requests")],
  details: """
    The times are in milliseconds. WAIT is before the request could run, for example for earlier
    writes of the client; COMMIT is until its events were durable. An asynchronous call counts until
    its work begins. The slow log is off unless the configuration says "slow_log": {"ms": N}.
    """,
  examples: ["bindctl slow", "bindctl slow -n 10", "bindctl get daemon/slow"])

var slowCommand: Command {
  Command(slowSyntax) { context in
    let answer = try context.client.call("get", ["source": .string("daemon/slow")]).object
    guard case .object(let log)? = answer["value"], case .array(let all)? = log["requests"] else {
      throw Failure("the daemon has no slow log; it is older than this bindctl")
    }
    let count = try context.number("count").map { Int(min($0, 1_000_000)) } ?? all.count
    let requests = all.suffix(count).compactMap { request in
      if case .object(let request) = request { request } else { nil }
    }
    guard context.output.form == .human else {
      for request in requests { context.output.result(request, bare: nil, human: "") }
      return .done
    }
    if log.uint("limit_ms") == 0 {
      note(
        "the slow log is off; set \"slow_log\": {\"ms\": 100} in binder.conf, then type: \(bindctlCommand) reload"
      )
      if requests.isEmpty { return .done }
    }
    let columns = ["TOTAL", "WAIT", "PARSE", "DISPATCH", "DECIDE", "COMMIT"]
    var table = Table(
      ["TIME", "METHOD", "UID", "PID", "CLIENT"] + columns, numbers: [2, 3, 5, 6, 7, 8, 9, 10])
    for request in requests {
      table.add(
        ["time", "method", "uid", "pid", "client"].map { request[$0]?.bare ?? "" }
          + columns.map { request[$0.lowercased() + "_ms"]?.bare ?? "" })
    }
    context.output.table(table)
    return .done
  }
}
