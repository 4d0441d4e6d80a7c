package import Model
internal import Wire

/// The roles in order of precedence: a client gets the first one that it is a member of.
package struct Roles: Equatable, Sendable {
  /// A role with its members and its line in the file.
  package struct Entry: Equatable, Sendable {
    package let role: Role
    package let members: RoleMembers

    /// The line in the configuration file; 0 for built-in roles.
    package let line: Int

    package init(_ role: Role, _ members: RoleMembers, line: Int = 0) {
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

  private static let owner = Entry(.owner, RoleMembers())
  private static let gateway = Entry(.gateway, RoleMembers())

  /// Whether a role sets limits.
  package var haveLimits: Bool { entries.contains { !$0.role.limits.isEmpty } }

  /// The default roles: members of the group `binder` have the role ``Role/user``.
  package static func standard(_ accounts: Accounts) -> Roles {
    guard let group = accounts.group("binder") else { return Roles([]) }
    return Roles([Entry(.user, RoleMembers(groups: [group]))])
  }
}

extension Role {
  /// The role of root and the daemon's user, which may do everything.
  package static let owner = Role(name: "owner", methods: .all(), read: .all(), write: .all())

  /// The default role of users, without administration of the daemon.
  package static let user = Role(
    name: "user", methods: .all(but: Role.administration), read: .all(), write: .all())

  /// The patterns of the methods that administer the daemon.
  package static let administration = ["acl", "act_as", "clock", "kick", "reload", "journal.*"]
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

/// The members of a role: user ids and group ids, or everybody.
package struct RoleMembers: Equatable, Sendable {
  package var users: Set<UInt32>
  package var groups: Set<UInt32>
  package var isEverybody: Bool

  package init(users: Set<UInt32> = [], groups: Set<UInt32> = [], isEverybody: Bool = false) {
    self.users = users
    self.groups = groups
    self.isEverybody = isEverybody
  }

  package func contains(_ peer: Peer) -> Bool {
    isEverybody || users.contains(peer.uid) || !groups.isDisjoint(with: peer.groups)
  }
}

/// Resolves user and group names to ids; an unknown name gives `nil`.
package struct Accounts: Sendable {
  package let user: @Sendable (String) -> UInt32?
  package let group: @Sendable (String) -> UInt32?

  /// The user that the daemon runs as; `nil` if it is not known.
  package let owner: UInt32?

  package init(
    user: @escaping @Sendable (String) -> UInt32?, group: @escaping @Sendable (String) -> UInt32?,
    owner: UInt32? = nil
  ) {
    self.user = user
    self.group = group
    self.owner = owner
  }
}

extension Configuration {
  /// Denies each role the summary sources that include sources it may not read, and adds a warning.
  ///
  /// - Parameters:
  ///   - summaries: The summary sources, each with the pattern of the sources that it summarizes.
  ///   - file: The configuration file, for the warnings.
  package mutating func hideSummaries(_ summaries: [String: String], file: String) {
    for (source, pattern) in summaries.sorted(by: { $0.key < $1.key }) {
      guard let summary = Pattern(source), let all = Pattern(pattern) else { continue }
      roles = Roles(
        roles.entries.map { entry in
          let role = entry.role
          guard role.mayRead(source), let line = role.read.lineOfGap(in: all, entry) else {
            return entry
          }
          warnings.append(
            ConfigurationFault(
              file: file, line: line, column: 1,
              message: "role '\(role.name)' may not read all of \(pattern), and so not \(source),"
                + " which summarizes them"))
          var read = role.read
          read.deny.append(Rule(summary, line: line))
          let narrowed = Role(
            name: role.name, methods: role.methods, read: read, write: role.write,
            limits: role.limits)
          return Roles.Entry(narrowed, entry.members, line: entry.line)
        }, gateways: roles.gateways)
    }
  }
}

extension Rules {
  /// Returns the line of the rule that excludes some names of a pattern; `nil` if all are allowed.
  fileprivate func lineOfGap(in pattern: Pattern, _ entry: Roles.Entry) -> Int? {
    if let rule = deny.first(where: { $0.pattern.overlaps(pattern) }) { return rule.line }
    return allow.contains { $0.pattern.covers(pattern) } ? nil : entry.line
  }
}
