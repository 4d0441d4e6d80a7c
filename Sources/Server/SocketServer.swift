package import Connections
package import EventLoop
internal import Signals
internal import Wire

/// Accepts clients on a Unix socket and makes each a connection.
package final class SocketServer {
  private let hub: Hub
  private let loop: Loop
  private let log: Log
  private let onConnection: (Connection) -> Void
  private var listener: SocketListener?
  private var countByUser: [UInt32: Int] = [:]
  private var hasLoggedRefusal = false

  /// A server that does not listen yet.
  ///
  /// - Parameter onConnection: Called with each new client before its first request is read.
  package init(
    _ hub: Hub, on loop: Loop, log: Log, onConnection: @escaping (Connection) -> Void
  ) {
    self.hub = hub
    self.loop = loop
    self.log = log
    self.onConnection = onConnection
    loop.onTurnEnd { [unowned hub] in hub.flush() }
  }

  /// Where clients connect; empty while they cannot.
  package var path: String { listener?.path ?? "" }

  /// Listens at a path, for the processes of this user.
  package func listen(at path: String) throws(SocketListener.PathError) {
    listener = try SocketListener(path: path, mode: 0o600, on: loop) { [unowned self] in
      accept($0)
    }
  }

  /// Listens on a socket that the service manager has bound.
  package func listen(on descriptor: CInt) throws(SystemError) {
    listener = try SocketListener(adopting: descriptor, on: loop) { [unowned self] in accept($0) }
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
    let peer = PeerIdentity(uid: socket.peer.uid, gid: socket.peer.gid, pid: socket.peer.pid)
    if let limit = limitReached(by: peer) { return refuse(socket, peer, limit) }
    hasLoggedRefusal = false
    let connection = hub.connect(peer)
    countByUser[peer.uid, default: 0] += 1
    let client = Client(socket, connection)
    connection.onEnd = { [weak self] in self?.left(peer) }
    onConnection(connection)
    client.start()
  }

  /// The limit that leaves no room for one more; `nil` when there is room.
  private func limitReached(by peer: PeerIdentity) -> LimitName? {
    guard hub.connections.count < hub.limits.connections else { return .connections }
    guard peer.uid != Process.user, peer.uid != 0 else { return nil }
    let count = countByUser[peer.uid, default: 0]
    return count < hub.limits.connectionsPerUser ? nil : .connectionsPerUser
  }

  private func refuse(_ socket: StreamSocket, _ peer: PeerIdentity, _ limit: LimitName) {
    let line = hub.closingLine(.tooManyConnections, limit)
    _ = socket.send(line.span)
    socket.close()
    guard !hasLoggedRefusal else { return }
    hasLoggedRefusal = true
    log.write(
      .warning,
      "refused uid \(peer.uid) pid \(peer.pid): \(hub.connections.count) clients are connected")
  }

  private func left(_ peer: PeerIdentity) {
    countByUser[peer.uid, default: 1] -= 1
    if countByUser[peer.uid] == 0 { countByUser[peer.uid] = nil }
  }
}
