package import EventLoop
package import Facts
package import Journal
package import Signals

/// A journal in PostgreSQL, which several daemons may share.
///
/// The active daemon assigns positions at once and sends the events of a turn as one batch. One
/// batch is in flight; the next one gathers. All of this runs on the loop, over a non-blocking
/// connection. Reading runs on threads with connections of their own.
///
/// When the connection is lost, the outcome of the batch in flight is unknown. The store connects
/// again, commits something of its own, and compares the head of the journal with what it has sent.
/// If the batch is not there, it sends the same records with the same positions.
package final class PostgresStore: DaemonStore {
  package let epoch: String
  package internal(set) var first: UInt64
  package internal(set) var refusal: JournalError?
  package var isRefusing: Bool { refusal != nil }
  package internal(set) var role = StoreRole.joining
  package let appender: Appender
  package let names = Names()

  /// The number of snapshots that are not saved yet.
  package internal(set) var waitingSnapshots = 0

  /// The durations of all commits since the opening.
  package internal(set) var commitTimes = Histogram()

  /// The number of events that became durable since the opening.
  package internal(set) var committedEvents: UInt64 = 0

  /// Called with one sentence when the database goes away and when the reason changes, and with
  /// `nil` when it is back.
  package var onInterruption: (_ reason: String?) -> Void = { _ in }

  var times = CommitTimes()
  let settings: PostgresSettings
  let loop: Loop
  private let clock: () -> Int64
  private let isReadOnly: Bool
  var notes: [JournalNote: String]

  let committedSubject = PassthroughSubject<RecordBatch, JournalError>()
  let rejectedSubject = PassthroughSubject<JournalError, Never>()
  let followedSubject = PassthroughSubject<RecordBatch, Never>()
  let rolesSubject = PassthroughSubject<StoreRole, Never>()
  let stalledSubject = PassthroughSubject<JournalError, Never>()
  let savedSubject = PassthroughSubject<SnapshotReport, Never>()
  let removedSubject = PassthroughSubject<Result<RemovalReport, JournalError>, Never>()

  /// The events that wait for the batch in flight, and those of the open unit.
  private var batch = RecordBatch()

  /// The full batches that wait, in order.
  private var waiting = Queue<RecordBatch>()

  /// The events whose outcome is not known.
  var inFlight = RecordBatch()

  /// The time at which the batch in flight was first sent, in nanoseconds.
  var sentAt: UInt64 = 0

  let rows = EventRows()

  /// The checksum of the last durable event; `nil` if there is none, or if it is not known.
  var lastChecksum: Int64?

  // The connection; see PostgresStore+Connecting.
  let hosts: HostNames
  let dialer: PostgresDialer

  /// The connection, as soon as its session has committed something.
  var link: PostgresLink?

  /// The connection whose session is being prepared.
  var greeting: PostgresLink?

  /// The host that could not commit.
  var avoided: PostgresHost?

  /// The time limit for the first commit on a connection, in milliseconds.
  var greetMilliseconds: UInt64

  /// The time since which there is no connection, in milliseconds of the loop, and the last reason.
  var away: (since: UInt64, reason: String)?

  /// Whether commands are refused, because there was no connection for too long.
  var isOutOfPatience = false
  var connectTimer: EventLoop.Timer?
  var connectPause = GrowingPause()

  /// The last reported reason why there is no connection, and its time.
  var report: (reason: String, at: UInt64)?
  var answerTimer: EventLoop.Timer?

  /// Sends the batch in flight again, after an error that may pass.
  var retryTimer: EventLoop.Timer?
  var retryPause = GrowingPause()
  var beatTimer: EventLoop.Timer?

  // The lease; see PostgresStore+Lease.
  var lease = LeaseState()

  /// Waits for the end of the active daemon, while this one follows.
  var lockWatch: LockWatch?

  /// Messages to and from the other daemons.
  private(set) lazy var letters = PostgresMail(self)

  // Other threads; see PostgresStore+Reading.
  let start: PostgresReader
  var threads: Threads?
  var isClosed = false

  /// The limits of a batch.
  private static let (maxCount, maxBytes) = (4_096, 4 << 20)

  // MARK: Opening

  /// Opens a journal that exists.
  ///
  /// - Parameters:
  ///   - isReadOnly: Whether the store only shows the state of this moment, and takes no part.
  ///   - clock: The clock, in microseconds since 1970.
  ///   - onWait: Called with the reason before each pause, while no server takes writes.
  /// - Throws: ``JournalError`` with what to change; nothing was written then.
  package init(
    _ settings: PostgresSettings, isReadOnly: Bool = false, on loop: Loop,
    clock: @escaping () -> Int64, onWait: (_ reason: String) throws(JournalError) -> Void
  ) throws(JournalError) {
    (self.settings, self.loop, self.clock) = (settings, loop, clock)
    self.isReadOnly = isReadOnly
    greetMilliseconds = settings.answerMilliseconds
    // A journal that is only read can lose nothing.
    let opening = try PostgresOpening(
      settings, requiresReplication: settings.requiresReplication && !isReadOnly, onWait: onWait)
    (epoch, first, notes) = (opening.epoch, opening.first, opening.notes)
    start = PostgresReader(settings.string)
    appender = Appender(last: opening.last, time: opening.time)
    lastChecksum = opening.checksum
    hosts = HostNames(on: loop)
    dialer = PostgresDialer(settings.string, hosts, on: loop)
    refusal =
      isReadOnly
      ? .readOnly(reason: "read_only", outcome: .none) : .following(active: nil, address: nil)
    threads = Threads(settings, on: loop)
    loop.onTurnEnd { [weak self] in self?.submit() }
  }

  package func contend() {
    guard !isReadOnly, !isClosed else { return }
    guard beatTimer == nil else { return hint() }
    startTimers()
    connect()
  }

  // MARK: Appending

  package var isShared: Bool { true }
  package var now: Int64 { max(appender.time, clock()) }
  package var committed: Signal<RecordBatch, JournalError> { committedSubject.toSignal() }
  package var rejected: Signal<JournalError, Never> { rejectedSubject.toSignal() }
  package var stalled: Signal<JournalError, Never> { stalledSubject.toSignal() }
  package var followed: Signal<RecordBatch, Never> { followedSubject.toSignal() }
  package var roles: Signal<StoreRole, Never> { rolesSubject.toSignal() }
  package var nodes: [ClusterNode] { lease.head?.nodes ?? [] }
  package var mail: (any DaemonMail)? { isReadOnly ? nil : letters }
  package var interruption: String? {
    guard !isReadOnly, !isClosed, link == nil else { return nil }
    return away?.reason ?? "no connection yet"
  }

  package func append(
    to stream: Int, _ type: String, _ data: Span<UInt8>, from origin: borrowing EventOrigin,
    growing growth: Int, at time: Int64
  ) -> Appended {
    precondition(!isRefusing, "appended to a journal that takes nothing")
    let appended = appender.append(
      to: stream, in: names, by: origin.user, growing: growth, at: time)
    let names = names
    batch.append(appended, time, names[stream], type, data, origin)
    return appended
  }

  package func seal(meta: String?) {
    if let meta, !batch.isEmpty { batch.replaceMeta(meta) }
    appender.seal()
    // Between two units, because each is written completely or not at all.
    guard batch.count >= Self.maxCount || batch.byteCount >= Self.maxBytes else { return }
    waiting.append(batch)
    batch = RecordBatch()
  }

  package func takeBack() {
    batch.removeLast(Int(appender.last - appender.sealed))
    appender.takeBack()
  }

  /// Does nothing: every event is on the disks of the server and of its standbys.
  package func requireDisk() {}

  package func reachDisk() -> Signal<Void, JournalError> { Signal(just: ()) }

  package func follow(_ record: Record, to stream: Int, by user: UInt32, growing growth: Int) {
    appender.follow(record, to: stream, in: names, by: user, growing: growth)
  }

  package func followGrowth(of stream: Int, by growth: Int, for user: UInt32) {
    appender.followGrowth(of: stream, by: growth, for: user)
  }

  package func followRelease(of stream: Int) { appender.followRelease(of: stream) }

  /// Sends the appended events, or lets them wait for those in flight.
  package func submit() {
    sendNext()
    letters.flush()
  }

  /// Sends the next batch, if none is in flight.
  func sendNext() {
    guard inFlight.isEmpty, link != nil, case .active = role else { return }
    if let next = waiting.popFirst() {
      inFlight = next
    } else {
      guard !batch.isEmpty, appender.sealed == appender.last else { return }
      inFlight = batch
      batch = RecordBatch()
    }
    sentAt = Process.nanoseconds
    sendInFlight()
  }

  /// Marks the batch in flight as durable.
  func commitInFlight() {
    guard !inFlight.isEmpty else { return }
    let events = inFlight
    inFlight = RecordBatch()
    answerTimer?.stop()
    retryPause.reset()
    let elapsed = Process.nanoseconds - sentAt
    times.commits += 1
    times.events += events.count
    times.totalNanoseconds += elapsed
    times.maxNanoseconds = max(times.maxNanoseconds, elapsed)
    commitTimes.add(elapsed)
    committedEvents &+= UInt64(events.count)
    lastChecksum = rows.lastChecksum(events)
    appender.commit(upTo: events.last)
    // The server works on the next batch while the services apply this one.
    sendNext()
    committedSubject.send(events)
  }

  private func dropPending() {
    (batch, inFlight) = (RecordBatch(), RecordBatch())
    waiting.removeAll()
    answerTimer?.stop()
    retryTimer?.stop()
    appender.reject()
  }

  /// Drops all events that are not durable, and reports the reason.
  func reject(_ error: JournalError) {
    dropPending()
    rejectedSubject.send(error)
  }

  /// Ends the store for good, because it cannot trust the journal any more.
  func fail(_ error: JournalError) {
    guard !isClosed else { return }
    disconnect()
    stopTimers()
    isClosed = true
    refusal = error
    dropPending()
    committedSubject.on(.failed(error))
  }

  /// Ends the store so that the daemon opens the journal again.
  func end(because reason: String) {
    guard !isClosed else { return }
    disconnect()
    stopTimers()
    isClosed = true
    refusal = .readOnly(reason: "superseded", outcome: .none)
    if last > durable { reject(.readOnly(reason: "superseded", outcome: .none)) }
    setRole(.over(reason: reason))
  }

  func setRole(_ role: StoreRole) {
    guard role != self.role else { return }
    self.role = role
    updateRefusal()
    watchLock()
    rolesSubject.send(role)
    letters.noteChange()
  }

  func updateRefusal() {
    guard !isClosed, !isReadOnly else { return }
    switch role {
    case .active:
      refusal = isOutOfPatience ? .databaseAway : nil
    case .following(let node):
      refusal = .following(active: node?.name, address: node?.address)
    case .joining, .over: refusal = .following(active: nil, address: nil)
    }
  }

  /// Returns the durations of commits since the last call.
  package func takeCommitTimes() -> CommitTimes {
    defer { times = CommitTimes() }
    return times
  }

  // MARK: Notes

  package func note(_ note: JournalNote) -> String? { notes[note] }

  package func keep(_ text: String, as note: JournalNote) {
    guard notes[note] != text else { return }
    notes[note] = text
    sendNote(note)
  }
}
