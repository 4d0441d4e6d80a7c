import BinderClient
import Console
import Glibc
import JSON
import Wire

let psSyntax = Syntax(
  "ps", "Lists the clients of the daemon.",
  details: """
    SUBS are the subscriptions of a client, REQUESTS its requests since it connected, OUTPUT the bytes that
    wait for it. 'bindctl kick ID' ends the connection of a client.
    """,
  examples: ["bindctl ps", "bindctl ps -F '{id} {pid}'"])

var psCommand: Command {
  Command(psSyntax) { context in
    let answer = try context.client.call("get", ["source": .string("daemon/connections")]).object
    guard case .array(let clients)? = answer["value"] else {
      throw Failure("the daemon's answer contains no clients")
    }
    let output = context.output
    var table = Table(
      ["ID", "USER", "PID", "PROGRAM", "SUBS", "REQUESTS", "OUTPUT", "SINCE"],
      numbers: [0, 2, 4, 5, 6])
    for case .object(let client) in clients {
      guard output.form == .human else {
        output.result(client, bare: client["id"], human: "")
        continue
      }
      let since = client.string("since") ?? ""
      let bytes = client["output_bytes"]?.bare ?? ""
      table.add([
        client["id"]?.bare ?? "", userName(client.uint("uid") ?? 0), client["pid"]?.bare ?? "",
        client.string("client") ?? client.string("program") ?? "",
        client["subscriptions"]?.bare ?? "",
        client["requests"]?.bare ?? "",
        output.isTerminal ? Amount.bytes(Double(bytes) ?? 0) : bytes,
        output.isTerminal ? Timestamp(since)?.shownHere ?? since : since,
      ])
    }
    if output.form == .human { output.table(table) }
    return .done
  }
}

/// Returns the name of a user; its number if the system does not know it.
func userName(_ uid: UInt64) -> String {
  UInt32(exactly: uid).flatMap { getpwuid($0) }.map { String(cString: $0.pointee.pw_name) }
    ?? "\(uid)"
}

let kickSyntax = Syntax(
  "kick", "Ends the connections of clients.", operands: [Operand("ID", .some)],
  details: """
    ID is the number of a connection, see 'bindctl ps'. The last line that the client gets has the reason
    'kicked'. bindctl itself does not reconnect after it; other programs may. Needs the right to call
    'kick', which only administrators have by default.
    """,
  examples: ["bindctl kick 12"])

var kickCommand: Command {
  Command(kickSyntax) { context in
    let ids = try context.invocation.operands.map { word throws(UsageError) in
      guard let id = UInt64(word) else {
        throw UsageError("ID is the number of a connection, not '\(word)'", command: "kick")
      }
      return id
    }
    var isMissing = false
    for id in ids {
      do throws(ClientError) {
        let result = try context.client.call("kick", ["conn": .number(JSONNumber(id))]).object
        if context.output.form != .human {
          context.output.result(result, bare: result["conn"], human: "")
        }
      } catch {
        // The others are kicked anyway.
        guard case .refused(let refusal) = error, refusal.name == .notFound else { throw error }
        isMissing = true
        complain("\(refusal.message); '\(bindctlCommand) ps' lists the connections")
      }
    }
    return isMissing ? .notFound : .done
  }
}

let whoamiSyntax = Syntax(
  "whoami", "Shows who the daemon takes you for, and what you may do.",
  examples: ["bindctl whoami", "bindctl whoami -F '{role}'", "bindctl whoami -j | jq .allowed"])

/// Returns the limits that the role sets, as text; `nil` if it sets none.
func shownLimits(_ answer: JSONObject) -> String? {
  guard case .object(let limits)? = answer["limits"] else { return nil }
  return limits.members.sorted { $0.name < $1.name }
    .map { "\($0.name) \($0.value.bare)" }.joined(separator: ", ")
}

var whoamiCommand: Command {
  Command(whoamiSyntax) { context in
    let answer = try context.client.call("whoami").object
    func list(_ name: String) -> [String] {
      guard case .object(let allowed)? = answer["allowed"], case .array(let names)? = allowed[name]
      else { return [] }
      return names.map(\.bare)
    }
    let user = answer.string("user") ?? answer["uid"]?.bare ?? ""
    let group = answer["gid"].map { ", gid \($0.bare)" } ?? ""
    let rows =
      [
        ("user", "\(user) (uid \(answer["uid"]?.bare ?? "")\(group))"),
        ("machine", answer.string("host") ?? ""), ("role", answer.string("role") ?? ""),
        ("process", answer["pid"]?.bare ?? ""),
        ("methods", "\(list("methods").count); '\(bindctlCommand) whoami -j' lists them"),
        ("read", list("read").joined(separator: " ")),
        ("write", list("write").joined(separator: " ")),
      ] + (shownLimits(answer).map { [("limits", $0)] } ?? [])
    let output = context.output
    let text =
      output.isTerminal
      ? Glossary(rows).text(width: output.width, output.style)
      : rows.map { "\($0)\t\($1)" }.joined(separator: "\n")
    output.result(answer, bare: answer["user"] ?? answer["uid"], human: text)
    return .done
  }
}
