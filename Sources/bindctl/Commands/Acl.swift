import BinderClient
import Console
import JSON

let aclSyntax = Syntax(
  "acl", "Shows whether a user may call a method or use a source, and which rule decides.",
  operands: [
    Operand("check", choices: ["check"]), Operand("USER"), Operand("METHOD", .optional),
  ],
  options: [
    Option("read", value: "SRC", "check whether the user may read SRC"),
    Option("write", value: "SRC", "check whether the user may write SRC"),
  ],
  details: """
    USER is a user name or number; the groups of the user on this machine are included. Exits with 1 if
    access is denied. The daemon answers by its current rules, see 'bindctl reload'.
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
