package import Connections
package import EventLoop
internal import Signals
internal import Wire

/// Accepts clients on a Unix socket and makes each a connection.
package final class SocketServer {
  private let hub: Hub
  private let loop: Loop
  private let log: Log
  private let admits: (PeerIdentity) -> Bool
  private let onConnection: (Connection) -> Void
  private var listener: SocketListener?
  private var hasLoggedRefusal = false

  /// A server that does not listen yet.
  ///
  /// - Parameters:
  ///   - admits: Whether a client may connect at all; who may not is told so and hung up on.
  ///   - onConnection: Called with each new client before its first request is read.
  package init(
    _ hub: Hub, on loop: Loop, log: Log, admits: @escaping (PeerIdentity) -> Bool,
    onConnection: @escaping (Connection) -> Void
  ) {
    self.hub = hub
    self.loop = loop
    self.log = log
    self.admits = admits
    self.onConnection = onConnection
    loop.onTurnEnd { [unowned hub, unowned loop] in if hub.flush() { loop.skipWait() } }
  }

  /// Where clients connect; empty while they cannot.
  package var path: String { listener?.path ?? "" }

  /// Listens at a path.
  ///
  /// - Parameters:
  ///   - mode: The permissions of the socket file, for example `0o600`.
  ///   - group: Its group; that of the process when not given.
  package func listen(
    at path: String, mode: UInt32, group: UInt32? = nil
  ) throws(SocketListener.PathError) {
    listener = try SocketListener(
      path: path, mode: mode, group: group, on: loop, farewell: { [unowned self] in farewell() },
      onAccept: { [unowned self] in accept($0) })
  }

  /// Listens on a socket that the service manager has bound.
  ///
  /// - Throws: ``SocketListener/PathError`` when the descriptor is not a listening Unix stream socket.
  package func listen(on descriptor: CInt) throws(SocketListener.PathError) {
    listener = try SocketListener(
      adopting: descriptor, on: loop, farewell: { [unowned self] in farewell() },
      onAccept: { [unowned self] in accept($0) })
  }

  /// Takes no more clients; those that are there stay.
  package func stopListening() {
    listener?.close()
    listener = nil
  }

  private func accept(_ descriptor: CInt) {
    let socket: StreamSocket
    do throws(SystemError) {
      socket = try StreamSocket(adopting: descriptor, on: loop)
    } catch {
      return log.write(.warning, "a client could not be accepted: \(error)")
    }
    let peer = PeerIdentity(
      uid: socket.peer.uid, gid: socket.peer.gid, pid: socket.peer.pid, groups: socket.peer.groups)
    guard admits(peer) else { return refuse(socket, .permissionDenied) }
    if let limit = hub.limitReached(by: peer.uid) { return turnAway(socket, peer, limit) }
    hasLoggedRefusal = false
    let connection = hub.connect(peer)
    let client = Client(socket, connection)
    onConnection(connection)
    client.start()
  }

  /// Says why, and hangs up.
  private func refuse(_ socket: StreamSocket, _ reason: Closing, _ limit: LimitName? = nil) {
    let line = hub.closingLine(reason, limit)
    _ = socket.send(line.span)
    socket.close()
  }

  private func turnAway(_ socket: StreamSocket, _ peer: PeerIdentity, _ limit: LimitName) {
    refuse(socket, .tooManyConnections, limit)
    logRefusal("refused uid \(peer.uid) pid \(peer.pid)")
  }

  /// What is said where the limit of the process comes before ours.
  private func farewell() -> [UInt8] {
    logRefusal("no descriptor is left, a client was refused")
    return hub.closingLine(.tooManyConnections)
  }

  /// Tells it once, until somebody is let in again.
  private func logRefusal(_ text: String) {
    guard !hasLoggedRefusal else { return }
    hasLoggedRefusal = true
    log.write(.warning, "\(text): \(hub.connections.count) clients are connected")
  }
}
