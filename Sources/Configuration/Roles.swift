internal import Facts
internal import Wire

/// Which role a client gets: that of the first entry that it is a member of.
package struct Roles: Equatable, Sendable {
  /// One role, who has it, and where that is said.
  package struct Entry: Equatable, Sendable {
    package let role: Role
    package let members: Members

    /// 0 for those that hold without a file.
    package let line: Int

    package init(_ role: Role, _ members: Members, line: Int = 0) {
      self.role = role
      self.members = members
      self.line = line
    }
  }

  /// In the order in which they are asked.
  package let entries: [Entry]

  package init(_ entries: [Entry]) {
    self.entries = entries
  }

  /// The role of a client; `nil` when it has none and so may not connect.
  ///
  /// - Parameter owner: The user that the daemon runs as: to him and to root everything is allowed,
  ///   whatever the file says, so that nobody locks himself out.
  package func entry(for peer: Peer, owner: UInt32) -> Entry? {
    if peer.uid == owner || peer.uid == 0 { return Self.owner }
    return entries.first { $0.members.contains(peer) }
  }

  private static let owner = Entry(.owner, Members())

  /// What holds when no file says otherwise: the members of the group `binder` use the services.
  package static func standard(_ accounts: Accounts) -> Roles {
    guard let group = accounts.group("binder") else { return Roles([]) }
    return Roles([Entry(.user, Members(groups: [group]))])
  }
}

extension Role {
  /// Who may do everything.
  package static let owner = Role(name: "owner", methods: .all(), read: .all(), write: .all())

  /// Who uses the services and leaves the daemon itself alone.
  package static let user = Role(
    name: "user", methods: .all(but: Role.administration), read: .all(), write: .all())

  /// The methods that are about the daemon itself: not for everybody who uses its services.
  package static let administration = ["acl", "reload", "journal.*"]
}

extension Rules {
  /// Everything but some names.
  fileprivate static func all(but names: [String] = []) -> Rules {
    Rules(
      allow: [Pattern("**")].compactMap { $0.map { Rule($0) } },
      deny: names.compactMap { Pattern($0, separator: ".").map { Rule($0) } })
  }
}
