package import EventLoop
internal import JSON
package import Model
package import Wire

/// A client, as its turn, its subscriptions and its views see it.
///
/// ``Connection`` is the only subclass. The parts of a connection refer to this class, so that they
/// do not depend on requests and answers.
package class Client: Interruptible {
  package final let id: UInt64
  /// The process that connected, or the user for whom it acts.
  package final internal(set) var peer: Peer

  /// The gateway that connected and the name under which it acts; `nil` if the client acts for
  /// itself.
  package final internal(set) var acting: (gateway: Peer, name: String)?
  package final let context: ConnectionContext

  /// The resources that all clients of the user share.
  final var user: UserShare

  /// Whether the client accepts several log entries in one line.
  package final var takesItems = false

  /// The longest line that the client accepts, in bytes.
  package final var lineOut: Int

  /// The share of this client in ``UserShare/bufferedBytes``.
  final var bufferedBytes = 0

  /// Whether the client has gone, and is about to be ended.
  final var isGone = false

  // The lists of the context that contain the client.
  final var isListed = false
  final var isPostponed = false
  final var isWaiting = false
  final var isMonitored = false

  /// The index among the slow clients; of use while ``isMonitored``.
  final var slowPlace = 0

  init(id: UInt64, peer: Peer, user: UserShare, in context: ConnectionContext) {
    self.id = id
    self.peer = peer
    self.user = user
    self.context = context
    lineOut = context.limits.lineOut
  }

  package final var limits: Limits {
    if let limits = user.limits { limits } else { context.limits }
  }

  /// The milliseconds that a method may run; see ``Limits``.
  ///
  /// Read by itself, because a copy of all limits would cost each call more.
  package final var callMilliseconds: Int { context.limits.callMilliseconds }

  /// The number of open connections of the client's user.
  package final var userConnectionCount: Int { user.connections }

  /// Lists the client to be served at the end of this turn.
  final func list() { context.list(self) }

  // MARK: Calls from the context

  /// Sends everything that is due.
  func pump() {}

  /// Resumes a client that was interrupted at the end of its time slice, in a later turn.
  func goOnAfterInterruption() {}

  /// Closes the connection of a client that is too slow.
  ///
  /// - Returns: Whether the client must be checked again.
  func checkProgress(at now: UInt64) -> Bool { false }

  /// Releases all resources of the client and closes the connection.
  package func end() {}

  /// Ends the client, which has gone, in the time of its user.
  package func endSoon() { end() }

  // MARK: Calls from subscriptions and views

  /// Runs an action after the answer to the running batch was sent.
  ///
  /// - Returns: Whether a batch is running; otherwise the action is dropped.
  func afterBatch(_ action: @escaping () -> Void) -> Bool { false }

  // MARK: Memory

  /// The bytes of an answer, an incomplete line or output that are always allowed.
  static let crowdedBytes = 4 << 10

  /// Whether the clients of the user together have reached their memory limit.
  final var isCrowded: Bool { user.bufferedBytes >= user.maxBufferedBytes }

  /// The estimated bytes of what all clients of the user hold; see ``checkMemory(for:)``.
  package final var userItemBytes: Int { user.itemBytes }

  /// Checks that the clients of the user may hold more.
  ///
  /// - Parameter bytes: The estimate for a new item; see ``ItemBytes``.
  /// - Throws: ``WireError`` `limit_reached` with the limit `memory_user`.
  package final func checkMemory(for bytes: Int) throws(WireError) {
    try context.checkMemory(for: bytes, of: user, limits)
  }

  /// Charges the user for an item, or, with a negative number, ends the charge.
  package final func charge(_ bytes: Int) { user.itemBytes += bytes }

  /// The bytes of output to gather before sending.
  final var chunkSize: Int { isCrowded ? Self.crowdedBytes : ConnectionContext.chunkSize }
}

extension ConnectionContext {
  fileprivate func checkMemory(
    for bytes: Int, of user: UserShare, _ limits: Limits
  ) throws(WireError) {
    let max = limits.memoryPerUser
    guard user.itemBytes + bytes > max, !owners.contains(user.uid) else { return }
    var data = JSONObject()
    data.add(.memoryPerUser, max: max)
    throw WireError(
      .limitReached,
      "\(LimitName.memoryPerUser.row.meaning): \(max) at most; end some of them first", data)
  }

  /// Checks that a user, who need not be connected, may hold more; see ``Client/checkMemory(for:)``.
  package func checkMemory(for bytes: Int, of uid: UInt32) throws(WireError) {
    guard bytes > 0 else { return }
    let user = users.share(of: uid)
    try checkMemory(for: bytes, of: user, user.limits ?? limits)
  }

  /// Charges a user, who need not be connected, for values that are held for the user; with a negative
  /// number, ends the charge.
  package func charge(_ bytes: Int, to uid: UInt32) {
    if bytes != 0 { users.share(of: uid).itemBytes += bytes }
  }
}

/// The output side of a connection, provided by its host.
package protocol Transport: AnyObject {
  /// Sends as many bytes as possible without blocking.
  ///
  /// - Returns: The number of bytes taken; `nil` if the client is gone. If not all were taken, the
  ///   host calls ``Connection/becameWritable()`` when there is room.
  func send(_ bytes: Span<UInt8>) -> Int?

  /// Adds bytes to a batch, which must have room, instead of sending them.
  ///
  /// - Returns: `false` if the transport does not do that.
  func add(_ bytes: Span<UInt8>, to batch: SendBatch) -> Bool

  /// Starts or pauses reading from the client.
  func setReading(_ isReading: Bool)

  /// Closes the connection.
  ///
  /// Called once.
  func close()

  /// Lets the service manager hold the connection under a name, until it is closed.
  func store(as name: String)

  /// Leaves the connection open for the next daemon.
  ///
  /// Called instead of ``close()``.
  func leave()
}

extension Transport {
  package func add(_ bytes: Span<UInt8>, to batch: SendBatch) -> Bool { false }
  package func store(as name: String) {}
  package func leave() { close() }
}

/// The reason why the daemon closes a connection.
package enum Closing: String, CaseIterable {
  case shutdown
  case stalled
  case outQueueFull = "out_queue_full"
  case tooManyConnections = "too_many_connections"
  case permissionDenied = "permission_denied"
  case lineTimeout = "line_timeout"
  case protocolAbuse = "protocol_abuse"
  case journalFailed = "journal_failed"
  /// Another client has ended the connection.
  case kicked
  /// A daemon before this one was killed while a request of the client was in hand.
  case restart

  /// The limit that the client has exceeded; `nil` if there is none.
  var limit: LimitName? {
    switch self {
    case .stalled: .stall
    case .outQueueFull: .outputHard
    case .tooManyConnections: .connections
    case .lineTimeout: .partialLine
    case .protocolAbuse: .badLines
    case .shutdown, .permissionDenied, .journalFailed, .kicked, .restart: nil
    }
  }

  /// The delay after which a client may reconnect, in milliseconds; `nil` if the client caused the
  /// closing.
  var reconnectMilliseconds: Int? {
    switch self {
    case .shutdown: 250
    case .restart: 0
    case .tooManyConnections, .journalFailed: 1_000
    case .stalled, .outQueueFull, .permissionDenied, .lineTimeout, .protocolAbuse, .kicked: nil
    }
  }
}
