package import EventLoop
package import Journal
package import Model
package import Signals

/// A journal in one SQLite file, and a ``Tail`` before it.
///
/// The loop assigns positions. With the durabilities `os` and `interval` it appends the events of a
/// turn to the tail itself. Otherwise it passes them to the writer thread, which appends all waiting
/// events and flushes them. The loop never waits for the disk. Another thread moves the events into
/// the database, and two more read.
package final class SQLiteStore: DaemonStore {
  package private(set) var first: UInt64
  package private(set) var refusal: JournalError?
  package var isRefusing: Bool { refusal != nil }
  package weak var delegate: (any EventStoreDelegate)?
  package let appender: Appender
  package let names = Names()
  package let reports: StoreReports

  /// Called on the loop when the state of the write-ahead log changes.
  package var onLogNotice: (LogNotice) -> Void = { _ in }

  private let loop: Loop
  private let clock: () -> Int64
  private var queue = WriteQueue()

  /// The reports of the threads that were not handled yet, oldest first.
  private var inbox = Queue<SQLiteWriter.Report>()

  /// Whether handling stopped in this turn, and goes on in the next one.
  private var isPaused = false

  /// The nanoseconds of a turn after which no other batch of durable events is reported.
  ///
  /// While the disk is slow, events of many turns become durable at once.
  package var reportingTime: UInt64 = 2_000_000

  /// The callbacks that wait for the disk, oldest first.
  private var waitingForDisk = Queue<(JournalError?) -> Void>()
  private let files: OpenJournal
  private let start: SQLiteReader
  /// Whether a write failed in a way that makes later writes unreliable.
  private var hasFailed = false
  private var threads: Threads?

  /// The tail, unless the journal is only read.
  private let tail: Tail?

  /// Whether the loop appends to the tail itself.
  private let commitsOnLoop: Bool

  /// The number of events at which a batch goes to the writer before the turn ends.
  ///
  /// Both threads then work at the same time instead of waiting for each other.
  private static let batchSize = 128

  // MARK: Opening

  /// Opens a journal.
  ///
  /// Creates it if it is missing and opened for writing.
  ///
  /// - Parameters:
  ///   - path: The SQLite file; `path.lock` beside it is locked.
  ///   - durability: See ``Durability``. `nil` opens the journal read-only: nothing is created or
  ///     changed, and every append is refused.
  ///   - daemon: The name of the daemon. A journal of another one is refused.
  ///   - patience: The milliseconds for which the database's thread waits for another process that
  ///     writes.
  ///   - clock: The clock, in microseconds since 1970.
  /// - Throws: ``JournalError``.
  package init(
    path: String, durability: Durability?, of daemon: String = "binderd", on loop: Loop,
    patience: Int32 = 1_000,
    clock: @escaping () -> Int64
  ) throws(JournalError) {
    files = try OpenJournal(
      path: path, for: durability.map { .writing($0) } ?? .serving, of: daemon)
    self.loop = loop
    self.clock = clock
    tail = files.tail
    commitsOnLoop = durability != nil && durability != .always
    start = files.reader
    first = files.first
    reports = StoreReports(notes: files.notes)
    appender = Appender(last: files.last, time: files.time)
    if durability == nil { refusal = .readOnly(reason: "read_only", outcome: .none) }
    let mailbox: Mailbox<SQLiteWriter.Report>
    do throws(SystemError) {
      mailbox = try Mailbox(on: loop) { [weak self] reports in
        self?.receive(reports)
      }
    } catch {
      throw .unavailable(detail: "\(error)")
    }
    threads = try Threads(files, durability, patience, reportingTo: mailbox, on: loop)
    loop.onTurnEnd { [weak self] in self?.endTurn() }
  }

  /// Waits for the writer, and ends the threads.
  ///
  /// All submitted events are written, but not reported. To receive the reports, run the loop until
  /// ``durable`` equals ``last`` before closing.
  package func close() {
    guard let threads else { return }
    submit()
    self.threads = nil
    inbox.removeAll()
    if hasFailed { return threads.abandon() }
    threads.finish()
    if refusal == nil { refusal = .readOnly(reason: "closed", outcome: .none) }
  }

  package var epoch: String { files.epoch }

  /// The number of acknowledged events that were missing at opening; ``epoch`` is then new.
  package var lostEvents: UInt64 { files.lostEvents }

  /// The reason for a new ``epoch``; `nil` if it is unchanged.
  package var renewal: JournalRenewal? { files.renewal }

  // MARK: Appending

  package var now: Int64 { max(appender.time, clock()) }

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
    if let meta, !queue.batch.isEmpty { queue.batch.replaceMeta(meta) }
    appender.seal()
    // The loop appends a batch of any size as fast as the thread.
    if queue.batch.count >= Self.batchSize, !commitsOnLoop || !queue.isNextBatchFirst { submit() }
  }

  package func requireDisk() { queue.requireDisk() }

  package func reachDisk() -> Signal<Void, JournalError> {
    Signal { [weak self] observer in
      guard let self, let writer = threads?.writer, refusal == nil else {
        observer.fail(self?.refusal ?? .unavailable(detail: "the journal is closed"))
        return NonDisposable.instance
      }
      waitingForDisk.append { error in
        if let error { return observer.fail(error) }
        observer.receive(())
        observer.complete()
      }
      writer.post(.synchronize(isAwaited: true))
      return NonDisposable.instance
    }
  }

  package func rollBackUnsealed() {
    queue.batch.removeLast(Int(appender.last - appender.sealed))
    appender.rollBackUnsealed()
  }

  /// Writes the events of the turn, or passes them to the writer thread.
  private func endTurn() {
    // Events that the thread has not reported yet come first.
    if commitsOnLoop, queue.isNextBatchFirst, let report = commitAtOnce() {
      receive([report])
      // Ends the wait of callers that run the loop until events are durable.
      loop.skipWait()
    }
    if !inbox.isEmpty {
      if !isPaused { handleReports() }
      isPaused = false
      if !inbox.isEmpty { loop.skipWait() }
    }
    // Also what observers have recorded because of the report.
    submit()
  }

  /// Appends the events of the turn to the tail.
  ///
  /// - Returns: The report; `nil` if the writer thread is to do it.
  private func commitAtOnce() -> SQLiteWriter.Report? {
    guard let tail, let threads else { return nil }
    let start = MonotonicClock.now
    switch tail.commitAtOnce(queue.batch, generation: queue.generation) {
    case .done(let wish):
      let events = queue.passOn(beginning: tail.makeBatch())
      threads.database?.post(wish)
      return .committed(upTo: events.last, nanoseconds: MonotonicClock.now - start)
    case .failed(let failure):
      _ = queue.passOn(beginning: RecordBatch())
      return .refusal(failure)
    case .noRoom, .dropped: return nil
    }
  }

  /// Passes the appended events to the writer thread.
  package func submit() {
    guard !queue.batch.isEmpty else { return }
    let (isForDisk, generation) = (queue.isForDisk, queue.generation)
    let events = queue.passOn(beginning: tail?.makeBatch() ?? RecordBatch())
    threads?.writer?.post(.append(events, generation: generation, isForDisk: isForDisk))
  }

  private func receive(_ reports: [SQLiteWriter.Report]) {
    for report in reports { inbox.append(report) }
    handleReports()
  }

  /// Handles the reports in order, until so many events were reported that the rest must wait for the
  /// next turn.
  private func handleReports() {
    let end = MonotonicClock.now + reportingTime
    var isLate = false
    while let report = inbox.first {
      if case .committed(let seq, let nanoseconds) = report {
        while !isLate, let events = queue.popDurable(upTo: seq) {
          commit(events)
          isLate = MonotonicClock.now >= end
        }
        if isLate, queue.hasDurable(upTo: seq) {
          isPaused = true
          return
        }
        reports.addCommit(nanoseconds: nanoseconds)
      }
      _ = inbox.popFirst()
      handle(report)
    }
  }

  private func handle(_ report: SQLiteWriter.Report) {
    switch report {
    case .committed: threads?.moveLater()
    case .rejected(let error):
      discard()
      delegate?.store(rejected: error)
    case .failed(let error, _):
      guard refusal == nil else { return }
      hasFailed = true
      refusal = error
      discard()
      delegate?.store(failed: error)
      let waiting = waitingForDisk
      waitingForDisk.removeAll()
      for tell in waiting { tell(error) }
    case .saved(let report): reports.endSaving(report)
    case .removed(let result):
      if case .success(let report) = result { first = max(first, report.first) }
      reports.endRemoving(result)
    case .synchronized: waitingForDisk.popFirst()?(nil)
    case .hasChores: threads?.database?.post(.doChore)
    case .log(let notice):
      if notice == .released { threads?.database?.post(.emptyLog) }
      onLogNotice(notice)
    }
  }

  private func commit(_ events: RecordBatch) {
    reports.addEvents(events.count)
    appender.commit(upTo: events.last)
    delegate?.store(committed: events)
  }

  /// Drops all events that are not durable.
  private func discard() {
    queue.discard()
    appender.reject()
  }

  // MARK: Reading

  package func replay(
    after seq: UInt64, _ body: (RecordBatch) -> Void
  ) throws(JournalError) {
    try files.replay(after: seq, upTo: durable, body)
  }

  package func snapshot(
    of service: String, upTo seq: UInt64
  ) throws(JournalError) -> Snapshot? {
    try start.snapshot(of: service, upTo: min(seq, durable))
  }

  package func save(_ snapshot: Snapshot) {
    guard let database = threads?.database else { return }
    reports.beginSaving()
    database.post(.save(snapshot))
  }

  package func remove(_ removal: Removal) {
    threads?.database?.post(.remove(removal))
  }

  package func lastRemoval(of service: String) throws(JournalError) -> UInt64 {
    try start.lastRemoval(of: service, upTo: .max)
  }

  package func keep(_ text: String, as note: JournalNote) {
    guard reports.change(note, to: text), let database = threads?.database else { return }
    tail?.beginNote()
    database.post(.keep(text, as: note))
    // Again, because it may fail while another process writes.
    threads?.moveLater()
  }

  package func readNow<Result>(
    _ job: (any JournalReader) throws(JournalError) -> Result
  ) throws(JournalError) -> Result {
    try job(start)
  }

  package func reading<Result: Sendable>(
    _ pace: ReadingPace,
    _ job: @escaping @Sendable (any JournalReader) throws(JournalError) -> Result
  ) -> Signal<Result, JournalError> {
    guard let threads else { return .failed(.unavailable(detail: "the journal is closed")) }
    return threads.reader(for: pace).run(
      { reader, cancellation throws(JournalError) in
        try job(StoppableReader(base: reader) { cancellation.isCancelled })
      },
      unavailable: { refusal in
        switch refusal {
        case .closed: .failure(.unavailable(detail: "the journal is closed"))
        case .noThread: .failure(.unavailable(detail: "no thread"))
        }
      })
  }

  package func free<Value: Sendable>(_ value: consuming Value) {
    // Whoever posts a job may hold it longer than the thread.
    let held = Lock<Value?>(value)
    threads?.reader(for: .care).post { _ in held.withLock { $0 = nil } }
  }
}

extension SQLiteStore {
  /// The state of the write-ahead log while another process reads in one long transaction.
  package enum LogNotice: Equatable, Sendable {
    /// The log has grown to `bytes` and cannot be reset; `path` is the journal.
    case held(bytes: Int, path: String)
    /// The log can be reset again.
    case released
  }
}

/// The threads of a ``SQLiteStore``.
///
/// Its timers are closed before it is released. They have no weak reference, which would make each
/// use of this object slow.
private final class Threads {
  let writer: TailWriter?
  let database: Worker<SQLiteWriter.Job>?
  private let tail: Tail?
  private let prompt: Background<any JournalReader>
  private let long: Background<any JournalReader>

  /// Starts with its first reading.
  private let care: Background<any JournalReader>

  /// Starts with its first reading.
  private let trial: Background<any JournalReader>
  private let reports: Mailbox<SQLiteWriter.Report>

  /// Makes the disk have the events again and again, with the durability `interval`.
  private var syncTimer: EventLoop.Timer?

  /// Moves events into the database that are too few to be moved at once.
  private var moveTimer: EventLoop.Timer?
  private var isMoveTimerActive = false

  /// The time after which other programs see an event in the database.
  private static let moveMilliseconds: UInt64 = 1_000

  init(
    _ files: OpenJournal, _ durability: Durability?, _ patience: Int32,
    reportingTo reports: Mailbox<SQLiteWriter.Report>, on loop: Loop
  ) throws(JournalError) {
    self.reports = reports
    tail = files.tail
    (prompt, long) = (
      files.makeReader(isLong: false, on: loop), files.makeReader(isLong: true, on: loop)
    )
    care = files.makeReader(isLong: true, on: loop)
    trial = files.makeReader(isLong: true, on: loop)
    do throws(SystemError) {
      if let tail {
        let slot = reports.slot
        let thread = try files.makeDatabaseThread(for: tail, patience: patience, report: slot.post)
        database = thread
        writer = try TailWriter(
          tail, isAlwaysForDisk: durability == .always, database: thread, report: slot.post)
      } else {
        (database, writer) = (nil, nil)
      }
      try prompt.start()
      try long.start()
      guard tail != nil else { return }
      if case .interval(let milliseconds) = durability {
        syncTimer = try EventLoop.Timer(on: loop) { [unowned self] in
          writer?.post(.synchronize(isAwaited: false))
        }
        syncTimer?.start(afterMilliseconds: milliseconds, everyMilliseconds: milliseconds)
      }
      moveTimer = try EventLoop.Timer(on: loop) { [unowned self] in move() }
    } catch {
      throw .unavailable(detail: "\(error)")
    }
  }

  deinit { closeTimers() }

  func reader(for pace: ReadingPace) -> Background<any JournalReader> {
    switch pace {
    case .prompt: prompt
    case .long: long
    case .care: care
    case .trial: trial
    }
  }

  /// Moves the committed events soon.
  func moveLater() {
    guard !isMoveTimerActive else { return }
    isMoveTimerActive = true
    moveTimer?.start(afterMilliseconds: Self.moveMilliseconds)
  }

  private func move() {
    isMoveTimerActive = false
    guard let tail, tail.hasPending, !tail.hasFailed else { return }
    database?.post(.move(flushes: false))
    // Again, because it may fail while the disk is full.
    moveLater()
  }

  /// Waits for the writer, and ends all.
  func finish() {
    closeTimers()
    writer?.post(.synchronize(isAwaited: false))
    writer?.finish()
    database?.post(.end)
    database?.finish()
    for reader in [prompt, long, care, trial] { reader.close() }
    reports.close()
  }

  /// Ends nothing that has a connection, and reports no more.
  ///
  /// The connections stay open until the process ends. Closing the last one would run another
  /// checkpoint, which must not happen after a failed write.
  func abandon() {
    closeTimers()
    reports.close()
    for reader in [prompt, long, care, trial] { reader.abandon() }
  }

  private func closeTimers() {
    syncTimer?.close()
    moveTimer?.close()
    (syncTimer, moveTimer) = (nil, nil)
  }
}
