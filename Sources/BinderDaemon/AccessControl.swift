import API
import Configuration
import Connections
import EventLoop
import EventSourcing
import Features
import JSON
import Model
import Wire

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

  /// Returns the user for whom a gateway acts, and the user's rights.
  ///
  /// It fails with `permission_denied` if the client is no gateway, or if the user has no role, and
  /// with `not_found` if there is no user of this name.
  func admit(_ name: String, by gateway: Peer) -> Result<(Peer, Rights), WireError> {
    func refusal(_ why: String, _ error: WireError) -> Result<(Peer, Rights), WireError> {
      refusals.write(uid: gateway.uid, pid: gateway.pid, "to act for '\(name)', \(why)")
      return .failure(error)
    }
    guard roles.gateways.contains(gateway.uid) else {
      return refusal(
        "it is no gateway", denied("gateways", "uid \(gateway.uid) is no gateway"))
    }
    guard let peer = user(named: name, by: gateway) else {
      return refusal("which is no name of the gateway", .notFound("name", name))
    }
    guard let role = role(of: peer) else {
      return refusal("who has no role", denied("roles", "uid \(peer.uid) has no role"))
    }
    return .success((peer, rights[role]))
  }

  private func denied(_ need: String, _ message: String) -> WireError {
    WireError(.permissionDenied, "\(message) in the configuration", ["need": .string(need)])
  }

  /// Returns the user for whom a gateway acts; `nil` if there is none, or if it is the owner.
  private func user(named name: String, by gateway: Peer) -> Peer? {
    guard let uid = roles.gateways.user(named: name, by: gateway.uid), uid != Process.user,
      uid != 0
    else { return nil }
    return Peer(
      uid: uid, pid: gateway.pid, groups: Process.groups(ofUser: uid), program: gateway.program)
  }

  /// Applies changed roles to all clients, and disconnects those without a role.
  func change(to roles: Roles, for connections: some Sequence<Connection>) {
    let before = self.roles
    self.roles = roles
    for connection in connections {
      let peer = connection.peer
      if let (gateway, name) = connection.acting, user(named: name, by: gateway)?.uid != peer.uid {
        refusals.write(uid: peer.uid, pid: peer.pid, "to stay, no gateway acts for it any more")
        connection.close(.permissionDenied)
        continue
      }
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

  /// Lets all clients use a catalogue that has changed.
  func renew(for connections: some Sequence<Connection>) {
    rights.renew()
    for connection in connections {
      guard let role = role(of: connection.peer) else { continue }
      bindConnection(connection, to: rights[role])
    }
  }

  func decision(on request: AccessRequest, by peer: Peer) -> AccessDecision {
    roles.decision(on: request, by: peer, owner: Process.user)
  }

  /// Returns the role of a user, by all groups of the user in the system; `nil` if there is none.
  func role(ofUser uid: UInt32) -> Role? {
    roles.entry(for: Peer(uid: uid, groups: Process.groups(ofUser: uid)), owner: Process.user)?.role
  }

  /// Returns the limits that the role of a user sets.
  ///
  /// Not those of the daemon's user and of root, who have no limits of one user.
  func limits(ofUser uid: UInt32) -> [LimitName: Int] { role(ofUser: uid)?.limits ?? [:] }

  /// Returns the role of a client; `nil` if it has none.
  func role(of peer: Peer) -> Role? {
    roles.entry(for: peer, owner: Process.user)?.role
  }
}

/// Prepares the will of a lease to run with the present rights of its owner: those of the user and of
/// the groups that the client had.
///
/// - Throws: ``WireError`` if a call is not valid any more, or not allowed.
func makeWill(
  of calls: JSONText, _ owner: Peer, _ access: AccessControl, _ rights: RightsTable,
  _ table: ConnectionTable
) throws(WireError) -> LeasesService.Will {
  guard let role = access.role(of: owner) else {
    throw WireError(.permissionDenied, "user \(owner.uid) has no role any more")
  }
  if case .array(let calls) = calls.value {
    for (i, call) in calls.enumerated() {
      guard case .object(let call) = call, case .string(let method)? = call["method"],
        ["lease.grant", "lease.resume", "will"].contains(method)
      else { continue }
      // What it grants would never end: the connection has ended already.
      throw WireError(
        JSONDecodingError(
          path: "/calls/\(i)/method", expected: "a method that needs no connection", got: method))
    }
  }
  // The owner has disconnected, so the calls run on a temporary connection without a socket.
  let connection = table.connect(owner)
  defer { connection.end() }
  let context = CallContext(rights[role], connection)
  return LeasesService.Will(
    steps: try context.steps(ofCalls: calls), mayRecord: context.access.rights.mayRecord)
}
