package import Facts
internal import JSON
package import Signals
package import Wire

/// The state that all connections of a daemon share: buffers, time slices, the durable position,
/// and lists of connections with pending work.
package final class Hub {
  /// The bytes of output of one client to gather before sending.
  static let chunkSize = 128 << 10

  /// The most chunks to send to one client in a turn.
  static let chunksPerTurn = 4

  /// The bytes of memory that the shared buffer keeps between turns.
  static let scratchSize = 256 << 10

  /// The limits for clients.
  ///
  /// Changes apply immediately to all connections.
  package var limits: Limits

  /// The time of a monotonic clock in milliseconds.
  package let now: () -> UInt64
  package let scheduler: any Scheduler

  /// The scheduler of each turn's time between the clients.
  let time: TurnTime

  /// The identity of the journal.
  package var epoch = ""

  /// The last durable position of the journal.
  package private(set) var position: UInt64 = 0

  /// The coders for the properties and the intents of views.
  let encoder = JSONEncoder()
  let decoder = JSONDecoder()

  /// Maps an internal error to the one sent to subscribers.
  package var wireError: (any Error) -> WireError = { WireError(.internalError, "\($0)") }

  /// The order in which a view applies the lines of its binder; see ``Assembly``.
  package var lineOrder: ([Assembly.Line]) -> [Assembly.Line] = { $0 }

  /// The connections by number.
  package private(set) var connections: [UInt64: Connection] = [:]

  /// The number of requests since the start.
  package internal(set) var requests: UInt64 = 0
  package internal(set) var subscriptionCount = 0

  /// The number of late calls of all clients.
  package private(set) var lateCalls = 0

  /// The shared resources of each user's clients.
  private var users: [UInt32: UserShare] = [:]

  /// Users exempt from the limits of one user (administrators).
  package var owners: Set<UInt32> = []

  /// The buffer for the answers to the requests that are running.
  var scratch = ByteBuffer()

  /// The connection whose requests are running.
  var current: Connection?

  /// Whether new requests are no longer run.
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

  /// The feeds that views share.
  var viewFeeds: [ViewFeed.Key: ViewFeed] = [:]

  /// - Parameters:
  ///   - now: Returns the milliseconds of a monotonic clock, as of the start of the turn.
  ///   - clock: Returns the nanoseconds of a monotonic clock that advances within a turn.
  ///   - scheduler: Schedules delayed frames and timeouts.
  package init(
    limits: Limits, now: @escaping () -> UInt64, clock: @escaping () -> UInt64,
    scheduler: any Scheduler
  ) {
    self.limits = limits
    self.now = now
    self.scheduler = scheduler
    time = TurnTime(clock: clock)
  }

  /// Creates the connection of a new client.
  package func connect(_ peer: Peer) -> Connection {
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

  /// Returns the shared resources of a user's clients.
  func share(of uid: UInt32) -> UserShare {
    if let share = users[uid] { return share }
    let share = UserShare(uid: uid)
    users[uid] = share
    return share
  }

  /// Returns the limit that prevents one more client of a user; `nil` if there is none.
  package func limitReached(by uid: UInt32) -> LimitName? {
    guard connections.count < limits.connections else { return .connections }
    guard !owners.contains(uid) else { return nil }
    return users[uid]?.connections ?? 0 < limits.connectionsPerUser ? nil : .connectionsPerUser
  }

  /// Returns whether a user may have another late call.
  ///
  /// One user may use at most half of the limit for all, so that there is room for the others.
  func mayStartLate(for user: UserShare) -> Bool {
    guard lateCalls < limits.allInFlight else { return false }
    return owners.contains(user.uid) || user.lateCalls < max(1, limits.allInFlight / 2)
  }

  func countLate(_ change: Int, of user: UserShare) {
    lateCalls += change
    user.lateCalls += change
  }

  /// The bytes of pending output of all clients.
  package var outputBytes: Int { connections.values.reduce(0) { $0 + $1.outputBytes } }

  // MARK: The journal

  /// Advances the durable position.
  ///
  /// The services must have applied all events up to it.
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

  /// Replaces the answers to lost events by an error.
  package func reject(_ error: WireError) {
    for connection in connections.values { connection.reject(error) }
  }

  // MARK: Turns

  /// Lists a connection to be served at the end of this turn.
  func list(_ connection: Connection) {
    guard !connection.isListed else { return }
    connection.isListed = true
    listed.append(connection)
  }

  /// Lists a connection to be served again in the next turn.
  func postpone(_ connection: Connection) {
    guard !connection.isPostponed else { return }
    connection.isPostponed = true
    postponed.append(connection)
  }

  /// Lists a connection to be served when the durable position advances.
  func await(_ connection: Connection) {
    guard !connection.isWaiting else { return }
    connection.isWaiting = true
    waiting.append(connection)
  }

  /// Lists a disconnected client to be removed at the end of the turn, when none of its methods
  /// runs.
  func noteGone(_ connection: Connection) {
    gone.append(connection)
  }

  /// Schedules an action for the end of this turn, before anything is sent.
  package func atTurnEnd(_ action: @escaping () -> Void) {
    turnEnd.append(action)
  }

  func markDirty(_ feed: Feed) {
    dirtyFeeds.append(feed)
  }

  /// Sends the output of this turn, with as few writes for each client as possible.
  ///
  /// Call it at the end of every turn.
  ///
  /// - Returns: Whether there is more to send, so that the next turn must follow without waiting.
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

  /// Returns the feed of a key.
  ///
  /// Creates it if there is none.
  func feed<F: Feed>(_ key: String, make: (_ key: String) -> F) -> F {
    if let feed = feeds[key] as? F { return feed }
    let feed = make(key)
    feeds[key] = feed
    return feed
  }

  /// The most bytes that all feeds together retain.
  private static let windowBytes = 64 << 20

  /// The feeds that retain recent items.
  var windowFeeds: [ObjectIdentifier: Feed] = [:]

  /// The bytes that all feeds together retain.
  package internal(set) var windowTotal = 0

  /// Returns the number of bytes that one feed may retain.
  func windowBytes(atMost most: Int) -> Int {
    min(most, Self.windowBytes / max(1, windowFeeds.count))
  }

  /// Trims all feeds if they together exceed their limit, for example after many were created.
  func limitWindows() {
    guard windowTotal > Self.windowBytes else { return }
    let share = windowBytes(atMost: .max) / 2
    for feed in windowFeeds.values {
      feed.trim(to: share)
      feed.countWindow()
    }
  }

  /// The log feeds.
  ///
  /// They send their subscribers position marks from time to time.
  var logFeeds: [ObjectIdentifier: LogFeed] = [:]

  /// The delay in seconds after which subscribers learn the position of events that they do not
  /// receive.
  private static let secondsBetweenMarks = 10.0
  private var markAlarm: (any Disposable)?

  /// Cancels the next mark if there are no log feeds.
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

  // MARK: Stalled clients

  /// Checks a connection once a second until it is no longer stalled.
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

  /// Returns the line with the reason for closing a connection.
  package func closingLine(_ reason: Closing, _ limit: LimitName? = nil) -> [UInt8] {
    var buffer = ByteBuffer()
    writeClosing(reason, limit, &buffer)
    return buffer.array
  }

  /// - Parameter limit: The exceeded limit; `nil` for the usual limit of the reason.
  func writeClosing(_ reason: Closing, _ limit: LimitName?, _ buffer: inout ByteBuffer) {
    let limit = limit ?? reason.limit
    Frame.notification("closing", &buffer) {
      $0.member("reason", reason.rawValue)
      $0.member("limit", limit?.rawValue)
      $0.member("max", limit.map { limits[$0] })
      $0.member("reconnect_ms", reason.reconnectMilliseconds)
      $0.member("epoch", epoch)
      $0.member("last", position)
    }
  }

  /// Stops running new requests.
  ///
  /// Requests that were run are still answered.
  package func stopReading() {
    isStopping = true
    for connection in connections.values {
      connection.endOpenEnded()
      connection.updateReading()
    }
  }

  /// Closes all connections with a reason.
  package func closeAll(_ reason: Closing) {
    for connection in connections.values { connection.close(reason) }
    sweep?.dispose()
    sweep = nil
    monitored = []
    waiting = []
  }

  /// Whether some client still waits for an answer, for output or for a parked request.
  package var hasUnfinished: Bool {
    connections.values.contains {
      !$0.held.isEmpty || !$0.heldLate.isEmpty || !$0.late.isEmpty || $0.outputBytes > 0
        || !$0.postponedAnswers.isEmpty || $0.parked != nil || $0.isPostponed
    }
  }
}
