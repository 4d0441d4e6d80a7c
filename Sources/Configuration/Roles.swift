package import Facts
internal import Wire

/// The roles in order of precedence: a client gets the first one that it is a member of.
package struct Roles: Equatable, Sendable {
  /// A role with its members and its line in the file.
  package struct Entry: Equatable, Sendable {
    package let role: Role
    package let members: Members

    /// The line in the configuration file; 0 for built-in roles.
    package let line: Int

    package init(_ role: Role, _ members: Members, line: Int = 0) {
      self.role = role
      self.members = members
      self.line = line
    }
  }

  /// The entries, in order of precedence.
  package let entries: [Entry]

  /// The programs that act for other users.
  package var gateways: Gateways

  package init(_ entries: [Entry], gateways: Gateways = Gateways()) {
    (self.entries, self.gateways) = (entries, gateways)
  }

  /// Returns the role of a client; `nil` if it has none and cannot connect.
  ///
  /// - Parameter owner: The user that the daemon runs as. This user and root may do everything, so
  ///   that the file cannot lock them out.
  package func entry(for peer: Peer, owner: UInt32) -> Entry? {
    if peer.uid == owner || peer.uid == 0 { return Self.owner }
    // Not by its groups: it is in that of the socket, whose role it must not have.
    if gateways.contains(peer.uid) { return Self.gateway }
    return entries.first { $0.members.contains(peer) }
  }

  private static let owner = Entry(.owner, Members())
  private static let gateway = Entry(.gateway, Members())

  /// The default roles: members of the group `binder` have the role ``Role/user``.
  package static func standard(_ accounts: Accounts) -> Roles {
    guard let group = accounts.group("binder") else { return Roles([]) }
    return Roles([Entry(.user, Members(groups: [group]))])
  }
}

extension Role {
  /// The role of root and the daemon's user, which may do everything.
  package static let owner = Role(name: "owner", methods: .all(), read: .all(), write: .all())

  /// The default role of users, without administration of the daemon.
  package static let user = Role(
    name: "user", methods: .all(but: Role.administration), read: .all(), write: .all())

  /// The patterns of the methods that administer the daemon.
  package static let administration = ["acl", "act_as", "kick", "reload", "journal.*"]
}

extension Rules {
  /// Returns rules that allow one method.
  static func only(_ method: String) -> Rules {
    Rules(allow: [Pattern(method, separator: ".")].compactMap { $0.map { Rule($0) } })
  }

  /// Returns rules that allow every name except those of some patterns.
  fileprivate static func all(but names: [String] = []) -> Rules {
    Rules(
      allow: [Pattern("**")].compactMap { $0.map { Rule($0) } },
      deny: names.compactMap { Pattern($0, separator: ".").map { Rule($0) } })
  }
}
