internal import JSON
package import Model
package import Signals
package import Wire

/// All connections of a daemon.
///
/// The daemon calls ``flush()`` at the end of every turn of its loop, and ``advance(to:)`` when
/// events became durable.
package final class ConnectionTable {
  /// The state that the connections share.
  package let context: ConnectionContext

  /// The connections by number.
  package private(set) var connections: [UInt64: Connection] = [:]

  /// The shared resources of each user's clients.
  private var users: UserShares { context.users }
  private var lastID: UInt64 = 0

  /// - Parameters:
  ///   - now: Returns the milliseconds of a monotonic clock, as of the start of the turn.
  ///   - clock: Returns the nanoseconds of a monotonic clock that advances within a turn.
  ///   - scheduler: Schedules delayed frames and timeouts.
  package init(
    limits: Limits, now: @escaping () -> UInt64, clock: @escaping () -> UInt64,
    scheduler: any Scheduler
  ) {
    context = ConnectionContext(limits: limits, now: now, clock: clock, scheduler: scheduler)
    context.onEnd = { [weak self] in self?.remove($0) }
  }

  /// Creates the connection of a new client.
  package func connect(_ peer: Peer) -> Connection {
    lastID += 1
    return connect(peer, as: lastID)
  }

  /// Creates the connection of a client that an earlier daemon has left.
  package func reconnect(_ peer: Peer, _ kept: HandoverConnection) -> Connection {
    lastID = max(lastID, kept.id)
    let connection = connect(peer, as: kept.id)
    connection.resume(kept)
    return connection
  }

  /// Lets the numbers of new connections begin after one.
  package func skipIDs(upTo id: UInt64) { lastID = max(lastID, id) }

  private func connect(_ peer: Peer, as id: UInt64) -> Connection {
    let user = users.share(of: peer.uid)
    user.connections += 1
    let connection = Connection(id: id, peer: peer, user: user, in: context)
    connections[id] = connection
    context.counts.connections += 1
    context.handover?.begin(connection)
    return connection
  }

  /// Lets a client act for another user from now on.
  ///
  /// All that counts for a user counts for that one. The client must not have done anything yet.
  package func move(_ connection: Connection, to peer: Peer, named name: String) {
    let old = connection.user
    let new = users.share(of: peer.uid)
    old.connections -= 1
    new.connections += 1
    old.bufferedBytes -= connection.bufferedBytes
    new.bufferedBytes += connection.bufferedBytes
    connection.acting = (connection.peer, name)
    (connection.peer, connection.user) = (peer, new)
    connection.renewBounds()
    users.release(old)
  }

  /// Applies changed limits, of all users and of roles, to the connected clients.
  package func refreshLimits() {
    users.refreshLimits()
    for connection in connections.values { connection.renewBounds() }
  }

  /// Returns the limits of the clients of a user.
  package func limits(of uid: UInt32) -> Limits {
    context.roleLimits.limits(of: uid, common: context.limits) ?? context.limits
  }

  private func remove(_ client: Client) {
    guard connections.removeValue(forKey: client.id) != nil else { return }
    context.counts.connections -= 1
    client.user.connections -= 1
    users.release(client.user)
  }

  /// Returns the limit that prevents one more client of a user; `nil` if there is none.
  package func limitReached(by uid: UInt32) -> LimitName? {
    let limits = context.limits
    guard connections.count < limits.connections else { return .connections }
    guard !context.owners.contains(uid) else { return nil }
    let most = context.roleLimits.limit(
      .connectionsPerUser, of: uid, common: limits.connectionsPerUser)
    return users[uid]?.connections ?? 0 < most ? nil : .connectionsPerUser
  }

  /// Returns whether a user has so many clients that the kernel must hold less output for each.
  package func isCrowd(_ uid: UInt32) -> Bool {
    users[uid]?.connections ?? 0 > Self.crowd && !context.owners.contains(uid)
  }

  /// The clients of a user for which the kernel may hold as much output as usual.
  private static let crowd = 256

  /// The slow log.
  package var slowLog: SlowLog { context.slowLog }

  /// Sets the limit in milliseconds above which requests are kept in the slow log, 0 for none, and
  /// the number of requests to keep.
  package func setSlowLog(limitMilliseconds: Int, size: Int) {
    slowLog.limitMilliseconds = limitMilliseconds
    slowLog.size = size
    context.stages.isEvery = limitMilliseconds > 0
  }

  /// The users with clients: the number of clients, and the estimated and buffered bytes.
  package var usages: [(uid: UInt32, connections: Int, itemBytes: Int, bufferedBytes: Int)] {
    users.values.map { ($0.uid, $0.connections, $0.itemBytes, $0.bufferedBytes) }
  }

  /// The bytes of pending output of all clients.
  package var outputBytes: Int { connections.values.reduce(0) { $0 + $1.outputBytes } }

  // MARK: Turns

  /// Advances the durable position.
  ///
  /// The services must have applied all events up to it.
  package func advance(to position: UInt64) { context.advance(to: position) }

  /// Replaces the answers to lost events by an error.
  package func reject(_ error: WireError) {
    context.slowLog.forgetWaiting()
    for connection in connections.values { connection.reject(error) }
  }

  /// Sends the output of this turn, with as few writes for each client as possible.
  ///
  /// Call it at the end of every turn.
  ///
  /// - Returns: Whether there is more to send, so that the next turn must follow without waiting.
  @discardableResult
  package func flush() -> Bool { context.flush() }

  // MARK: Ending

  /// Returns the line with the reason for closing a connection.
  package func closingLine(
    _ reason: Closing, _ limit: LimitName? = nil, for peer: Peer? = nil
  ) -> [UInt8] {
    var buffer = ByteBuffer()
    let limits = peer.map { self.limits(of: $0.uid) } ?? context.limits
    context.writeClosing(reason, limit, of: limits, &buffer)
    return buffer.array
  }

  /// Stops running new requests.
  ///
  /// Requests that were run are still answered.
  package func stopReading() {
    context.stoppingSince = context.now()
    for connection in connections.values {
      connection.endOpenEnded()
      connection.updateReading()
    }
  }

  /// Closes all connections with a reason.
  package func closeAll(_ reason: Closing) {
    for connection in connections.values { connection.close(reason) }
    context.stop()
  }

  /// Leaves all connections to the next daemon.
  ///
  /// A client whose request is not answered yet gets `closing` instead.
  package func leaveAll() {
    guard let handover = context.handover else { return closeAll(.shutdown) }
    for connection in connections.values where connection.isInHand { connection.close(.shutdown) }
    for connection in connections.values { connection.announceStop() }
    handover.leaveAll(connections.values)
    for connection in connections.values { connection.leave() }
    context.stop()
  }

  /// Whether some client still waits for an answer, for output or for a parked request.
  package var hasUnfinished: Bool { connections.values.contains(where: \.isUnfinished) }
}
