package import EventLoop
package import Journal
package import Model
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
  package weak var delegate: (any EventStoreDelegate)?
  package let appender: Appender
  package let names = Names()
  package let reports: StoreReports
  let settings: PostgresSettings
  let loop: Loop
  private let clock: () -> Int64
  private let isReadOnly: Bool
  var queue: CommitQueue
  let connection: DatabaseConnection
  var lease = LeaseState()
  var readers: PostgresReaders
  var isClosed = false

  /// Messages to and from the other daemons.
  private(set) lazy var letters = PostgresMail(self)

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
    // A journal that is only read can lose nothing.
    let opening = try PostgresOpening(
      settings, requiresReplication: settings.requiresReplication && !isReadOnly, onWait: onWait)
    (epoch, first) = (opening.epoch, opening.first)
    reports = StoreReports(notes: opening.notes)
    appender = Appender(last: opening.last, time: opening.time)
    queue = CommitQueue(lastChecksum: opening.checksum)
    connection = DatabaseConnection(settings, on: loop)
    readers = PostgresReaders(settings.string, on: loop)
    refusal =
      isReadOnly
      ? .readOnly(reason: "read_only", outcome: .none) : .following(active: nil, address: nil)
    connection.delegate = self
    loop.onTurnEnd { [weak self] in self?.submit() }
  }

  package func contend() {
    guard !isReadOnly, !isClosed else { return }
    guard lease.beatTimer == nil else { return hint() }
    queue.retryTimer = Timer(infallibleOn: loop) { [unowned self] in sendInFlight() }
    lease.beatTimer = Timer(infallibleOn: loop) { [unowned self] in beat() }
    lease.beatTimer?.start(
      afterMilliseconds: Self.beatMilliseconds, everyMilliseconds: Self.beatMilliseconds)
    connection.start()
  }

  /// Ends everything but the readers.
  private func stop() {
    connection.close()
    queue.retryTimer?.close()
    queue.retryTimer = nil
    lease.close()
    isClosed = true
  }

  /// Ends the threads and the connection.
  ///
  /// Run the loop until ``durable`` equals ``last`` before, and call ``resign()``.
  package func close() {
    let isAway = connection.isAway
    stop()
    connection.hosts.close()
    if refusal == nil { refusal = .readOnly(reason: "closed", outcome: .none) }
    readers.close(isAway: isAway)
  }

  /// Called with one sentence when the database goes away and when the reason changes, and with
  /// `nil` when it is back.
  package var onInterruption: (_ reason: String?) -> Void {
    get { connection.onInterruption }
    set { connection.onInterruption = newValue }
  }

  var link: PostgresLink? { connection.link }

  // MARK: Appending

  package var isShared: Bool { true }
  package var now: Int64 { max(appender.time, clock()) }
  package var nodes: [ClusterNode] { lease.head?.nodes ?? [] }
  package var mail: (any DaemonMail)? { isReadOnly ? nil : letters }
  package var interruption: String? {
    isReadOnly || isClosed ? nil : connection.interruption
  }

  package func append(
    to stream: Int, _ type: String, _ data: Span<UInt8>, from origin: EventOrigin,
    growing growth: Int, at time: Int64
  ) -> Appended {
    precondition(!isRefusing, "appended to a journal that takes nothing")
    let appended = appender.append(
      to: stream, in: names, by: origin.user, growing: growth, at: time)
    let names = names
    queue.batch.append(appended, time, names[stream], type, data, origin)
    return appended
  }

  package func seal(meta: String?) {
    appender.seal()
    queue.seal(meta: meta)
  }

  package func rollBackUnsealed() {
    queue.batch.removeLast(Int(appender.last - appender.sealed))
    appender.rollBackUnsealed()
  }

  /// Does nothing: every event is on the disks of the server and of its standbys.
  package func requireDisk() {}

  package func reachDisk() -> Signal<Void, JournalError> { Signal(just: ()) }

  /// Sends the appended events, or lets them wait for those in flight.
  package func submit() {
    sendNext()
    letters.flush()
  }

  /// Sends the next batch, if none is in flight.
  func sendNext() {
    guard queue.inFlight.isEmpty, link != nil, case .active = role,
      queue.sendNext(isSealed: appender.sealed == appender.last, at: Process.nanoseconds)
    else { return }
    sendInFlight()
  }

  /// Marks the batch in flight as durable.
  func commitInFlight() {
    guard !queue.inFlight.isEmpty else { return }
    connection.endWait()
    let (events, nanoseconds) = queue.commit(at: Process.nanoseconds)
    reports.addCommit(nanoseconds: nanoseconds)
    reports.addEvents(events.count)
    appender.commit(upTo: events.last)
    // The server works on the next batch while the services apply this one.
    sendNext()
    delegate?.store(committed: events)
  }

  private func dropPending() {
    queue.discard()
    connection.endWait()
    appender.reject()
  }

  /// Drops all events that are not durable, and reports the reason.
  func reject(_ error: JournalError) {
    dropPending()
    delegate?.store(rejected: error)
  }

  /// Ends the store for good, because it cannot trust the journal any more.
  func fail(_ error: JournalError) {
    guard !isClosed else { return }
    stop()
    refusal = error
    dropPending()
    delegate?.store(failed: error)
  }

  /// Ends the store so that the daemon opens the journal again.
  func end(because reason: String) {
    guard !isClosed else { return }
    stop()
    refusal = .readOnly(reason: "superseded", outcome: .none)
    if last > durable { reject(.readOnly(reason: "superseded", outcome: .none)) }
    setRole(.over(reason: reason))
  }

  func setRole(_ role: StoreRole) {
    guard role != self.role else { return }
    self.role = role
    updateRefusal()
    watchLock()
    reports.changeRole(to: role)
    letters.sendChange()
  }

  func updateRefusal() {
    guard !isClosed, !isReadOnly else { return }
    switch role {
    case .active:
      refusal = connection.isOutOfPatience ? .databaseAway : nil
    case .following(let node):
      refusal = .following(active: node?.name, address: node?.address)
    case .joining, .over: refusal = .following(active: nil, address: nil)
    }
  }

  // MARK: Notes

  package func keep(_ text: String, as note: JournalNote) {
    if reports.change(note, to: text) { sendNote(note) }
  }
}
