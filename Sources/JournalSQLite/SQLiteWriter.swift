internal import CSQLite
internal import EventLoop
internal import Glibc
internal import Journal
internal import Model
internal import Signals

/// Writes records, and does background work between commits.
///
/// ``WriterThread`` says on which thread.
final class SQLiteWriter {
  private let database: Database
  private let synchronous: String
  private let durability: String

  /// The first retained position, as last seen by this thread.
  private var first: UInt64 = 0
  private let lock: JournalLock
  private let checkpointer: Worker<Void>
  private let progress: Lock<Checkpointer.Progress>
  private let report: @Sendable (Report) -> Void
  private let walFile: CInt

  private let transaction: Transaction
  private let events: EventTable
  private let snapshots: SnapshotTable
  private let removals: RemovalTable

  /// Batches of an older generation are dropped, because an earlier batch has failed.
  private var generation = 0

  private var log = LogSize()

  /// Whether a write failed in a way that makes later writes unreliable.
  private var hasFailed = false

  /// The notes that are not written yet.
  private var notes: [JournalNote: String] = [:]

  /// The background work, one item between commits, oldest first.
  private var chores = Queue<Chore>()

  private enum Chore {
    case save(SnapshotTable.Parts)
    case drop(SnapshotTable.Part)
    case remove(Removal)
    case giveBack
  }

  /// - Parameter synchronous: The value of `PRAGMA synchronous` for commits.
  init(
    database: Database, path: String, synchronous: String, durability: String,
    lock: JournalLock,
    checkpointer: Worker<Void>, progress: Lock<Checkpointer.Progress>,
    report: @escaping @Sendable (Report) -> Void
  ) throws(SQLiteError) {
    self.database = database
    self.synchronous = synchronous
    self.durability = durability
    self.lock = lock
    self.checkpointer = checkpointer
    self.progress = progress
    self.report = report
    transaction = try Transaction(on: database)
    events = try EventTable(database)
    snapshots = try SnapshotTable(database)
    removals = try RemovalTable(database)
    // Opened early and kept, because the timer needs it to flush the log to the disk.
    walFile = open(path + "-wal", O_RDWR | O_CLOEXEC)
    // The hook is removed with the database, which this object owns.
    sqlite3_wal_hook(database.pointer, logGrew, Unmanaged.passUnretained(self).toOpaque())
  }

  fileprivate func updateLogSize(_ pages: CInt) { log.pages = pages }

  deinit {
    if walFile >= 0 { _ = close(walFile) }
  }

  /// Executes the waiting jobs: all batches in one transaction, then one item of background work.
  func work(_ jobs: [Job]) {
    var batches: [RecordBatch] = []
    var (isForDisk, isEnding) = (false, false)
    for job in jobs {
      switch job {
      case .append(let events, let generation, let needsDisk):
        guard generation == self.generation else { break }
        batches.append(events)
        isForDisk = isForDisk || needsDisk
      case .save(let snapshot): chores.append(.save(.init(snapshot)))
      case .remove(let removal): chores.append(.remove(removal))
      case .keep(let text, let note): notes[note] = text
      case .synchronize(let isAwaited):
        if let failure = synchronize() {
          report(failure)
        } else if isAwaited {
          report(.synchronized)
        }
      case .doChore: break
      case .emptyLog: log.isTooLong = true
      case .end: isEnding = true
      }
    }
    keepNotes()
    if let last = batches.last?.last {
      let result = commit(batches, upTo: last, isForDisk: isForDisk)
      report(result)
      if case .committed = result { checkpoint() }
    }
    doChore()
    guard isEnding, !hasFailed else { return }
    if let failure = synchronize() { report(failure) } else { lock.end(durability) }
  }

  /// Writes a batch without waiting for the disk or another process.
  ///
  /// - Returns: The report; `nil` if nothing was tried, because it might have to wait.
  func commitAtOnce(_ events: RecordBatch, generation: Int) -> Report? {
    guard durability == Durability.os.name, generation == self.generation, !hasFailed,
      notes.isEmpty, !mayLogBeginAgain
    else { return nil }
    database.waitsForOthers = false
    defer { database.waitsForOthers = true }
    let start = nanoseconds()
    // If another process is writing, the writer thread waits for it.
    guard (try? transaction.begin()) != nil else { return nil }
    let result = finishCommit([events], upTo: events.last, isForDisk: false, since: start)
    if case .committed = result { startCheckpoint() }
    return result
  }

  /// Whether the next commit may begin the log again or run a checkpoint.
  ///
  /// SQLite then flushes the log to the disk. A checkpoint by another process, for example
  /// `sqlite3`, is not seen: the next commit flushes, wherever it runs.
  private var mayLogBeginAgain: Bool {
    if log.isTooLong || log.pages == 0 || log.isStalling { return true }
    if !log.isLong { return false }
    return !checkpointer.isIdle || progress.withLock { $0 == .mayBeComplete }
  }

  private func commit(_ batches: [RecordBatch], upTo last: UInt64, isForDisk: Bool) -> Report {
    let start = nanoseconds()
    do throws(SQLiteError) {
      try transaction.begin()
    } catch {
      return failure(error)
    }
    return finishCommit(batches, upTo: last, isForDisk: isForDisk, since: start)
  }

  /// Writes batches in the open transaction, and ends it.
  private func finishCommit(
    _ batches: [RecordBatch], upTo last: UInt64, isForDisk: Bool, since start: UInt64
  ) -> Report {
    do throws(SQLiteError) {
      try transaction.finish { () throws(SQLiteError) in
        for batch in batches { try events.write(batch) }
      }
    } catch {
      return failure(error)
    }
    if isForDisk, synchronous != "FULL", let failure = synchronize() { return failure }
    lock.mark = last
    return .committed(upTo: last, nanoseconds: nanoseconds() - start)
  }

  /// Notes a failed write and returns its report.
  private func failure(_ error: SQLiteError) -> Report {
    generation += 1
    hasFailed = hasFailed || !error.hasNoOutcome
    return error.hasNoOutcome ? .rejected(error.refusal) : .failed(error.refusal, "\(error)")
  }

  // MARK: Checkpoints

  private func checkpoint() {
    if log.isTooLong { emptyLog() }
    if log.isStalling {
      guard let failure = moveLog() else { return }
      generation += 1
      hasFailed = true
      report(.failed(failure.refusal, "checkpoint: \(failure)"))
    } else {
      startCheckpoint()
    }
  }

  /// Starts the checkpoint thread, if the log is long enough.
  ///
  /// A checkpoint beside commits leaves their pages, so the log has to grow before the next one. As
  /// long as a reader blocks the log, each commit looks whether the reader has ended.
  private func startCheckpoint() {
    guard log.isLong, log.needsCheckpoint || progress.withLock({ $0 == .held }) else { return }
    log.beginCheckpoint()
    checkpointer.post(())
  }

  /// Moves the log into the file; waits if the checkpoint thread is doing it.
  ///
  /// Without the wait the log would keep growing when that thread gets less processor time.
  private func moveLog() -> SQLiteError? {
    for _ in 0..<Self.stallTries {
      let (failure, pages, _) = database.moveLog()
      if failure != nil || pages >= 0 { return failure }
      usleep(1_000)
    }
    return nil
  }

  /// The maximum wait, in milliseconds.
  private static let stallTries = 200

  /// Truncates the log, now that no reader holds it.
  private func emptyLog() {
    do throws(SQLiteError) {
      log.isTooLong = try !database.emptyLog()
      if !log.isTooLong { log.pages = 0 }
    } catch {
      report(failure(error))
    }
  }

  /// Flushes the log to the disk.
  ///
  /// Pages that were moved out of the log are already there.
  ///
  /// - Returns: The report of a failure; the journal then accepts no more events.
  private func synchronize() -> Report? {
    guard walFile < 0 || fdatasync(walFile) != 0 else { return nil }
    let reason = errno == EIO ? "EIO" : "ERRNO \(errno)"
    generation += 1
    hasFailed = true
    return .failed(.readOnly(reason: reason, outcome: .unknown), "fdatasync: \(reason)")
  }

  // MARK: Background work

  /// Does the oldest item, in a transaction that does not wait for the disk.
  ///
  /// The log keeps the order, so a removal survives a crash only if the snapshot before it does.
  private func doChore() {
    guard let chore = chores.popFirst() else { return }
    switch chore {
    case .save(let parts): save(parts)
    case .drop(let part):
      // A leftover snapshot does no harm: the next thinning finds it again.
      try? relaxed { () throws(SQLiteError) in try snapshots.remove(part) }
    case .remove(let removal): remove(removal)
    case .giveBack: giveBack()
    }
    checkpoint()
    if !chores.isEmpty { report(.hasChores) }
  }

  /// Runs a transaction that may reach the disk later.
  private func relaxed(_ body: () throws(SQLiteError) -> Void) throws(SQLiteError) {
    try database.execute("PRAGMA synchronous = NORMAL")
    let result = Result { () throws(SQLiteError) in
      try transaction.begin()
      try transaction.finish(body)
    }
    try database.execute("PRAGMA synchronous = \(synchronous)")
    try result.get()
  }

  private func save(_ parts: SnapshotTable.Parts) {
    let snapshot = parts.snapshot
    do throws(SQLiteError) {
      try relaxed { () throws(SQLiteError) in try snapshots.write(parts) }
      var rest = parts
      if rest.advance() { return chores.prepend(.save(rest)) }
      // Before the waiting items, so that there are never many surplus snapshots.
      for part in try snapshots.surplus(after: snapshot).reversed() { chores.prepend(.drop(part)) }
      report(.saved(SnapshotReport(service: snapshot.service, seq: snapshot.seq)))
    } catch {
      report(
        .saved(
          SnapshotReport(service: snapshot.service, seq: snapshot.seq, failure: "\(error)")))
    }
  }

  private func remove(_ removal: Removal) {
    let start = nanoseconds()
    var first: UInt64 = 0
    do throws(SQLiteError) {
      try relaxed { () throws(SQLiteError) in first = try removals.remove(removal, from: events) }
      if first > self.first {
        self.first = first
        for part in try snapshots.outlived(first: first) { chores.append(.drop(part)) }
      }
      if chores.isEmpty, try freePages() > Self.reservedPages { chores.append(.giveBack) }
    } catch {
      guard error.hasNoOutcome || error.isCorrupt else { return report(self.failure(error)) }
      let failure =
        error.isCorrupt
        ? JournalError.corrupt(seq: removal.first, detail: error.message) : error.refusal
      return report(.removed(.failure(failure)))
    }
    report(
      .removed(.success(RemovalReport(first: first, nanoseconds: nanoseconds() - start))))
  }

  /// The number of free pages to keep in the file for later use.
  private static let reservedPages: Int64 = 1024

  /// The number of pages to release at a time.
  private static let pagesGivenBack = 64

  /// Returns the number of pages that could be released.
  private func freePages() throws(SQLiteError) -> Int64 {
    guard try database.integer("PRAGMA auto_vacuum") == 2 else { return 0 }
    return try database.integer("PRAGMA freelist_count") ?? 0
  }

  /// Shrinks the file a little; does nothing if there is no room for that.
  private func giveBack() {
    guard let before = try? freePages() else { return }
    try? relaxed { () throws(SQLiteError) in
      try database.execute("PRAGMA incremental_vacuum(\(Self.pagesGivenBack))")
    }
    guard chores.isEmpty, let after = try? freePages() else { return }
    if after < before, after > Self.reservedPages { chores.append(.giveBack) }
  }

  /// Writes the pending notes; a note that fails is tried again later.
  private func keepNotes() {
    for (note, text) in notes {
      let isKept: Void? = try? relaxed { () throws(SQLiteError) in
        let insert = try Statement("INSERT OR REPLACE INTO journal VALUES (?, ?)", on: database)
        insert.bind(note.rawValue, at: 1)
        insert.bind(text, at: 2)
        try insert.run()
      }
      if isKept != nil { notes[note] = nil }
    }
  }
}

/// The statements that begin and end a transaction.
private struct Transaction {
  private let database: Database
  private let beginning: Statement
  private let commit: Statement
  private let rollback: Statement

  init(on database: Database) throws(SQLiteError) {
    self.database = database
    beginning = try Statement("BEGIN IMMEDIATE", on: database)
    commit = try Statement("COMMIT", on: database)
    rollback = try Statement("ROLLBACK", on: database)
  }

  func begin() throws(SQLiteError) { try beginning.run() }

  /// Writes in the open transaction, and ends it.
  func finish(_ body: () throws(SQLiteError) -> Void) throws(SQLiteError) {
    do {
      try body()
      try commit.run()
    } catch {
      // After some errors SQLite has already rolled back.
      if sqlite3_get_autocommit(database.pointer) == 0 { try? rollback.run() }
      throw error
    }
  }
}

/// The size of the write-ahead log, and what follows from it.
private struct LogSize {
  /// The number of pages, as reported by SQLite's hook at each commit.
  var pages: CInt = 0 {
    didSet { if pages < oldValue { checkpointedPages = 0 } }
  }

  /// Whether the log should be truncated.
  var isTooLong = false

  /// The size, in pages, that starts the checkpoint thread.
  ///
  /// Rare checkpoints copy a page that changes often only once, and few commits wait for the disk
  /// behind their flushes.
  private static let checkpointPages: CInt = 4_000

  /// The growth, in pages, after which the checkpoint thread is started again.
  private static let checkpointStep: CInt = 1_000

  /// The size, in pages, at the last start of the checkpoint thread; 0 if it was not started since
  /// the log began.
  private var checkpointedPages: CInt = 0

  /// The size, in pages, at which the writer runs the checkpoint itself.
  ///
  /// A checkpoint during continuous commits never completes, so the log could not be reset.
  private static let stallPages: CInt = 16 * 1024

  var isStalling: Bool { pages >= Self.stallPages }

  /// Whether a checkpoint makes sense.
  var isLong: Bool { pages >= Self.checkpointPages }

  /// Whether the log has grown enough since the last checkpoint.
  var needsCheckpoint: Bool {
    checkpointedPages == 0 || pages - checkpointedPages >= Self.checkpointStep
  }

  mutating func beginCheckpoint() { checkpointedPages = pages }
}

private func logGrew(
  _ writer: UnsafeMutableRawPointer?, _ database: OpaquePointer?,
  _ name: UnsafePointer<CChar>?, _ pages: CInt
) -> CInt {
  guard let writer else { return SQLITE_OK }
  Unmanaged<SQLiteWriter>.fromOpaque(writer).takeUnretainedValue().updateLogSize(pages)
  return SQLITE_OK
}

private func nanoseconds() -> UInt64 {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

extension SQLiteWriter {
  /// A job for the writer thread.
  enum Job: Sendable {
    /// Writes events.
    ///
    /// With `isForDisk`, they are committed only once the disk has them.
    case append(RecordBatch, generation: Int, isForDisk: Bool)
    case save(Snapshot)
    case remove(Removal)
    case keep(String, as: JournalNote)
    /// Flushes committed events to the disk.
    ///
    /// With `isAwaited`, reports completion.
    case synchronize(isAwaited: Bool)
    /// Continues with background work between commits.
    case doChore
    /// Truncates the log.
    case emptyLog
    /// Records a clean shutdown, once the disk has all events.
    case end
  }

  /// A report from the writer thread to the loop.
  enum Report: Sendable {
    case committed(upTo: UInt64, nanoseconds: UInt64)
    /// Nothing was written; the journal accepts further events.
    case rejected(JournalError)
    /// The write may have succeeded; the journal accepts no more events.
    case failed(JournalError, String)
    case saved(SnapshotReport)
    case removed(Result<RemovalReport, JournalError>)
    /// The disk has the awaited events.
    case synchronized
    /// There is more background work to do between commits.
    case hasChores
    case log(SQLiteStore.LogNotice)
  }
}
