/// The part of this daemon among those that share a journal.
package struct ClusterState: Codable, Equatable {
  package enum Role: String, Codable {
    /// Not decided yet.
    case joining
    /// This daemon takes writes.
    case active
    /// Another daemon takes writes.
    case following
  }

  /// The name of this daemon.
  package let node: String
  package let role: Role

  /// The term of an active daemon, which grows with each takeover; `nil` for others.
  package let term: UInt64?

  /// The name of the active daemon, and the address that it tells; `nil` if unknown.
  package let active: String?
  package let address: String?

  /// Why the database cannot be reached; `nil` if it can.
  package let away: String?

  /// All daemons that have not stopped, by name.
  package let nodes: [Node]

  /// A daemon, as it was seen in the database up to a second ago.
  package struct Node: Codable, Equatable {
    package let name: String

    /// `active`, `following`, or `silent` if it has shown no sign of life for 10 s; for 3 s, if it
    /// was the active one.
    package let role: String

    /// The last position that it has applied, as of its last sign of life.
    package let position: UInt64

    /// The time since its last sign of life, in milliseconds.
    package let silent_ms: UInt64
    package let version: String

    /// The address for clients; `nil` if it tells none.
    package let address: String?

    package init(
      name: String, role: String, position: UInt64, silent_ms: UInt64, version: String,
      address: String?
    ) {
      (self.name, self.role, self.position) = (name, role, position)
      (self.silent_ms, self.version, self.address) = (silent_ms, version, address)
    }
  }

  package init(
    node: String, role: Role, term: UInt64? = nil, active: String? = nil, address: String? = nil,
    away: String? = nil, nodes: [Node] = []
  ) {
    (self.node, self.role, self.term) = (node, role, term)
    (self.active, self.address, self.away) = (active, address, away)
    self.nodes = nodes
  }
}
