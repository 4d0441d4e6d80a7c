internal import CSQLite
internal import EventLoop
internal import Glibc
internal import Journal
internal import Model
internal import Signals

/// Moves events from the tail into the database, and does everything else that changes the database:
/// snapshots, removals, notes and checkpoints.
///
/// It lives on one thread. No commit waits for it, unless both files of the tail are full.
final class SQLiteWriter {
  private let database: Database
  private let durability: String

  /// The first retained position, as last seen by this thread.
  private var first: UInt64 = 0
  private let lock: JournalLock
  private let tail: Tail
  private let report: @Sendable (Report) -> Void
  private let path: String
  private let walFile: CInt

  private let transaction: Transaction
  private let events: EventTable
  private let snapshots: SnapshotTable
  private let removals: RemovalTable

  private var log = LogSize()
  private var checkpointer = Checkpointer()

  /// Whether a write failed in a way that makes later writes unreliable.
  private var hasFailed = false

  /// The notes that are not written yet.
  private var notes: [JournalNote: String] = [:]

  /// The background work, one item at a time, oldest first.
  private var chores = Queue<Chore>()

  private enum Chore {
    case save(SnapshotTable.Parts)
    case drop(SnapshotTable.Part)
    case remove(Removal)
    case giveBack
  }

  /// - Parameter database: Its transactions do not wait for the disk.
  init(
    database: Database, path: String, durability: String, lock: JournalLock, tail: Tail,
    report: @escaping @Sendable (Report) -> Void
  ) throws(SQLiteError) {
    self.database = database
    self.path = path
    self.durability = durability
    self.lock = lock
    self.tail = tail
    self.report = report
    transaction = try Transaction(on: database)
    events = try EventTable(database)
    snapshots = try SnapshotTable(database)
    removals = try RemovalTable(database)
    // Opened early and kept, because each flush needs it.
    walFile = open(path + "-wal", O_RDWR | O_CLOEXEC)
    // The hook is removed with the database, which this object owns.
    sqlite3_wal_hook(database.pointer, logGrew, Unmanaged.passUnretained(self).toOpaque())
  }

  fileprivate func updateLogSize(_ pages: CInt) { log.pages = pages }

  deinit {
    if walFile >= 0 { _ = close(walFile) }
  }

  /// The milliseconds for which commits may wait for a note because another process writes.
  private static let notePatience: CInt = 50

  /// Executes the waiting jobs: moves all events first, then does one item of background work.
  func work(_ jobs: [Job]) {
    var (isFlushing, isEnding, newNotes) = (false, false, 0)
    for job in jobs {
      switch job {
      case .move(let flushes): isFlushing = isFlushing || flushes
      case .save(let snapshot): chores.append(.save(.init(snapshot)))
      case .remove(let removal): chores.append(.remove(removal))
      case .keep(let text, let note):
        notes[note] = text
        newNotes += 1
      case .doChore: break
      case .emptyLog: log.isTooLong = true
      case .end: isEnding = true
      }
    }
    guard !hasFailed else { return tail.endNotes(newNotes, areKept: false) }
    tail.endWish()
    // Commits wait for a new note: not for another process that writes.
    let patience = database.patience
    if newNotes > 0 { database.patience = min(patience, Self.notePatience) }
    let isMoved = moveEvents()
    let hasNotes = !notes.isEmpty
    // A note comes after the events before it.
    if isMoved { keepNotes() }
    database.patience = patience
    // Later events may be on the disk at any time, and a note comes before them.
    if isFlushing || isEnding || hasNotes { flush() }
    tail.endNotes(newNotes, areKept: notes.isEmpty)
    checkpoint()
    // It may be about events that are not in the database yet.
    if isMoved { doChore() } else { rejectChores() }
    guard isEnding, !hasFailed, !tail.hasFailed else { return }
    if isMoved { tail.remove() }
    lock.end(durability)
  }

  // MARK: Events

  /// The size of the events in one transaction, in bytes.
  private static let moveBytes = 256 << 10

  /// Moves all events that are durable now into the database.
  ///
  /// - Returns: Whether it has them all.
  private func moveEvents() -> Bool {
    let last = tail.lastPending
    while tail.moved < last {
      var batches = tail.firstPending(bytes: Self.moveBytes)
      do throws(SQLiteError) {
        try write { () throws(SQLiteError) in
          for batch in batches { try events.write(batch) }
        }
      } catch {
        if error.hasNoOutcome { tail.failMoving(error) } else { fail(error) }
        return false
      }
      tail.endMoving(&batches)
    }
    return true
  }

  /// Flushes the database to the disk, so that the tail can use the space of its events again.
  ///
  /// Pages that were moved out of the log are already there.
  private func flush() {
    let moved = tail.moved
    guard walFile >= 0, fdatasync(walFile) == 0 else {
      return fail(SQLiteError(call: "fdatasync", path + "-wal", isFlush: true))
    }
    tail.raiseFlushed(upTo: moved)
  }

  /// Notes a failed write, after which later ones are unreliable, and reports it.
  private func fail(_ error: SQLiteError, _ place: String = "") {
    hasFailed = true
    tail.fail(error)
    report(.failed(error.refusal, "\(place)\(error)"))
  }

  // MARK: Checkpoints

  /// Moves the log into the file, if it is long enough.
  private func checkpoint() {
    guard !hasFailed else { return }
    if log.isTooLong { emptyLog() }
    guard log.isLong, log.needsCheckpoint || checkpointer.isHeld else { return }
    log.beginCheckpoint()
    switch checkpointer.move(database) {
    case .failed(let failure): fail(failure, "checkpoint: ")
    case .held(let bytes): report(.log(.held(bytes: bytes, path: path)))
    case .released: report(.log(.released))
    case nil: break
    }
  }

  /// Truncates the log, now that no reader holds it.
  private func emptyLog() {
    do throws(SQLiteError) {
      log.isTooLong = try !database.emptyLog()
      if !log.isTooLong { log.pages = 0 }
    } catch {
      fail(error)
    }
  }

  // MARK: Background work

  /// Does the oldest item, in a transaction that does not wait for the disk.
  ///
  /// The log keeps the order, so a removal survives a crash only if the snapshot before it does.
  private func doChore() {
    guard !hasFailed, let chore = chores.popFirst() else { return }
    switch chore {
    case .save(let parts): save(parts)
    case .drop(let part):
      // A leftover snapshot does no harm: the next thinning finds it again.
      try? write { () throws(SQLiteError) in try snapshots.remove(part) }
    case .remove(let removal): remove(removal)
    case .giveBack: giveBack()
    }
    checkpoint()
    if !chores.isEmpty { report(.hasChores) }
  }

  /// Reports the background work as failed, because the events before it cannot be moved.
  private func rejectChores() {
    let error = tail.obstacle
    while let chore = chores.popFirst() {
      switch chore {
      case .save(let parts):
        report(
          .saved(
            SnapshotReport(
              service: parts.snapshot.service, seq: parts.snapshot.seq,
              failure: error.map { "\($0)" } ?? "the journal has failed")))
      case .remove:
        report(
          .removed(
            .failure(error?.refusal ?? .unavailable(detail: "the journal has failed"))))
      case .drop, .giveBack: break
      }
    }
  }

  /// Runs a transaction.
  private func write(_ body: () throws(SQLiteError) -> Void) throws(SQLiteError) {
    try transaction.begin()
    try transaction.finish(body)
  }

  private func save(_ parts: SnapshotTable.Parts) {
    let snapshot = parts.snapshot
    do throws(SQLiteError) {
      try write { () throws(SQLiteError) in try snapshots.write(parts) }
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
    let start = MonotonicClock.now
    var first: UInt64 = 0
    do throws(SQLiteError) {
      try write { () throws(SQLiteError) in first = try removals.remove(removal, from: events) }
      if first > self.first {
        self.first = first
        for part in try snapshots.outlived(first: first) { chores.append(.drop(part)) }
      }
      if chores.isEmpty, try freePages() > Self.reservedPages { chores.append(.giveBack) }
    } catch {
      guard error.hasNoOutcome || error.isCorrupt else { return fail(error) }
      let failure =
        error.isCorrupt
        ? JournalError.corrupt(seq: removal.first, detail: error.message) : error.refusal
      return report(.removed(.failure(failure)))
    }
    report(
      .removed(.success(RemovalReport(first: first, nanoseconds: MonotonicClock.now - start))))
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
    try? write { () throws(SQLiteError) in
      try database.execute("PRAGMA incremental_vacuum(\(Self.pagesGivenBack))")
    }
    guard chores.isEmpty, let after = try? freePages() else { return }
    if after < before, after > Self.reservedPages { chores.append(.giveBack) }
  }

  /// Writes the pending notes; if that fails, it is tried again with the next job.
  private func keepNotes() {
    guard !notes.isEmpty else { return }
    let notes = notes
    let isKept: Void? = try? write { () throws(SQLiteError) in
      let insert = try Statement("INSERT OR REPLACE INTO journal VALUES (?, ?)", on: database)
      for (note, text) in notes {
        insert.bind(note.rawValue, at: 1)
        insert.bind(text, at: 2)
        try insert.run()
      }
    }
    if isKept != nil { self.notes = [:] }
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

  /// The size, in pages, from which on checkpoints are made.
  ///
  /// Rare checkpoints copy a page that changes often only once.
  private static let checkpointPages: CInt = 4_000

  /// The growth, in pages, after which the next checkpoint is made.
  private static let checkpointStep: CInt = 1_000

  /// The size, in pages, at the last checkpoint; 0 if there was none since the log began.
  private var checkpointedPages: CInt = 0

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

extension SQLiteWriter {
  /// A job for the database's thread.
  enum Job: Sendable {
    /// Moves the pending events into the database; with `flushes`, flushes it to the disk too.
    case move(flushes: Bool)
    case save(Snapshot)
    case remove(Removal)
    case keep(String, as: JournalNote)
    /// Continues with background work of the database.
    case doChore
    /// Truncates the log.
    case emptyLog
    /// Records a clean shutdown, after the disk has all events in the tail.
    case end
  }

  /// A report from the threads to the loop.
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
    /// There is more background work to do.
    case hasChores
    case log(SQLiteStore.LogNotice)
  }
}

extension SQLiteWriter.Report {
  /// Returns the report of a write that failed.
  static func refusal(_ error: SQLiteError) -> Self {
    error.hasNoOutcome ? .rejected(error.refusal) : failure(error)
  }

  /// Returns the report of a failure after which later writes are unreliable.
  static func failure(_ error: SQLiteError) -> Self { .failed(error.refusal, "\(error)") }
}
