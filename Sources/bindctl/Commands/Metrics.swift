import BinderClient
import Console
import Glibc
import JSON
import Wire

let metricsSyntax = Syntax(
  "metrics", "Prints the metrics of the daemon for a monitoring system.",
  options: [
    Option("prometheus", "print the text format of Prometheus instead of OpenMetrics"),
    Option(
      "textfile", value: "PATH",
      "write the text format of Prometheus into a file, for node_exporter"),
  ],
  details: """
    Counters count from the start of the daemon. The file of --textfile is replaced atomically. If no
    daemon answers, the file contains only 'binderd_up 0', and the exit code is 3.
    """,
  examples: [
    "bindctl metrics", "bindctl metrics --prometheus | promtool check metrics",
    "bindctl metrics --textfile /var/lib/prometheus/node-exporter/binderd.prom",
  ])

var metricsCommand: Command {
  Command(metricsSyntax) { context in
    let file = context.invocation.value("textfile")
    let answer: JSONObject
    do throws(ClientError) {
      answer = try context.client.call("metrics").object
    } catch {
      if let file, case .noDaemon = error {
        try write(MetricsText(.prometheus).text(isUp: false), toFile: file)
      }
      throw error
    }
    if let file {
      try write(MetricsText(.prometheus).text(answer.list("value")), toFile: file)
      return .done
    }
    let text = MetricsText(context.invocation.has("prometheus") ? .prometheus : .openMetrics)
    context.output.result(answer, bare: nil, human: text.text(answer.list("value")))
    return .done
  }
}

/// Replaces a file atomically; everybody may read it.
private func write(_ text: String, toFile path: String) throws {
  // The collector of node_exporter ignores names that do not end with .prom.
  let new = "\(path).\(getpid())"
  let file = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
  guard file >= 0 else {
    throw Failure("cannot write \(path): \(String(cString: strerror(errno)))")
  }
  defer { close(file) }
  var rest = Array((text + "\n").utf8)[...]
  while !rest.isEmpty {
    let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
    if count < 0, errno == EINTR { continue }
    guard count > 0 else { try fail("write", path, removing: new) }
    rest = rest.dropFirst(count)
  }
  guard fchmod(file, 0o644) == 0 else { try fail("change the mode of", path, removing: new) }
  guard rename(new, path) == 0 else { try fail("replace", path, removing: new) }
}

private func fail(_ verb: String, _ path: String, removing new: String) throws -> Never {
  let reason = String(cString: strerror(errno))
  unlink(new)
  throw Failure("cannot \(verb) \(path): \(reason)")
}

extension JSONObject {
  fileprivate func list(_ name: String) -> [JSONValue] {
    guard case .array(let elements)? = self[name] else { return [] }
    return elements
  }
}
