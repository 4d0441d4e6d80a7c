internal import CSQLite
internal import EventLoop
internal import Glibc
internal import Journal

/// Writes records, and between them what is not urgent, on the writer thread.
final class SQLiteWriter {
  private let database: Database
  private let synchronous: String
  private let durability: String

  /// The first position that is kept, as far as this thread has seen it rise.
  private var first: UInt64 = 0
  private let lock: JournalLock
  private let checkpointer: Worker<Void>
  private let report: @Sendable (Report) -> Void
  private let walFile: CInt

  private let begin: Statement
  private let commit: Statement
  private let rollback: Statement
  private let events: EventTable
  private let snapshots: SnapshotTable
  private let removals: RemovalTable

  /// Batches of an older generation are void: one before them has failed.
  private var generation = 0

  /// Whether the log is to be made empty.
  private var isLogTooLong = false

  /// Whether a write has failed in a way that cannot be trusted again.
  private var hasFailed = false

  /// What is to be kept beside the events and is not yet.
  private var notes: [JournalNote: String] = [:]

  /// What is done between commits, one at a time, the oldest first.
  private var chores: [Chore] = []

  private enum Chore {
    case save(SnapshotTable.Parts)
    case drop(SnapshotTable.Part)
    case remove(Removal)
    case giveBack
  }

  /// Pages in the write-ahead log, as of the last commit; SQLite tells through a hook.
  private var walPages: CInt = 0

  /// From how many pages on the checkpoint thread is called: small steps stay unnoticed.
  private static let checkpointPages: CInt = 250

  /// From how many pages on the writer does it itself: a checkpoint beside an endless stream of
  /// commits never gets to the end, and the log could not be begun anew.
  private static let stallPages: CInt = 16 * 1024

  /// - Parameter synchronous: How commits are written, as in `PRAGMA synchronous`.
  init(
    database: Database, path: String, synchronous: String, durability: String,
    lock: JournalLock,
    checkpointer: Worker<Void>,
    report: @escaping @Sendable (Report) -> Void
  ) throws(SQLiteError) {
    self.database = database
    self.synchronous = synchronous
    self.durability = durability
    self.lock = lock
    self.checkpointer = checkpointer
    self.report = report
    begin = try Statement("BEGIN IMMEDIATE", on: database)
    commit = try Statement("COMMIT", on: database)
    rollback = try Statement("ROLLBACK", on: database)
    events = try EventTable(database)
    snapshots = try SnapshotTable(database)
    removals = try RemovalTable(database)
    // Opened early and kept: without it there would be no way to make the log durable by a timer.
    walFile = open(path + "-wal", O_RDWR | O_CLOEXEC)
    // The hook goes with the database, which goes with this object.
    sqlite3_wal_hook(database.pointer, logGrew, Unmanaged.passUnretained(self).toOpaque())
  }

  fileprivate func noteLog(_ pages: CInt) {
    walPages = pages
  }

  deinit {
    if walFile >= 0 { _ = close(walFile) }
  }

  /// Does what waits: all batches of records as one transaction, then one chore.
  func work(_ jobs: [Job]) {
    var batches: [[Record]] = []
    var (isForDisk, isEnding) = (false, false)
    for job in jobs {
      switch job {
      case .append(let records, let generation, let needsDisk):
        guard generation == self.generation else { break }
        batches.append(records)
        isForDisk = isForDisk || needsDisk
      case .save(let snapshot): chores.append(.save(.init(snapshot)))
      case .remove(let removal): chores.append(.remove(removal))
      case .keep(let text, let note): notes[note] = text
      case .synchronize(let isAwaited):
        if synchronize(), isAwaited { report(.synchronized) }
      case .doChore: break
      case .emptyLog: isLogTooLong = true
      case .end: isEnding = true
      }
    }
    keepNotes()
    commit(batches, isForDisk: isForDisk)
    doChore()
    if isEnding, !hasFailed, synchronize() { lock.end(durability) }
  }

  private func commit(_ batches: [[Record]], isForDisk: Bool) {
    guard let last = batches.last?.last else { return }
    let start = nanoseconds()
    do throws(SQLiteError) {
      try transaction { () throws(SQLiteError) in
        for records in batches { for record in records { try events.write(record) } }
      }
    } catch {
      return fail(error)
    }
    if isForDisk, synchronous != "FULL", !synchronize() { return }
    lock.mark = last.seq
    report(.committed(upTo: last.seq, nanoseconds: nanoseconds() - start))
    checkpoint()
  }

  private func transaction(_ body: () throws(SQLiteError) -> Void) throws(SQLiteError) {
    try begin.run()
    do {
      try body()
      try commit.run()
    } catch {
      // After some errors SQLite has rolled back by itself.
      if sqlite3_get_autocommit(database.pointer) == 0 { try? rollback.run() }
      throw error
    }
  }

  private func fail(_ error: SQLiteError) {
    generation += 1
    hasFailed = hasFailed || !error.hasNoOutcome
    report(error.hasNoOutcome ? .rejected(error.refusal) : .failed(error.refusal, "\(error)"))
  }

  // MARK: Checkpoints

  private func checkpoint() {
    if isLogTooLong { emptyLog() }
    if walPages >= Self.stallPages {
      guard let failure = moveLog() else { return }
      generation += 1
      hasFailed = true
      report(.failed(failure.refusal, "checkpoint: \(failure)"))
    } else if walPages >= Self.checkpointPages {
      checkpointer.post(())
    }
  }

  /// Moves the log; while another thread does it waits for that, because otherwise it would go on
  /// growing where that thread gets less of a processor than this one.
  private func moveLog() -> SQLiteError? {
    for _ in 0..<Self.stallTries {
      let (failure, pages, _) = database.moveLog()
      if failure != nil || pages >= 0 { return failure }
      usleep(1_000)
    }
    return nil
  }

  /// How many milliseconds that may take.
  private static let stallTries = 200

  /// Gives the room of the log back, now that nobody holds it.
  private func emptyLog() {
    do throws(SQLiteError) {
      isLogTooLong = try !database.emptyLog()
    } catch {
      fail(error)
    }
  }

  /// Lets the disk have the log; what has left the log the disk has already.
  ///
  /// - Returns: Whether it has it; the journal is at its end otherwise.
  private func synchronize() -> Bool {
    guard walFile < 0 || fdatasync(walFile) != 0 else { return true }
    let reason = errno == EIO ? "EIO" : "ERRNO \(errno)"
    generation += 1
    hasFailed = true
    report(.failed(.readOnly(reason: reason, outcome: .unknown), "fdatasync: \(reason)"))
    return false
  }

  // MARK: Chores

  /// Does what has waited longest, in a transaction that does not wait for the disk: the log keeps
  /// the order, so that no removal survives a crash that the snapshot before it does not survive.
  private func doChore() {
    guard !chores.isEmpty else { return }
    let chore = chores.removeFirst()
    switch chore {
    case .save(let parts): save(parts)
    case .drop(let part):
      // A snapshot too many does no harm: the next thinning finds it again.
      try? relaxed { () throws(SQLiteError) in try snapshots.remove(part) }
    case .remove(let removal): remove(removal)
    case .giveBack: giveBack()
    }
    checkpoint()
    if !chores.isEmpty { report(.hasChores) }
  }

  /// Runs a transaction that the disk may have later.
  private func relaxed(_ body: () throws(SQLiteError) -> Void) throws(SQLiteError) {
    try database.execute("PRAGMA synchronous = NORMAL")
    let result = Result { () throws(SQLiteError) in try transaction(body) }
    try database.execute("PRAGMA synchronous = \(synchronous)")
    try result.get()
  }

  private func save(_ parts: SnapshotTable.Parts) {
    let snapshot = parts.snapshot
    do throws(SQLiteError) {
      try relaxed { () throws(SQLiteError) in try snapshots.write(parts) }
      var rest = parts
      if rest.advance() { return chores.insert(.save(rest), at: 0) }
      // Before what waits already, so that there are never many too many.
      chores.insert(
        contentsOf: try snapshots.surplus(after: snapshot).map { .drop($0) }, at: 0)
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
        chores += try snapshots.outlived(first: first).map { .drop($0) }
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
      .removed(.success(RemovalReport(first: first, nanoseconds: nanoseconds() - start))))
  }

  /// Free pages that stay in the file for what comes next.
  private static let reservedPages: Int64 = 1024

  /// Pages that are given back at a time.
  private static let pagesGivenBack = 64

  /// Pages that could be given back.
  private func freePages() throws(SQLiteError) -> Int64 {
    guard try database.integer("PRAGMA auto_vacuum") == 2 else { return 0 }
    return try database.integer("PRAGMA freelist_count") ?? 0
  }

  /// Makes the file a little smaller; without room for that it stays as it is.
  private func giveBack() {
    guard let before = try? freePages() else { return }
    try? relaxed { () throws(SQLiteError) in
      try database.execute("PRAGMA incremental_vacuum(\(Self.pagesGivenBack))")
    }
    guard chores.isEmpty, let after = try? freePages() else { return }
    if after < before, after > Self.reservedPages { chores.append(.giveBack) }
  }

  /// Writes what is to be kept beside the events; what is not written now is tried again later.
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

private func logGrew(
  _ writer: UnsafeMutableRawPointer?, _ database: OpaquePointer?,
  _ name: UnsafePointer<CChar>?, _ pages: CInt
) -> CInt {
  guard let writer else { return SQLITE_OK }
  Unmanaged<SQLiteWriter>.fromOpaque(writer).takeUnretainedValue().noteLog(pages)
  return SQLITE_OK
}

private func nanoseconds() -> UInt64 {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}
