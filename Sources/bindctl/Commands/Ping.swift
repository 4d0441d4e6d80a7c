import BinderClient
import Console
import JSON

let pingSyntax = Syntax(
  "ping", "Checks that the daemon answers, and measures the time.")

var pingCommand: Command {
  Command(pingSyntax) { context in
    let connection = try context.client.connected()
    let clock = ContinuousClock()
    let start = clock.now
    let answer = try connection.call("ping").object
    let microseconds = Int((clock.now - start) / .microseconds(1))
    context.output.result(
      answer, bare: .number(JSONNumber(microseconds)),
      human: "\(connection.path) answers in \(microseconds) µs: "
        + "binderd \(connection.greeting.server.version), journal at \(answer["last"]?.bare ?? "")")
    return .done
  }
}
