internal import Configuration
internal import Connections
internal import JSON
internal import Model
internal import Wire

/// Offers `whoami`: the client's identity and its rights.
func bindWhoAmI(_ catalog: Catalog, _ server: ServerInfo) {
  catalog.query(
    "whoami", "Returns the client's identity and what it may call, read and set.",
    NoParameters.self,
    .object(
      Peer.shape + [
        .optional("user", .string), .optional("host", .string), .optional("limits", .map(.natural)),
        .init(
          "allowed", .object(["methods", "read", "write"].map { .init($0, .array(.string)) })),
      ])
  ) { context, call, _ in
    let peer = call.connection.peer
    var result = peer.shown(as: context.role)
    if let host = server.host { result["host"] = .string(host) }
    if let name = server.userName(peer.uid) { result["user"] = .string(name) }
    let limits = call.connection.context.roleLimits.limits(of: peer.uid)
    if !limits.isEmpty { result["limits"] = .object(JSONObject(limits)) }
    result["allowed"] = .object(context.rights.allowed)
    call.answer { JSONValue.object(result).write(to: &$0) }
  }
}

extension Peer {
  /// The members of ``shown(as:)``.
  static var shape: [Shape.Member] {
    [
      .init("uid", .natural), .optional("gid", .natural), .init("pid", .natural),
      .init("role", .string),
    ]
  }

  /// Returns the client's identity as sent to the client.
  ///
  /// A user without an account, for whom a gateway acts, has no group.
  func shown(as role: Role) -> JSONObject {
    var shown: JSONObject = ["uid": .number(JSONNumber(uid))]
    if let gid { shown["gid"] = .number(JSONNumber(gid)) }
    shown["pid"] = .number(JSONNumber(pid))
    shown["role"] = .string(role.name)
    return shown
  }
}

extension Rights {
  /// The offered methods by name, and sources as patterns: all offered ones if the role allows
  /// everything, otherwise the role's rules.
  fileprivate var allowed: JSONObject {
    let sources = services.flatMap { $1?.descriptions ?? [] }
    func names(_ names: [String]) -> JSONValue { .array(names.map { .string($0) }) }
    return [
      "methods": names(methods.methods.map(\.name).sorted()),
      "read": names(
        role.read.allowsAll
          ? ["events"] + sources.map(\.name) : role.read.allow.map(\.pattern.text)),
      "write": names(
        role.write.allowsAll
          ? sources.filter(\.isWritable).map(\.name) : role.write.allow.map(\.pattern.text)),
    ]
  }
}
