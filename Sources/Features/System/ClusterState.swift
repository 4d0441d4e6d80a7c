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

  /// Whether the database can be reached.
  package let connected: Bool

  package init(
    node: String, role: Role, term: UInt64? = nil, active: String? = nil, address: String? = nil,
    connected: Bool
  ) {
    (self.node, self.role, self.term) = (node, role, term)
    (self.active, self.address, self.connected) = (active, address, connected)
  }
}
