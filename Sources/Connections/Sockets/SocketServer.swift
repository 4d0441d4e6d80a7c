package import EventLoop
package import Facts
internal import Signals
internal import Wire

/// A server that accepts clients on a Unix socket and creates a connection for each.
package final class SocketServer {
  private let table: ConnectionTable
  private let loop: Loop
  private let log: Log
  private let admits: (Peer) -> Bool
  private let onConnection: (Connection) -> Void
  private var listener: SocketListener?
  private var hasLoggedRefusal = false

  /// Creates a server that does not listen yet.
  ///
  /// - Parameters:
  ///   - admits: Returns whether a client may connect. The server closes the socket of others with
  ///     a reason.
  ///   - onConnection: Called with each new connection before its first request is read.
  package init(
    _ table: ConnectionTable, on loop: Loop, log: Log, admits: @escaping (Peer) -> Bool,
    onConnection: @escaping (Connection) -> Void
  ) {
    self.table = table
    self.loop = loop
    self.log = log
    self.admits = admits
    self.onConnection = onConnection
    loop.onTurnEnd { [unowned table, unowned loop] in if table.flush() { loop.skipWait() } }
  }

  /// The path of the socket; empty while the server does not listen.
  package var path: String { listener?.path ?? "" }

  /// Listens at a path.
  ///
  /// - Parameters:
  ///   - mode: The permissions of the socket file, for example `0o600`.
  ///   - group: The group of the socket file; `nil` for the group of the process.
  package func listen(
    at path: String, mode: UInt32, group: UInt32? = nil
  ) throws(SocketListener.PathError) {
    listener = try SocketListener(
      path: path, mode: mode, group: group, on: loop, farewell: { [unowned self] in farewell() },
      onAccept: { [unowned self] in accept($0) })
  }

  /// Listens on a socket that the service manager has bound.
  ///
  /// - Throws: ``SocketListener/PathError`` if the descriptor is not a listening Unix stream
  ///   socket.
  package func listen(on descriptor: CInt) throws(SocketListener.PathError) {
    listener = try SocketListener(
      adopting: descriptor, on: loop, farewell: { [unowned self] in farewell() },
      onAccept: { [unowned self] in accept($0) })
  }

  /// Stops accepting clients; existing connections stay open.
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
    let peer = socket.peer
    guard admits(peer) else { return refuse(socket, .permissionDenied) }
    if let limit = table.limitReached(by: peer.uid) { return turnAway(socket, peer, limit) }
    hasLoggedRefusal = false
    let connection = table.connect(peer)
    let client = SocketClient(socket, connection)
    onConnection(connection)
    client.start()
  }

  /// Sends the reason and closes the socket.
  private func refuse(_ socket: StreamSocket, _ reason: Closing, _ limit: LimitName? = nil) {
    let line = table.closingLine(reason, limit)
    table.context.traffic.noteTurnedAway(reason)
    _ = socket.send(line.span)
    socket.close()
  }

  private func turnAway(_ socket: StreamSocket, _ peer: Peer, _ limit: LimitName) {
    refuse(socket, .tooManyConnections, limit)
    logRefusal("refused uid \(peer.uid) pid \(peer.pid)")
  }

  /// Returns the closing line for a client that finds no free file descriptor.
  private func farewell() -> [UInt8] {
    logRefusal("no file descriptor is left; a client was refused")
    table.context.traffic.noteTurnedAway(.tooManyConnections)
    return table.closingLine(.tooManyConnections)
  }

  /// Logs a refusal once, until another client is accepted.
  private func logRefusal(_ text: String) {
    guard !hasLoggedRefusal else { return }
    hasLoggedRefusal = true
    log.write(.warning, "\(text): \(table.connections.count) clients are connected")
  }
}

/// The link between a socket and its connection.
final class SocketClient: Transport, StreamSocketDelegate {
  private let socket: StreamSocket
  private let connection: Connection

  init(_ socket: StreamSocket, _ connection: Connection) {
    self.socket = socket
    self.connection = connection
  }

  func start() {
    socket.delegate = self
    connection.start(self)
    socket.readNow()  // the first request has usually arrived
  }

  // MARK: Calls from the connection

  func send(_ bytes: Span<UInt8>) -> Int? { socket.send(bytes) }
  func setReading(_ isReading: Bool) { socket.setReading(isReading) }
  func close() { socket.close() }

  // MARK: Calls from the socket

  func socket(received bytes: Span<UInt8>) { connection.receive(bytes) }
  func socketReachedEnd() { connection.receiveEnd() }
  func socketBecameWritable() { connection.becameWritable() }
  func socketClosed(_ error: SystemError?) { connection.end() }
}
