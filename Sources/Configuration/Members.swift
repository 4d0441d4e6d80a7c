/// Who has a role: users and groups by their numbers, or everybody.
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

/// A process that asks for a role.
package struct Peer: Equatable, Sendable {
  package let uid: UInt32

  /// All groups that it belongs to.
  package let groups: [UInt32]

  package init(uid: UInt32, groups: [UInt32]) {
    self.uid = uid
    self.groups = groups
  }
}

/// Where the numbers of users and groups are found.
package struct Accounts: Sendable {
  package let user: @Sendable (String) -> UInt32?
  package let group: @Sendable (String) -> UInt32?

  package init(
    user: @escaping @Sendable (String) -> UInt32?, group: @escaping @Sendable (String) -> UInt32?
  ) {
    self.user = user
    self.group = group
  }
}
