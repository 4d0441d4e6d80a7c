import BinderClient
import Console
import JSON
import Wire

let pingSyntax = Syntax(
  "ping", "Checks that the daemon answers, and measures the time.",
  options: [
    Option("count", letter: "c", value: "N", "ping N times, and print the times"),
    Option(
      "interval", letter: "i", value: "TIME", "with --count: the pause between two; default 1s"),
  ],
  details: "With --count, exits with 1 if a ping was not answered.",
  examples: ["bindctl ping", "bindctl ping -c 5", "bindctl ping -c 100 -i 10ms"])

var pingCommand: Command {
  Command(pingSyntax) { context in
    let interval = try context.milliseconds("interval")
    guard let count = try context.number("count") else {
      guard interval == nil else {
        throw UsageError("option '--interval' needs --count", command: "ping")
      }
      return try pingOnce(context)
    }
    guard count > 0 else { throw UsageError("--count must be at least 1", command: "ping") }
    return try ping(context, count: count, everyMilliseconds: interval ?? 1000)
  }
}

/// Pings and returns the reply with the time in microseconds.
private func ping(_ connection: BinderConnection) throws(ClientError) -> (JSONObject, Int) {
  let clock = ContinuousClock()
  let start = clock.now
  let answer = try connection.call("ping").object
  return (answer, Int((clock.now - start) / .microseconds(1)))
}

private func pingOnce(_ context: Context) throws -> ExitCode {
  let connection = try context.client.connected()
  let (answer, microseconds) = try ping(connection)
  context.output.result(
    answer, bare: .number(JSONNumber(microseconds)),
    human: "\(connection.path) answers in \(microseconds) µs: "
      + "\(connection.greeting.server.name) \(connection.greeting.server.version), journal at \(answer["last"]?.bare ?? "")"
  )
  return .done
}

private func ping(
  _ context: Context, count: UInt64, everyMilliseconds interval: UInt64
) throws -> ExitCode {
  let output = context.output
  var times: [Int] = []
  // The first connection must succeed; a later one may wait for a restarted daemon.
  _ = try context.client.connected()
  for i in 1...count {
    do throws(ClientError) {
      var (document, microseconds) = try ping(try context.client.connected())
      times.append(microseconds)
      document["n"] = .number(JSONNumber(i))
      document["us"] = .number(JSONNumber(microseconds))
      output.result(
        document, bare: .number(JSONNumber(microseconds)), human: "\(i)\t\(microseconds) µs")
    } catch {
      guard ConnectionEnd(error).isPassing || error == .timedOut else { throw error }
      context.client.disconnect()
      note("\(i): no answer: \(error)")
    }
    if i < count { try context.client.pause(milliseconds: interval) }
  }
  if output.form == .human {
    var text = "\(count) sent, \(times.count) answered"
    if let least = times.min(), let most = times.max() {
      text += ": min \(least), mean \(times.reduce(0, +) / times.count), max \(most) µs"
    }
    output.line(text)
  }
  return times.count == Int(count) ? .done : .no
}
