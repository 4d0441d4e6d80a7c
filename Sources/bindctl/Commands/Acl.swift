import BinderClient
import Console
import JSON

let aclSyntax = Syntax(
  "acl", "Says whether a user may do something, and by which rule.",
  operands: [
    Operand("check", choices: ["check"]), Operand("USER"), Operand("METHOD", .optional),
  ],
  options: [
    Option("read", value: "SRC", "whether a source may be read, instead"),
    Option("write", value: "SRC", "whether a source may be written, instead"),
  ],
  details: """
    USER is a name, with all groups that it has on this machine, or a number. Exits 1 when it may not.
    Answered by the rules that the daemon holds now, see 'bindctl reload'.
    """,
  examples: ["bindctl acl check alice cells.set", "bindctl acl check 1000 --write cells/door"])

var aclCommand: Command {
  Command(aclSyntax) { context in
    let asked: [(name: String, value: String)] = [
      ("method", context.operand(2)), ("read", context.invocation.value("read") ?? ""),
      ("write", context.invocation.value("write") ?? ""),
    ].filter { !$0.1.isEmpty }
    guard asked.count == 1 else {
      throw UsageError("specify exactly one of METHOD, --read and --write", command: "acl")
    }
    guard let account = Account(context.operand(1)) else {
      throw Failure("there is no user '\(context.operand(1))' on this machine", .notFound)
    }
    let decision = try context.client.call(
      "acl",
      [
        "uid": .number(JSONNumber(account.uid)),
        "groups": .array(account.groups.map { .number(JSONNumber($0)) }),
        asked[0].name: .string(asked[0].value),
      ]
    ).object
    let isAllowed = decision["allowed"] == .bool(true)
    context.output.result(
      decision, bare: decision["allowed"], human: sentence(decision, isAllowed: isAllowed))
    return isAllowed ? .done : .no
  }
}

private func sentence(_ decision: JSONObject, isAllowed: Bool) -> String {
  let role = decision["role"].map { " as '\($0.bare)'" } ?? ""
  let place = decision["file"].map { " (\($0.bare):\(decision["line"]?.bare ?? ""))" } ?? ""
  return "\(isAllowed ? "allowed" : "denied")\(role): \(decision["rule"]?.bare ?? "")\(place)"
}
