import API
import Configuration
import Connections
import EventLoop
import EventSourcing
import Facts
import Features

/// Access control: decides which clients may connect, and what each one may use.
final class AccessControl {
  private(set) var roles: Roles
  private let rights: RightsTable
  private let refusals: RefusalLog

  init(_ roles: Roles, _ rights: RightsTable, _ refusals: RefusalLog) {
    self.roles = roles
    self.rights = rights
    self.refusals = refusals
    rights.catalog.onRefusal = { [refusals] caller, role, what in
      refusals.write(uid: caller.uid, pid: caller.pid, "\(what), as \(role.name)")
    }
  }

  /// Returns whether a client has a role; logs the refusal otherwise.
  func admits(_ peer: Peer) -> Bool {
    guard role(of: peer) == nil else { return true }
    refusals.write(uid: peer.uid, pid: peer.pid, "to connect, it has no role")
    return false
  }

  /// Binds a connected client to the rights of its role.
  func bind(_ connection: Connection) {
    guard let role = role(of: connection.peer) else { return connection.close(.permissionDenied) }
    bindConnection(connection, to: rights[role])
  }

  /// Applies changed roles to all clients, and disconnects those without a role.
  func change(to roles: Roles, for connections: some Sequence<Connection>) {
    let before = self.roles
    self.roles = roles
    for connection in connections {
      let peer = connection.peer
      guard let role = role(of: peer) else {
        refusals.write(uid: peer.uid, pid: peer.pid, "to stay, it has no role any more")
        connection.close(.permissionDenied)
        continue
      }
      let old = before.entry(for: peer, owner: Process.user)?.role
      bindConnection(connection, to: rights[role], before: old.map { rights[$0] })
    }
    rights.keep(only: Set(roles.entries.map(\.role) + [.owner]))
  }

  func decision(on request: AccessRequest, by peer: Peer) -> Decision {
    roles.decision(on: request, by: peer, owner: Process.user)
  }

  /// Returns the role of a user, by all groups of the user in the system; `nil` if there is none.
  func role(ofUser uid: UInt32) -> Role? {
    roles.entry(for: Peer(uid: uid, groups: Process.groups(ofUser: uid)), owner: Process.user)?.role
  }

  /// Returns the role of a client; `nil` if it has none.
  func role(of peer: Peer) -> Role? {
    roles.entry(for: peer, owner: Process.user)?.role
  }
}
