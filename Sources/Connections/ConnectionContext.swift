package import EventLoop
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
  package var limits: Limits {
    get { users.limits }
    set { users.limits = newValue }
  }

  /// The time of a monotonic clock in milliseconds.
  package let now: () -> UInt64
  package let scheduler: any Scheduler

  /// The scheduler of each turn's time between the clients.
  let time: TurnTime

  /// The shared resources of each user's clients and work.
  let users: UserShares

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

  /// The identity of the journal, and its last durable position.
  private var journal: (epoch: String, position: UInt64) = ("", 0)

  /// The numbers of what all clients have.
  package internal(set) var counts = ClientCounts()

  /// The buffer for the answers to the requests that are running.
  var scratch = ByteBuffer()

  /// The client whose requests are running.
  ///
  /// Not the object, which each request would retain.
  var current: ObjectIdentifier?

  /// The time at which the daemon began to stop, in milliseconds; `nil` if it does not.
  var stoppingSince: UInt64?

  /// Called when a client has ended.
  var onEnd: (Client) -> Void = { _ in }

  /// The output that is sent together; `nil` if each is sent by itself.
  private(set) var gathered: GatheredOutput?

  private var agenda = TurnAgenda()
  private var slow = SlowClients()

  init(
    limits: Limits, now: @escaping () -> UInt64, clock: @escaping () -> UInt64,
    scheduler: any Scheduler
  ) {
    users = UserShares(limits)
    self.now = now
    self.scheduler = scheduler
    time = TurnTime(clock: clock)
    stages = StageClock(clock: clock)
    slowLog = SlowLog(clock: clock)
    broadcasts = BroadcastTable(on: scheduler)
    offerWork(to: views)
  }

  /// The limits of roles; call ``ConnectionTable/refreshLimits()`` after a change.
  package var roleLimits: RoleLimits {
    get { users.roleLimits }
    set { users.roleLimits = newValue }
  }

  /// The identity of the journal.
  package var epoch: String {
    get { journal.epoch }
    set { journal.epoch = newValue }
  }

  /// The last durable position of the journal.
  package var position: UInt64 { journal.position }

  /// Users exempt from the limits of one user (administrators).
  package var owners: Set<UInt32> {
    get { users.owners }
    set { users.owners = newValue }
  }

  /// Sends small outputs of several clients together from now on.
  package func sendTogether(with batch: SendBatch) { gathered = GatheredOutput(batch) }

  /// The batch of outputs that are sent together; `nil` if there is none.
  package var batch: SendBatch? { gathered?.batch }

  /// Whether new requests are no longer run.
  package var isStopping: Bool { stoppingSince != nil }

  // MARK: Late calls

  /// Returns whether a user may have another late call.
  ///
  /// One user may use at most half of the limit for all, so that there is room for the others.
  func mayStartLate(for user: UserShare) -> Bool {
    guard counts.lateCalls < limits.allInFlight else { return false }
    return owners.contains(user.uid) || user.lateCalls < max(1, limits.allInFlight / 2)
  }

  func countLate(_ change: Int, of user: UserShare) {
    counts.lateCalls += change
    user.lateCalls += change
  }

  // MARK: Turns

  /// Does work for a user within a request of another one.
  package func charge(_ user: UInt32, for work: () -> Void) {
    time.charge(users.share(of: user), for: work)
  }

  /// Begins to measure what a commit costs.
  package func beginCommit() { time.beginCommit() }

  /// Charges a user for what the commit has cost since it began, or since the last charge.
  package func chargeCommit(to user: UInt32) { time.chargeCommit(to: users.share(of: user)) }

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
    journal.position = position
    slowLog.advance(to: position)
    broadcasts.scheduleMarks()
    agenda.listWaiting()
  }

  /// Lists a client to be served at the end of this turn.
  func list(_ client: Client) { agenda.list(client) }

  /// Lists a client to be served again in the next turn, after the others.
  ///
  /// - Parameter isFirst: Whether it comes before the others, because it had no time in this turn.
  func postpone(_ client: Client, isFirst: Bool = false) {
    agenda.postpone(client, isFirst: isFirst)
  }

  /// Lists a client to be served when the durable position advances.
  func await(_ client: Client) { agenda.await(client) }

  /// Lists a disconnected client to be removed at the end of the turn, when none of its methods
  /// runs.
  func removeAtTurnEnd(_ client: Client) {
    guard !client.isGone else { return }
    client.isGone = true
    agenda.appendGone(client)
  }

  /// Schedules an action for the end of this turn, before anything is sent.
  package func atTurnEnd(_ action: @escaping () -> Void) { agenda.append(action) }

  /// Sends the output of this turn.
  ///
  /// - Returns: Whether there is more to send, so that the next turn must follow without waiting.
  func flush() -> Bool {
    time.goOn()
    agenda.listPostponed()
    while agenda.hasActions {
      for action in agenda.removeActions() { action() }
    }
    traffic.turns &+= 1
    let begun = agenda.isEmpty && !broadcasts.hasChanges ? nil : stages.beginDelivery()
    time.beginDelivery()
    while broadcasts.hasChanges || agenda.hasClients {
      broadcasts.markSubscribers()
      pump(agenda.removeListed())
      for client in agenda.removeGone() { client.endSoon() }
    }
    broadcasts.dropFrames()
    handover?.flushed(at: position)
    if let begun { stages.endDelivery(begun) }
    checkWork()
    time.endTurn()
    // A client that has ended in this turn may have left something to do.
    return agenda.hasPostponed || agenda.hasActions || time.hasInterrupted
  }

  private func pump(_ clients: [Client]) {
    let gathered = gathered
    gathered?.open(forClients: clients.count)
    for client in clients {
      client.isListed = false
      client.pump()
      gathered?.sendIfFull()
    }
    gathered?.close()
  }

  // MARK: Slow clients

  /// Checks a client once a second until it is no longer slow.
  func monitor(_ client: Client) {
    if slow.append(client) { scheduleSweep() }
  }

  /// Stops checking a client that has ended.
  func stopMonitoring(_ client: Client) { slow.remove(client) }

  private func scheduleSweep() {
    guard slow.needsSweep else { return }
    // Not weak: a weak reference would slow down every use of the context.
    slow.sweep = scheduler.schedule(after: 1) { [unowned self] in
      slow.sweep = nil
      sweepSlow()
      scheduleSweep()
    }
  }

  private func sweepSlow() {
    let now = now()
    for client in slow.removeAll() {
      client.isMonitored = false
      if client.checkProgress(at: now) { monitor(client) }
    }
  }

  /// Stops checking and serving clients that wait, after all connections were closed.
  func stop() {
    slow.sweep?.dispose()
    slow = SlowClients()
    agenda.removeWaiting()
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
