package import EventLoop
package import Model
internal import Signals
internal import Wire

/// A server that accepts clients on a Unix socket and creates a connection for each.
package final class SocketServer {
  private let table: ConnectionTable
  package let loop: Loop
  private let log: Log
  private let admits: (Peer) -> Bool
  private let onConnection: (Connection) -> Void
  private var listener: SocketListener?
  private var hasLoggedRefusal = false

  /// The descriptors that the service manager holds; `nil` if it holds none.
  private let store: ManagerQueue?

  /// Creates a server that does not listen yet.
  ///
  /// - Parameters:
  ///   - admits: Returns whether a client may connect. The server closes the socket of others with
  ///     a reason.
  ///   - onConnection: Called with each new connection before its first request is read.
  package init(
    _ table: ConnectionTable, on loop: Loop, log: Log, store: ManagerQueue? = nil,
    admits: @escaping (Peer) -> Bool, onConnection: @escaping (Connection) -> Void
  ) {
    self.table = table
    self.store = store
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

  /// The bytes of output that the kernel holds for a client of a user who has very many: it would
  /// hold 208 KiB for each, which counts as memory of the daemon.
  private static let crowdOutput: CInt = 16 << 10

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
    if table.isCrowd(peer.uid) { socket.limitKernelOutput(to: Self.crowdOutput) }
    let client = SocketClient(socket, connection, store)
    onConnection(connection)
    client.start()
  }

  /// Creates the connection of a client that an earlier daemon has left; it is not started.
  ///
  /// A client that may not connect any more, or that cannot go on, gets the rest of its output and
  /// `closing` instead. After a part of a line it gets nothing.
  package func readmit(_ socket: StreamSocket, _ kept: HandoverConnection) -> ReturnedClient? {
    socket.isStored = true
    let peer = socket.peer
    guard kept.end == .goesOn, admits(peer) else {
      let sent = kept.output.isEmpty ? 0 : socket.send(kept.output.span)
      if kept.end == .cut || sent != kept.output.count {
        socket.close()
      } else {
        refuse(socket, kept.end == .goesOn ? .permissionDenied : .restart)
      }
      return nil
    }
    let connection = table.reconnect(peer, kept)
    onConnection(connection)
    return ReturnedClient(
      connection: connection, kept: kept, client: SocketClient(socket, connection, store))
  }

  /// Closes the socket of a client that an earlier daemon has left, with a reason.
  package func dismiss(_ socket: StreamSocket) {
    socket.isStored = true
    refuse(socket, .restart)
  }

  /// Sends the reason and closes the socket.
  private func refuse(_ socket: StreamSocket, _ reason: Closing, _ limit: LimitName? = nil) {
    let line = table.closingLine(reason, limit, for: socket.peer)
    table.context.traffic.countTurnedAway(reason)
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
    table.context.traffic.countTurnedAway(.tooManyConnections)
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
  private let store: ManagerQueue?

  /// The name under which the service manager holds the socket; `nil` if it does not.
  private var storedName: String?

  /// Whether the client is served because its socket is being read.
  private var isServed = false

  init(_ socket: StreamSocket, _ connection: Connection, _ store: ManagerQueue?) {
    self.socket = socket
    self.connection = connection
    self.store = store
    if socket.isStored { storedName = Handover.name(of: connection.id) }
  }

  func start() {
    attach()
    socket.readNow()  // the first request has usually arrived
  }

  func attach() {
    socket.delegate = self
    connection.start(self)
  }

  func readNow() { socket.readNow() }

  // MARK: Calls from the connection

  func send(_ bytes: Span<UInt8>) -> Int? {
    guard let handover = connection.context.handover else { return socket.send(bytes) }
    handover.beginSending()
    let sent = socket.send(bytes)
    handover.endSending(isWhole: sent == bytes.count)
    return sent
  }

  func add(_ bytes: Span<UInt8>, to batch: SendBatch) -> Bool {
    batch.add(bytes, to: socket)
    return true
  }

  func setReading(_ isReading: Bool) { socket.setReading(isReading) }

  func close() {
    if let storedName { store?.remove(storedName) }
    socket.close()
  }

  func store(as name: String) {
    guard let store, storedName == nil else { return }
    storedName = name
    socket.isStored = true
    store.store(socket.descriptor, as: name)
  }

  func leave() { socket.leave() }

  // MARK: Calls from the socket

  func socketWillRead() { isServed = connection.beginServing() }

  func socketDidRead(_ hasRead: Bool) {
    guard isServed else { return }
    isServed = false
    if hasRead { connection.endServing(hasSent: false) } else { connection.stopServing() }
  }

  func socket(received bytes: Span<UInt8>) { connection.receive(bytes) }
  func socketReachedEnd() { connection.receiveEnd() }
  func socketBecameWritable() { connection.becameWritable() }
  func socketClosed(_ error: SystemError?) {
    // The socket has closed itself.
    if let storedName { store?.remove(storedName) }
    storedName = nil
    connection.endSoon()
  }
}

/// A client that an earlier daemon has left, before it is served again.
package struct ReturnedClient {
  package let connection: Connection
  package let kept: HandoverConnection
  let client: SocketClient

  /// Connects the client with its socket.
  package func attach() { client.attach() }

  /// Serves the client.
  package func start() {
    connection.resumeInput()
    client.readNow()
  }
}
