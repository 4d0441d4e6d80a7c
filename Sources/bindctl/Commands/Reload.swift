import BinderClient
import Console
import JSON
import Wire

let reloadSyntax = Syntax(
  "reload", "Reloads the configuration of the daemon.",
  details: """
    Shows what changed, and what takes effect only after a restart. Clients stay connected. If a file
    is invalid, nothing changes: its errors are listed with line and column, and the exit code is 5.
    """)

var reloadCommand: Command {
  Command(reloadSyntax) { context in
    let report: JSONObject
    do throws(ClientError) {
      report = try context.client.call("reload").object
    } catch {
      guard case .refused(let refusal) = error, case .array(let faults)? = refusal.data["faults"]
      else { throw error }
      for fault in faults { note(fault.place) }
      throw Failure("the configuration was not changed", .refused)
    }
    for warning in report.list("warnings") { note("warning: \(warning.place)") }
    let restart = report.list("needs_restart").map(\.bare).joined(separator: ", ")
    if !restart.isEmpty { note("\(restart): takes effect only after a restart") }
    let changed = report.list("changed").map(\.bare).joined(separator: ", ")
    context.output.result(
      report, bare: report["changed"], human: "changed: \(changed.isEmpty ? "nothing" : changed)")
    return .done
  }
}

extension JSONObject {
  fileprivate func list(_ name: String) -> [JSONValue] {
    guard case .array(let elements)? = self[name] else { return [] }
    return elements
  }
}

extension JSONValue {
  /// The text of a fault: `file:line:column: message`.
  fileprivate var place: String {
    guard case .object(let fault) = self else { return "" }
    return ["file", "line", "column"].compactMap { fault[$0]?.bare }.joined(separator: ":")
      + ": \(fault["message"]?.bare ?? "")"
  }
}
