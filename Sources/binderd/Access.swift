import Configuration
import Connections
import EventLoop
import EventSourcing
import Facts
import Features

/// Access control: decides which clients may connect, and which interface each one gets.
final class Access {
  private(set) var roles: Roles
  private let interfaces: Interfaces
  private let refusals: RefusalLog

  init(_ roles: Roles, _ interfaces: Interfaces, _ refusals: RefusalLog) {
    self.roles = roles
    self.interfaces = interfaces
    self.refusals = refusals
    interfaces.commons.onRefusal = { [refusals] caller, role, what in
      refusals.write(uid: caller.uid, pid: caller.pid, "\(what), as \(role.name)")
    }
  }

  /// Returns whether a client has a role; logs the refusal otherwise.
  func admits(_ peer: Peer) -> Bool {
    guard role(of: peer) == nil else { return true }
    refusals.write(uid: peer.uid, pid: peer.pid, "to connect, it has no role")
    return false
  }

  /// Binds a connected client to the interface of its role.
  func bind(_ connection: Connection) {
    guard let role = role(of: connection.peer) else { return connection.close(.permissionDenied) }
    bindConnection(connection, to: interfaces[role])
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
      bindConnection(connection, to: interfaces[role], before: old.map { interfaces[$0] })
    }
    interfaces.keep(only: Set(roles.entries.map(\.role) + [.owner]))
  }

  func decision(on request: AccessRequest, by peer: Peer) -> Decision {
    roles.decision(on: request, by: peer, owner: Process.user)
  }

  /// Returns the role of a user, by all groups of the user in the system; `nil` if there is none.
  func role(ofUser uid: UInt32) -> Role? {
    roles.entry(for: Peer(uid: uid, groups: Process.groups(ofUser: uid)), owner: Process.user)?.role
  }

  private func role(of peer: Peer) -> Role? {
    roles.entry(for: peer, owner: Process.user)?.role
  }
}
