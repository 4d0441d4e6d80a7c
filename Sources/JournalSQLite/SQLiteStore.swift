package import EventLoop
package import Facts
package import Journal
package import Signals

/// A journal in one SQLite file.
///
/// The loop assigns positions and passes the events of a turn to the writer thread, which writes
/// all waiting events in one transaction. With the durability `os` the loop writes a few events
/// itself, see ``WriterThread``. It never waits for the disk. Two more threads read, and a fourth
/// moves pages from the log into the file.
package final class SQLiteStore: DaemonStore {
  package let epoch: String
  package private(set) var first: UInt64
  package private(set) var refusal: JournalError?
  package var isRefusing: Bool { refusal != nil }

  /// The number of acknowledged events that were missing at opening; ``epoch`` is then new.
  package let lostEvents: UInt64

  /// The reason for a new ``epoch``; `nil` if it is unchanged.
  package let renewal: JournalRenewal?

  /// Called on the loop when the state of the write-ahead log changes.
  package var onLogNotice: (LogNotice) -> Void = { _ in }

  /// The number of snapshots that the writer has not saved yet.
  package private(set) var waitingSnapshots = 0

  private var notes: [JournalNote: String]
  private let loop: Loop
  private let clock: () -> Int64
  package let appender: Appender
  package let names = Names()
  private let committedSubject = PassthroughSubject<RecordBatch, JournalError>()
  private let rejectedSubject = PassthroughSubject<JournalError, Never>()
  private let savedSubject = PassthroughSubject<SnapshotReport, Never>()
  private let removedSubject = PassthroughSubject<Result<RemovalReport, JournalError>, Never>()

  /// The events of this turn that were not passed to the writer yet.
  private var batch = RecordBatch()

  /// A batch that is not used any more, to save allocations.
  private var spareBatch: RecordBatch?

  /// Whether the batch is durable only once the disk has it.
  private var isBatchForDisk = false

  /// The callbacks that wait for the disk, oldest first.
  private var waitingForDisk = Queue<(JournalError?) -> Void>()

  /// The batches that the writer has received, in order, until they are durable.
  private var written = Queue<RecordBatch>()
  private var generation = 0
  private var times = CommitTimes()

  /// The durations of all commits since the opening.
  package private(set) var commitTimes = Histogram()

  /// The number of events that became durable since the opening.
  package private(set) var committedEvents: UInt64 = 0

  private let files: JournalFiles
  private let start: SQLiteReader
  /// Whether a write failed in a way that makes later writes unreliable.
  private var hasFailed = false
  private var threads: Threads?
  private let careReader: Background<any JournalReader>
  private var syncTimer: EventLoop.Timer?

  private struct Threads {
    let writer: WriterThread?
    let checkpointer: Worker<Void>?
    let promptReader: Background<any JournalReader>
    let longReader: Background<any JournalReader>
    let reports: Mailbox<SQLiteWriter.Report>
  }

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
  ///   - clock: The clock, in microseconds since 1970.
  /// - Throws: ``JournalError``.
  package init(
    path: String, durability: Durability?, on loop: Loop, clock: @escaping () -> Int64
  ) throws(JournalError) {
    files = try JournalFiles(path: path, for: durability.map { .writing($0) } ?? .serving)
    self.loop = loop
    self.clock = clock
    start = files.reader
    epoch = files.epoch
    first = files.first
    notes = files.notes
    lostEvents = files.lostEvents
    renewal = files.renewal
    appender = Appender(last: files.last, time: files.time)
    careReader = files.makeReader(isLong: true, on: loop)
    if durability == nil { refusal = .readOnly(reason: "read_only", outcome: .none) }
    threads = try startThreads(durability)
    loop.onTurnEnd { [weak self] in self?.endTurn() }
  }

  private func startThreads(_ durability: Durability?) throws(JournalError) -> Threads {
    do throws(SystemError) {
      let reports = try Mailbox<SQLiteWriter.Report>(on: loop) { [weak self] reports in
        for report in reports { self?.receive(report) }
      }
      var checkpointer: Worker<Void>?
      var writer: WriterThread?
      if durability != nil {
        let slot = reports.slot
        let progress = Lock(Checkpointer.Progress.mayBeComplete)
        let moving = try files.makeCheckpointer(progress: progress, report: slot.post)
        checkpointer = moving
        writer = try files.makeWriter(
          checkpointer: moving, progress: progress, report: slot.post)
      }
      if case .interval(let milliseconds) = durability {
        syncTimer = try EventLoop.Timer(on: loop) { writer?.post(.synchronize(isAwaited: false)) }
        syncTimer?.start(afterMilliseconds: milliseconds, everyMilliseconds: milliseconds)
      }
      return Threads(
        writer: writer, checkpointer: checkpointer,
        promptReader: try startReader(isLong: false), longReader: try startReader(isLong: true),
        reports: reports)
    } catch {
      throw .unavailable(detail: "\(error)")
    }
  }

  private func startReader(
    isLong: Bool
  ) throws(SystemError) -> Background<any JournalReader> {
    let reader = files.makeReader(isLong: isLong, on: loop)
    try reader.start()
    return reader
  }

  /// Waits for the writer, and ends the threads.
  ///
  /// All submitted events are written, but not reported. To receive the reports, run the loop until
  /// ``durable`` equals ``last`` before closing.
  package func close() {
    guard let threads else { return }
    submit()
    self.threads = nil
    syncTimer?.close()
    let readers = [threads.promptReader, threads.longReader, careReader]
    if hasFailed {
      // Keep the connections open until the process ends. Closing the last one would run another
      // checkpoint, which must not happen after a failed write.
      threads.reports.close()
      for reader in readers { reader.abandon() }
      return
    }
    threads.writer?.post(.end)
    threads.writer?.finish()
    threads.checkpointer?.finish()
    for reader in readers { reader.close() }
    threads.reports.close()
    if refusal == nil { refusal = .readOnly(reason: "closed", outcome: .none) }
  }

  // MARK: Appending

  package var now: Int64 { max(appender.time, clock()) }
  package var committed: Signal<RecordBatch, JournalError> { committedSubject.toSignal() }
  package var rejected: Signal<JournalError, Never> { rejectedSubject.toSignal() }

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
    if batch.count >= Self.batchSize { submit() }
  }

  package func requireDisk() { isBatchForDisk = true }

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

  package func takeBack() {
    batch.removeLast(Int(appender.last - appender.sealed))
    appender.takeBack()
  }

  /// Writes the events of the turn, or passes them to the writer thread.
  private func endTurn() {
    // Events that the thread has not reported yet come first.
    if !batch.isEmpty, !isBatchForDisk, written.isEmpty,
      let report = threads?.writer?.commitAtOnce(batch, generation: generation)
    {
      written.append(batch)
      batch = makeBatch()
      receive(report)
      // Whoever runs the loop until events are durable looks after the wait.
      loop.skipWait()
    }
    // Also what observers have recorded because of the report.
    submit()
  }

  /// Passes the appended events to the writer thread.
  package func submit() {
    guard !batch.isEmpty else { return }
    let events = batch
    let isForDisk = isBatchForDisk
    (batch, isBatchForDisk) = (makeBatch(), false)
    written.append(events)
    threads?.writer?.post(.append(events, generation: generation, isForDisk: isForDisk))
  }

  private func makeBatch() -> RecordBatch {
    defer { spareBatch = nil }
    return spareBatch ?? RecordBatch()
  }

  /// Keeps the memory of a batch, unless somebody else still has it.
  private func reuse(_ batch: consuming RecordBatch) {
    guard spareBatch == nil, isKnownUniquelyReferenced(&batch) else { return }
    batch.removeAll(keepingCapacity: Self.spareBytes)
    spareBatch = batch
  }

  /// The most memory of a spare batch.
  private static let spareBytes = 64 << 10

  private func receive(_ report: SQLiteWriter.Report) {
    switch report {
    case .committed(let seq, let nanoseconds): commit(upTo: seq, nanoseconds)
    case .rejected(let error):
      discard()
      rejectedSubject.send(error)
    case .failed(let error, _):
      guard refusal == nil else { return }
      hasFailed = true
      refusal = error
      discard()
      committedSubject.on(.failed(error))
      let waiting = waitingForDisk
      waitingForDisk.removeAll()
      for tell in waiting { tell(error) }
    case .saved(let report):
      waitingSnapshots -= 1
      savedSubject.send(report)
    case .removed(let result):
      if case .success(let report) = result { first = max(first, report.first) }
      removedSubject.send(result)
    case .synchronized: waitingForDisk.popFirst()?(nil)
    case .hasChores: threads?.writer?.post(.doChore)
    case .log(let notice):
      if notice == .released { threads?.writer?.post(.emptyLog) }
      onLogNotice(notice)
    }
  }

  private func commit(upTo seq: UInt64, _ nanoseconds: UInt64) {
    times.commits += 1
    commitTimes.add(nanoseconds)
    times.totalNanoseconds += nanoseconds
    times.maxNanoseconds = max(times.maxNanoseconds, nanoseconds)
    while let first = written.first, first.last <= seq, let events = written.popFirst() {
      times.events += events.count
      committedEvents &+= UInt64(events.count)
      appender.commit(upTo: events.last)
      committedSubject.send(events)
      reuse(events)
    }
  }

  /// Drops all events that are not durable.
  private func discard() {
    generation += 1
    batch = RecordBatch()
    written.removeAll()
    appender.reject()
  }

  /// Returns the durations of commits since the last call.
  package func takeCommitTimes() -> CommitTimes {
    defer { times = CommitTimes() }
    return times
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
    guard let writer = threads?.writer else { return }
    waitingSnapshots += 1
    writer.post(.save(snapshot))
  }

  package var saved: Signal<SnapshotReport, Never> { savedSubject.toSignal() }
  package var removed: Signal<Result<RemovalReport, JournalError>, Never> {
    removedSubject.toSignal()
  }

  package func remove(_ removal: Removal) {
    threads?.writer?.post(.remove(removal))
  }

  package func lastRemoval(of service: String) throws(JournalError) -> UInt64 {
    try start.lastRemoval(of: service, upTo: .max)
  }

  package func note(_ note: JournalNote) -> String? { notes[note] }

  package func keep(_ text: String, as note: JournalNote) {
    guard notes[note] != text else { return }
    notes[note] = text
    threads?.writer?.post(.keep(text, as: note))
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
    let thread =
      switch pace {
      case .prompt: threads.promptReader
      case .long: threads.longReader
      case .care: careReader
      }
    return thread.run(
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
