internal import JSON
package import Signals
package import Wire

/// The state that all connections of a daemon share: limits, buffers, time slices, the durable
/// position, and lists of clients with pending work.
package final class ConnectionContext {
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

  /// The limits of roles; call ``ConnectionTable/refreshLimits()`` after a change.
  package var roleLimits = RoleLimits()

  /// The time of a monotonic clock in milliseconds.
  package let now: () -> UInt64
  package let scheduler: any Scheduler

  /// The scheduler of each turn's time between the clients.
  let time: TurnTime

  /// The shared resources of each user's clients and work.
  let users = UserShares()

  /// Cumulative counters, for the metrics.
  package internal(set) var traffic = Traffic()

  /// The durations of the stages of requests, for the metrics.
  ///
  /// A structure, so that requests that are not measured only read a flag.
  package internal(set) var stages: StageClock

  /// Collects slow requests.
  let slowLog: SlowLog

  /// The data that subscriptions share.
  package let broadcasts: BroadcastTable

  /// The coders and the content that views share.
  package let views = ViewContext()

  /// Keeps the connections over a restart; `nil` if they end with the daemon.
  package var handover: Handover?

  /// The identity of the journal.
  package var epoch = ""

  /// The last durable position of the journal.
  package private(set) var position: UInt64 = 0

  /// The number of open connections.
  package internal(set) var connectionCount = 0

  /// The number of requests since the start.
  package internal(set) var requests: UInt64 = 0
  package internal(set) var subscriptionCount = 0

  /// The number of late calls of all clients.
  package private(set) var lateCalls = 0

  /// Users exempt from the limits of one user (administrators).
  package var owners: Set<UInt32> = []

  /// The buffer for the answers to the requests that are running.
  var scratch = ByteBuffer()

  /// The client whose requests are running.
  ///
  /// Not the object, which each request would retain.
  var current: ObjectIdentifier?

  /// Whether new requests are no longer run.
  package internal(set) var isStopping = false

  /// The time at which the daemon began to stop, in milliseconds; `nil` if it does not.
  var stoppingSince: UInt64?

  /// Called when a client has ended.
  var onEnd: (Client) -> Void = { _ in }

  private var listed: [Client] = []
  private var postponed: [Client] = []

  /// The postponed clients that had no time at all in the last turn.
  private var unserved: [Client] = []
  private var waiting: [Client] = []
  private var gone: [Client] = []
  private var turnEnd: [() -> Void] = []
  private var monitored: [Client] = []
  private var sweep: (any Disposable)?

  init(
    limits: Limits, now: @escaping () -> UInt64, clock: @escaping () -> UInt64,
    scheduler: any Scheduler
  ) {
    self.limits = limits
    self.now = now
    self.scheduler = scheduler
    time = TurnTime(clock: clock)
    stages = StageClock(clock: clock)
    slowLog = SlowLog(clock: clock)
    broadcasts = BroadcastTable(on: scheduler)
  }

  // MARK: Late calls

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

  // MARK: Turns

  /// Whether the running client must stop before its next request; see ``TurnTime/isUp()``.
  ///
  /// A function of the context, because a caller would retain its ``time``.
  var isTimeUp: Bool { time.isUp() }

  /// Charges a user for sent bytes.
  func charge(_ bytes: Int, to user: UserShare) { time.charge(bytes, to: user) }

  /// Whether a user's share of this turn is used up.
  func isUsedUp(by user: UserShare) -> Bool { time.isUsedUp(by: user) }

  /// The number of the turn.
  package var turn: UInt64 { traffic.turns }

  /// Advances the durable position.
  func advance(to position: UInt64) {
    self.position = position
    slowLog.advance(to: position)
    broadcasts.scheduleMarks()
    for client in waiting {
      client.isWaiting = false
      list(client)
    }
    // Its capacity is bounded by the number of clients.
    waiting.removeAll(keepingCapacity: true)
  }

  /// Lists a client to be served at the end of this turn.
  func list(_ client: Client) {
    guard !client.isListed else { return }
    client.isListed = true
    listed.append(client)
  }

  /// Lists a client to be served again in the next turn, after the others.
  ///
  /// - Parameter isFirst: Whether it comes before the others, because it had no time in this turn.
  func postpone(_ client: Client, isFirst: Bool = false) {
    guard !client.isPostponed else { return }
    client.isPostponed = true
    if isFirst { unserved.append(client) } else { postponed.append(client) }
  }

  /// Lists a client to be served when the durable position advances.
  func await(_ client: Client) {
    guard !client.isWaiting else { return }
    client.isWaiting = true
    waiting.append(client)
  }

  /// Lists a disconnected client to be removed at the end of the turn, when none of its methods
  /// runs.
  func removeAtTurnEnd(_ client: Client) {
    gone.append(client)
  }

  /// Schedules an action for the end of this turn, before anything is sent.
  package func atTurnEnd(_ action: @escaping () -> Void) {
    turnEnd.append(action)
  }

  /// Sends the output of this turn.
  ///
  /// - Returns: Whether there is more to send, so that the next turn must follow without waiting.
  func flush() -> Bool {
    time.goOn()
    listPostponed()
    while !turnEnd.isEmpty {
      let actions = turnEnd
      turnEnd = []
      for action in actions { action() }
    }
    traffic.turns &+= 1
    let begun = listed.isEmpty && !broadcasts.hasChanges ? nil : stages.beginDelivery()
    time.beginDelivery()
    while broadcasts.hasChanges || !listed.isEmpty || !gone.isEmpty {
      broadcasts.markSubscribers()
      let clients = listed
      listed = []
      for client in clients {
        client.isListed = false
        client.pump()
      }
      let gone = gone
      self.gone = []
      for client in gone { client.end() }
    }
    broadcasts.dropFrames()
    handover?.flushed(at: position)
    if let begun { stages.endDelivery(begun) }
    checkWork()
    time.endTurn()
    // A client that has ended in this turn may have left something to do.
    return !postponed.isEmpty || !unserved.isEmpty || !turnEnd.isEmpty || time.hasInterrupted
  }

  /// Lists postponed clients: those that had no time first, so that all of a user's clients have
  /// their turn.
  private func listPostponed() {
    guard !postponed.isEmpty || !unserved.isEmpty else { return }
    let (first, last) = (unserved, postponed)
    (unserved, postponed) = ([], [])
    listed.removeAll(where: \.isPostponed)
    for client in first + last { (client.isPostponed, client.isListed) = (false, true) }
    listed = first + listed + last
  }

  // MARK: Slow clients

  /// Checks a client once a second until it is no longer slow.
  func monitor(_ client: Client) {
    guard !client.isMonitored else { return }
    client.isMonitored = true
    monitored.append(client)
    scheduleSweep()
  }

  private func scheduleSweep() {
    guard sweep == nil, !monitored.isEmpty else { return }
    // Not weak: a weak reference would slow down every use of the context.
    sweep = scheduler.schedule(after: 1) { [unowned self] in
      sweep = nil
      sweepMonitored()
      scheduleSweep()
    }
  }

  private func sweepMonitored() {
    let now = now()
    let clients = monitored
    monitored = []
    for client in clients {
      client.isMonitored = false
      if client.checkProgress(at: now) { monitor(client) }
    }
  }

  /// Stops checking and serving clients that wait, after all connections were closed.
  func stop() {
    sweep?.dispose()
    sweep = nil
    monitored = []
    waiting = []
    time.dropWork()
  }

  // MARK: Closing

  /// Appends the line with the reason for closing a connection.
  ///
  /// - Parameter limit: The exceeded limit; `nil` for the usual limit of the reason.
  func writeClosing(
    _ reason: Closing, _ limit: LimitName?, of limits: Limits, _ buffer: inout ByteBuffer
  ) {
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
}
