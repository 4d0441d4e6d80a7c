internal import JSON
package import Signals
package import Wire

/// What all connections of a daemon share: buffers, the time, how far the journal is, and the lists
/// of those that have something to do at the end of the turn.
package final class Hub {
  /// How much of one client's output is gathered before it is sent.
  static let chunkSize = 128 << 10

  /// How many chunks one client is sent in a turn.
  static let chunksPerTurn = 4

  /// How much memory the shared buffer keeps between turns.
  static let scratchSize = 256 << 10

  /// What a client may ask for; what is set later holds from then on, for all of them.
  package var limits: Limits

  /// Milliseconds of a monotonic clock.
  package let now: () -> UInt64
  package let scheduler: any Scheduler

  /// Shares the time of each turn between the clients.
  let time: TurnTime

  /// The identity of the journal.
  package var epoch = ""

  /// How far the journal is durable.
  package private(set) var position: UInt64 = 0

  /// How views write what they show, and read what they are asked.
  let encoder = JSONEncoder()
  let decoder = JSONDecoder()

  /// What clients are told of an error that something they look at has come to.
  package var wireError: (any Error) -> WireError = { WireError(.internalError, "\($0)") }

  /// The order in which the lines of a binder of a view are written; see ``Assembly``.
  package var lineOrder: ([Assembly.Line]) -> [Assembly.Line] = { $0 }

  /// Clients by their number.
  package private(set) var connections: [UInt64: Connection] = [:]

  /// Requests since the start.
  package internal(set) var requests: UInt64 = 0
  package internal(set) var subscriptionCount = 0

  /// Calls of all clients that are answered in a later turn.
  package private(set) var lateCalls = 0

  /// What the clients of each user use together.
  private var users: [UInt32: UserShare] = [:]

  /// Users exempt from the limits of one user (administrators).
  package var owners: Set<UInt32> = []

  /// Where the answers of the requests that are being run are gathered.
  var scratch = ByteBuffer()

  /// Whose requests are being run.
  var current: Connection?

  /// Whether no more requests are run.
  private(set) var isStopping = false

  private var lastID: UInt64 = 0
  private var listed: [Connection] = []
  private var postponed: [Connection] = []
  private var waiting: [Connection] = []
  private var gone: [Connection] = []
  private var turnEnd: [() -> Void] = []
  private var dirtyFeeds: [Feed] = []
  private var monitored: [Connection] = []
  private var sweep: (any Disposable)?
  private var feeds: [String: Feed] = [:]

  /// What views show that others may show as well.
  var viewFeeds: [ViewFeed.Key: ViewFeed] = [:]

  /// - Parameters:
  ///   - now: Milliseconds of a monotonic clock, as of the start of the turn.
  ///   - clock: Nanoseconds of a monotonic clock that goes on within a turn.
  ///   - scheduler: For what is sent later, and for clients that stand still.
  package init(
    limits: Limits, now: @escaping () -> UInt64, clock: @escaping () -> UInt64,
    scheduler: any Scheduler
  ) {
    self.limits = limits
    self.now = now
    self.scheduler = scheduler
    time = TurnTime(clock: clock)
  }

  /// A new client.
  package func connect(_ peer: PeerIdentity) -> Connection {
    lastID += 1
    let connection = Connection(id: lastID, peer: peer, hub: self)
    connections[lastID] = connection
    connection.user.connections += 1
    return connection
  }

  func remove(_ connection: Connection) {
    guard connections.removeValue(forKey: connection.id) != nil else { return }
    connection.user.connections -= 1
    if connection.user.isUnused { users[connection.user.uid] = nil }
  }

  // MARK: Users

  /// What the clients of a user use together.
  func share(of uid: UInt32) -> UserShare {
    if let share = users[uid] { return share }
    let share = UserShare(uid: uid)
    users[uid] = share
    return share
  }

  /// The limit that leaves no room for one more client of a user; `nil` when there is room.
  package func limitReached(by uid: UInt32) -> LimitName? {
    guard connections.count < limits.connections else { return .connections }
    guard !owners.contains(uid) else { return nil }
    return users[uid]?.connections ?? 0 < limits.connectionsPerUser ? nil : .connectionsPerUser
  }

  /// Whether a user may have one more call that is answered in a later turn: all have a limit, and one
  /// of them no more than half of it, so that there is room for the others.
  func mayStartLate(for user: UserShare) -> Bool {
    guard lateCalls < limits.allInFlight else { return false }
    return owners.contains(user.uid) || user.lateCalls < max(1, limits.allInFlight / 2)
  }

  func countLate(_ change: Int, of user: UserShare) {
    lateCalls += change
    user.lateCalls += change
  }

  /// Bytes that wait for clients, of all together.
  package var outputBytes: Int { connections.values.reduce(0) { $0 + $1.outputBytes } }

  // MARK: The journal

  /// The journal is durable up to a position, and the services have taken it in.
  package func advance(to position: UInt64) {
    self.position = position
    scheduleMarks()
    let waiting = waiting
    self.waiting = []
    for connection in waiting {
      connection.isWaiting = false
      list(connection)
    }
  }

  /// What was recorded and not durable is lost.
  package func reject(_ error: WireError) {
    for connection in connections.values { connection.reject(error) }
  }

  // MARK: Turns

  /// Notes that a connection has something to send at the end of this turn.
  func list(_ connection: Connection) {
    guard !connection.isListed else { return }
    connection.isListed = true
    listed.append(connection)
  }

  /// Notes that a connection has more to send than may be sent in one turn.
  func postpone(_ connection: Connection) {
    guard !connection.isPostponed else { return }
    connection.isPostponed = true
    postponed.append(connection)
  }

  /// Notes that a connection waits for the journal.
  func await(_ connection: Connection) {
    guard !connection.isWaiting else { return }
    connection.isWaiting = true
    waiting.append(connection)
  }

  /// Notes that a client is gone: it is let go at the end of the turn, not under its own feet.
  func noteGone(_ connection: Connection) {
    gone.append(connection)
  }

  /// Does something at the end of this turn, before anything is sent.
  package func atTurnEnd(_ action: @escaping () -> Void) {
    turnEnd.append(action)
  }

  func markDirty(_ feed: Feed) {
    dirtyFeeds.append(feed)
  }

  /// Sends what this turn has brought, in one write for each client.
  ///
  /// Called at the end of every turn.
  ///
  /// - Returns: Whether there is more to send, which is not to wait for anything but its turn.
  @discardableResult
  package func flush() -> Bool {
    time.goOn()
    let postponed = postponed
    self.postponed = []
    for connection in postponed {
      connection.isPostponed = false
      list(connection)
    }
    while !turnEnd.isEmpty {
      let actions = turnEnd
      turnEnd = []
      for action in actions { action() }
    }
    while !dirtyFeeds.isEmpty || !listed.isEmpty || !gone.isEmpty {
      let feeds = dirtyFeeds
      dirtyFeeds = []
      for feed in feeds { feed.markSubscribers() }
      let connections = listed
      listed = []
      for connection in connections {
        connection.isListed = false
        connection.pump()
      }
      let gone = gone
      self.gone = []
      for connection in gone { connection.end() }
    }
    time.endTurn()
    return !self.postponed.isEmpty || time.hasInterrupted
  }

  // MARK: Feeds

  /// The feed of a key, made when nobody had it.
  func feed<F: Feed>(_ key: String, make: (_ key: String) -> F) -> F {
    if let feed = feeds[key] as? F { return feed }
    let feed = make(key)
    feeds[key] = feed
    return feed
  }

  /// Bytes of what all feeds together keep for those that keep up.
  private static let windowBytes = 64 << 20

  /// Feeds that keep a window of what has happened.
  var windowFeeds: [ObjectIdentifier: Feed] = [:]

  /// Bytes that all of them keep.
  package internal(set) var windowTotal = 0

  /// How much one of them may keep.
  func windowBytes(atMost most: Int) -> Int {
    min(most, Self.windowBytes / max(1, windowFeeds.count))
  }

  /// Makes room when feeds that have kept much while there were few of them take what others need.
  func limitWindows() {
    guard windowTotal > Self.windowBytes else { return }
    let share = windowBytes(atMost: .max) / 2
    for feed in windowFeeds.values {
      feed.trim(to: share)
      feed.countWindow()
    }
  }

  /// The feeds of logs, whose clients are told now and then how far they are.
  var logFeeds: [ObjectIdentifier: LogFeed] = [:]

  /// Seconds after an event that has passed by within which a client is told how far it is.
  private static let secondsBetweenMarks = 10.0
  private var markAlarm: (any Disposable)?

  /// Nobody is to be told any more when there are no feeds of logs.
  func cancelMarks() {
    guard logFeeds.isEmpty else { return }
    markAlarm?.dispose()
    markAlarm = nil
  }

  private func scheduleMarks() {
    guard markAlarm == nil, !logFeeds.isEmpty else { return }
    markAlarm = scheduler.schedule(after: Self.secondsBetweenMarks) { [unowned self] in
      markAlarm = nil
      for feed in logFeeds.values { feed.mark() }
    }
  }

  func dropFeed(_ key: String) {
    feeds[key] = nil
  }

  // MARK: Clients that stand still

  /// Looks at a connection now and then, until it goes on.
  func monitor(_ connection: Connection) {
    guard !connection.isMonitored else { return }
    connection.isMonitored = true
    monitored.append(connection)
    scheduleSweep()
  }

  private func scheduleSweep() {
    guard sweep == nil, !monitored.isEmpty else { return }
    sweep = scheduler.schedule(after: 1) { [weak self] in
      guard let self else { return }
      sweep = nil
      sweepMonitored()
      scheduleSweep()
    }
  }

  private func sweepMonitored() {
    let now = now()
    let connections = monitored
    monitored = []
    for connection in connections {
      connection.isMonitored = false
      guard !connection.isEnded else { continue }
      if let since = connection.partialSince,
        now - since >= UInt64(limits.partialLineMilliseconds)
      {
        connection.close(.lineTimeout)
      } else if let since = connection.stalledSince,
        now - since >= UInt64(limits.stallMilliseconds)
      {
        connection.close(.stalled)
      } else if connection.partialSince != nil || connection.stalledSince != nil {
        monitor(connection)
      }
    }
  }

  // MARK: Ending

  /// The line that says why a client is hung up on.
  package func closingLine(_ reason: Closing, _ limit: LimitName? = nil) -> [UInt8] {
    var buffer = ByteBuffer()
    writeClosing(reason, limit, &buffer)
    return buffer.array
  }

  /// - Parameter limit: The limit that was broken; `nil` for the one that the reason has.
  func writeClosing(_ reason: Closing, _ limit: LimitName?, _ buffer: inout ByteBuffer) {
    Frame.beginNotification("closing", &buffer)
    buffer.append(#""reason":"#)
    buffer.append(quoted: reason.rawValue)
    if let limit = limit ?? reason.limit {
      buffer.append(#","limit":"#)
      buffer.append(quoted: limit.rawValue)
      buffer.append(#","max":"#)
      buffer.append(integer: limits[limit])
    }
    if let reconnectMilliseconds = reason.reconnectMilliseconds {
      buffer.append(#","reconnect_ms":"#)
      buffer.append(integer: reconnectMilliseconds)
    }
    buffer.append(#","epoch":"#)
    buffer.append(quoted: epoch)
    buffer.append(#","last":"#)
    buffer.append(integer: position)
    Frame.endParams(&buffer)
  }

  /// Runs no more requests; what was asked is still answered.
  package func stopReading() {
    isStopping = true
    for connection in connections.values {
      connection.endOpenEnded()
      connection.updateReading()
    }
  }

  /// Hangs up on every client, with the reason.
  package func closeAll(_ reason: Closing) {
    for connection in connections.values { connection.close(reason) }
    sweep?.dispose()
    sweep = nil
    monitored = []
    waiting = []
  }

  /// Whether some client waits for an answer, or for output to be taken, or something that it has
  /// asked waits for its turn.
  package var hasUnfinished: Bool {
    connections.values.contains {
      !$0.held.isEmpty || !$0.heldLate.isEmpty || !$0.late.isEmpty || $0.outputBytes > 0
        || !$0.postponedAnswers.isEmpty || $0.parked != nil || $0.isPostponed
    }
  }
}
