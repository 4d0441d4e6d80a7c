package import Facts

/// The members of a role: user ids and group ids, or everybody.
package struct Members: Equatable, Sendable {
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
