internal import Connections
internal import JSON
internal import Model
internal import Wire

/// The clients of other daemons, for which this daemon runs commands while it is the active one.
///
/// Each has a connection here like a client of this daemon. It begins with the first request, and ends
/// when the client disconnects, or when its daemon is gone.
final class ForwardedClients {
  private let table: ConnectionTable
  private let bind: (Connection) -> Void
  private let send: (_ frame: ForwardedFrame, _ address: String) -> Void
  private var clients: [Key: ForwardedClient] = [:]
  private let decoder = JSONDecoder()

  fileprivate struct Key: Hashable {
    let address: String
    let client: UInt64
  }

  /// - Parameters:
  ///   - bind: Connects a new connection to the services, or closes it if the user has no role.
  ///   - send: Sends a message to a daemon.
  init(
    in table: ConnectionTable, bind: @escaping (Connection) -> Void,
    send: @escaping (_ frame: ForwardedFrame, _ address: String) -> Void
  ) {
    (self.table, self.bind, self.send) = (table, bind, send)
  }

  /// The number of clients of other daemons.
  var count: Int { clients.count }

  /// Handles a message from a follower.
  func receive(_ frame: ForwardedFrame, from address: String) {
    if let living = frame.living { return keep(living, of: address) }
    guard let number = frame.client else { return }
    let key = Key(address: address, client: number)
    if frame.hasEnded == true {
      clients.removeValue(forKey: key)?.leave()
      return
    }
    if frame.isAtEnd == true {
      clients[key]?.connection.receiveEnd()
      return
    }
    if let taken = frame.taken {
      clients[key]?.subtractUnread(taken)
      return
    }
    if let cancelled = frame.cancelled {
      _ = clients[key]?.connection.cancel(RequestID(text: "\(cancelled)"))
      return
    }
    guard let peer = frame.peer?.peer, let id = frame.id, let method = frame.method else { return }
    // The connection here has ended, and its login with it: the client must learn that first.
    guard clients[key] != nil || frame.isNew == true else { return drop(key) }
    guard let client = clients[key] ?? begin(key, peer, id) else { return }
    guard client.isNext(id, after: frame.after) else { return refuse(toSkip: client, key) }
    var line = ByteBuffer()
    line.append(#"{"id":"#)
    line.append("\(id)")
    line.append(#","method":"#)
    line.append(quoted: method)
    if let params = frame.params {
      line.append(#","params":"#)
      line.append(params.text)
    }
    line.append("}\n")
    client.connection.receive(line.span)
  }

  /// Ends the clients of daemons that are gone.
  func keep(ofDaemons addresses: Set<String>) {
    for (key, client) in clients where !addresses.contains(key.address) {
      clients[key] = nil
      client.leave()
      // It may only have been silent.
      drop(key)
    }
  }

  /// Ends the connections of clients that have left their own daemon, and resets the others.
  private func keep(_ living: [UInt64], of address: String) {
    let living = Set(living)
    for (key, client) in clients where key.address == address {
      if living.contains(key.client) {
        client.restart()
      } else {
        clients[key] = nil
        client.leave()
      }
    }
  }

  /// Tells the daemons that follow that requests may have been lost.
  func messagesWereLost(of addresses: some Sequence<String>) {
    let addresses = Set(addresses)
    for (key, client) in clients where addresses.contains(key.address) { client.isAsked = true }
    var frame = ForwardedFrame(of: nil)
    frame.hasMissed = true
    for address in addresses { send(frame, address) }
  }

  /// Refuses a request whose predecessor is missing, and asks once for both.
  private func refuse(toSkip client: ForwardedClient, _ key: Key) {
    guard !client.isAsked else { return }
    client.isAsked = true
    var frame = ForwardedFrame(of: key.client)
    frame.hasMissed = true
    send(frame, key.address)
  }

  private func begin(_ key: Key, _ peer: Peer, _ id: UInt64) -> ForwardedClient? {
    if let limit = table.limitReached(by: peer.uid) {
      var frame = ForwardedFrame(of: key.client)
      frame.id = id
      frame.error = JSONText(.limitReached(limit, table.limits(of: peer.uid)))
      send(frame, key.address)
      return nil
    }
    let client = ForwardedClient(table.connect(peer), key, self)
    clients[key] = client
    // Other handles than those that the client's own daemon assigns.
    client.connection.skipHandles(upTo: 1 << 32)
    bind(client.connection)
    guard !client.connection.isEnded else {
      clients[key] = nil
      var frame = ForwardedFrame(of: key.client)
      frame.id = id
      frame.error = JSONText(
        WireError(.permissionDenied, "uid \(peer.uid) has no role at the active daemon"))
      send(frame, key.address)
      return nil
    }
    client.connection.start(client)
    return client
  }

  /// Sends the lines for a client to its daemon.
  fileprivate func pass(_ bytes: Span<UInt8>, to key: Key) {
    var start = 0
    for i in bytes.indices where bytes[i] == UInt8(ascii: "\n") {
      pass(line: bytes.extracting(start..<i), to: key)
      start = i + 1
    }
  }

  private func pass(line: Span<UInt8>, to key: Key) {
    guard let sent: SentLine = try? decoder.decode(from: line, unknownMembers: .ignored),
      sent.method != nil || sent.id != nil
    else {
      // An answer that belongs to no request: the client would wait for ever.
      clients.removeValue(forKey: key)?.leave()
      return drop(key)
    }
    var frame = ForwardedFrame(of: key.client)
    (frame.at, frame.size) = (table.context.position, line.count)
    if let method = sent.method {
      // `closing` is about the connection here; the connection of the client itself stays open.
      guard method != "closing" else { return }
      frame.line = JSONText(scanned: line)
    } else {
      (frame.id, frame.result, frame.error) = (sent.id, sent.result, sent.error)
    }
    send(frame, key.address)
  }

  /// Reports to a follower that the connection of its client has ended here.
  fileprivate func close(_ key: Key) {
    // When this daemon stops, the clients stay where they are.
    guard let client = clients.removeValue(forKey: key), !table.context.isStopping else { return }
    guard client.connection.hasEndedItself else { return drop(key) }
    var frame = ForwardedFrame(of: key.client)
    frame.isDone = true
    send(frame, key.address)
  }

  /// Reports to a follower that its client was dropped here, with everything that it had.
  private func drop(_ key: Key) {
    var frame = ForwardedFrame(of: key.client)
    frame.isDropped = true
    send(frame, key.address)
  }
}

/// A client of another daemon.
private final class ForwardedClient: Transport {
  let connection: Connection
  private let key: ForwardedClients.Key

  /// They know this client until its connection ends.
  private let clients: ForwardedClients

  /// The unread output bytes, as last reported by the daemon of the client.
  private var untaken = 0

  /// The greatest number of the requests that were run.
  private var last: UInt64 = 0

  /// Whether the client's daemon was asked to send the requests again, and has not done so yet.
  var isAsked = false

  /// The bytes that may be under way to a client.
  private static let most = 4 * ForwardedFrame.takenBytes

  init(_ connection: Connection, _ key: ForwardedClients.Key, _ clients: ForwardedClients) {
    (self.connection, self.key, self.clients) = (connection, key, clients)
  }

  /// Accepts a request if all earlier ones have arrived; returns `false` if one is missing.
  func isNext(_ id: UInt64, after earlier: UInt64?) -> Bool {
    guard earlier ?? 0 <= last else { return false }
    (last, isAsked) = (max(last, id), false)
    return true
  }

  /// Ends the connection, because the client has gone.
  func leave() { connection.end() }

  /// Sends all lines or none.
  func send(_ bytes: Span<UInt8>) -> Int? {
    guard untaken < Self.most else { return 0 }
    untaken += bytes.count
    clients.pass(bytes, to: key)
    return bytes.count
  }

  /// Counts all output as read, after a possible loss of messages: it has arrived, or is lost.
  func restart() {
    isAsked = false
    subtractUnread(untaken)
  }

  func subtractUnread(_ count: Int) {
    let wasFull = untaken >= Self.most
    // Others may send messages through the database, so the number may be wrong.
    untaken = max(0, untaken - max(0, count))
    if wasFull, untaken < Self.most { connection.becameWritable() }
  }

  /// Does nothing: the other daemon limits the requests in flight.
  func setReading(_ isReading: Bool) {}
  func close() { clients.close(key) }
}

extension JSONText {
  /// The error as a client gets it.
  fileprivate init(_ error: WireError) {
    var buffer = ByteBuffer()
    error.write(to: &buffer)
    self.init(trusted: buffer.string)
  }
}
