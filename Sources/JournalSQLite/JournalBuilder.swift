internal import Glibc
package import Journal
package import Model

/// Builds a journal in a partial file, verifies it, and renames it into place.
///
/// The destination holds either the complete journal or none.
package final class JournalBuilder: JournalTarget {
  let partial: String
  private let lock: JournalLock?
  private let place: JournalDestination
  private let path: String
  private let isForced: Bool
  private let isBranch: Bool
  private(set) var database: Database?
  private let events: EventTable
  private let snapshots: SnapshotTable

  /// The number of events so far.
  var count = 0

  /// The path of the journal that was replaced; `nil` if there was none.
  package var replaced: String? { place.replaced }

  /// The purpose of a new journal.
  package enum Purpose {
    /// A backup, which keeps the epoch of its source.
    case backup(epoch: String)
    /// A journal for a daemon, with a new epoch.
    ///
    /// The destination stays locked meanwhile.
    case use
    /// A journal for a daemon that is removed with it: it is neither verified nor flushed.
    case branch
  }

  /// - Parameters:
  ///   - path: The destination.
  ///   - source: The journal that is copied, which is never replaced.
  ///   - isForced: Whether an existing file may be replaced. A backup is kept as `path.old`. A
  ///     journal for use is kept as `path.old.2` and so on if that name is taken.
  /// - Throws: ``JournalError``; nothing was changed then.
  package init(
    at path: String, of source: String? = nil, for purpose: Purpose, isForced: Bool
  ) throws(JournalError) {
    self.path = path
    self.isForced = isForced
    isBranch = if case .branch = purpose { true } else { false }
    place = try JournalDestination(at: path, besides: source)
    partial = place.partial
    let epoch: String
    switch purpose {
    case .backup(let kept): (epoch, lock) = (kept, nil)
    case .use, .branch:
      place.unlock()
      (epoch, lock) = (
        Schema.makeEpoch(), try JournalLock(writing: CanonicalPath.resolved(path) + ".lock")
      )
    }
    guard isForced || access(path, F_OK) != 0 else {
      throw .unavailable(detail: "\(path) exists; use --force to replace it")
    }
    Self.removeFiles(of: partial)
    // Only the owner may read the content.
    let mask = umask(0o077)
    defer { umask(mask) }
    do throws(SQLiteError) {
      let database = try Database(path: partial, .build)
      try database.execute("PRAGMA synchronous = OFF")
      try Schema.create(on: database, epoch: epoch)
      // A file that fails is removed, so each page is written once only.
      try database.execute("PRAGMA journal_mode = OFF")
      // A daemon that opens a backup for writing gives it a new epoch.
      if lock == nil {
        try database.execute("INSERT INTO journal VALUES ('file', 'backup')")
      }
      self.database = database
      events = try EventTable(database)
      snapshots = try SnapshotTable(database)
    } catch {
      Self.removeFiles(of: partial)
      throw .unavailable(detail: "\(partial): \(error)")
    }
  }

  deinit {
    database = nil
    Self.removeFiles(of: partial)
  }

  private static func removeFiles(of path: String) {
    for end in ["", "-wal", "-shm"] { unlink(path + end) }
  }

  package func add(_ records: [Record]) throws(JournalError) {
    try write { (_) throws(SQLiteError) in
      try events.write(RecordBatch(records))
    }
    count += records.count
  }

  package func add(_ snapshot: Snapshot) throws(JournalError) {
    try write { (_) throws(SQLiteError) in
      var parts = SnapshotTable.Parts(snapshot)
      repeat { try snapshots.write(parts) } while parts.advance()
    }
  }

  package func add(_ removals: KnownRemovals) throws(JournalError) {
    try write { database throws(SQLiteError) in
      for stretch in removals.stretches {
        let note = try Statement("INSERT INTO removal VALUES (?, ?, 0, ?)", on: database)
        note.bind(Int64(stretch.range.lowerBound), at: 1)
        note.bind(Int64(stretch.range.upperBound), at: 2)
        note.bind(" " + stretch.services.joined(separator: " ") + " ", at: 3)
        try note.run()
      }
      for (service, seq) in removals.services {
        let note = try Statement("INSERT INTO journal VALUES (?, ?)", on: database)
        note.bind(RemovalKey.text(service), at: 1)
        note.bind("\(seq)", at: 2)
        try note.run()
      }
    }
  }

  package func add(_ notes: [JournalNote: String]) throws(JournalError) {
    try write { database throws(SQLiteError) in
      for (note, text) in notes { try Schema.write(text, as: note, to: database) }
    }
  }

  private func write(
    _ body: (Database) throws(SQLiteError) -> Void
  ) throws(JournalError) {
    guard let database else { preconditionFailure("added to a journal that is finished") }
    do throws(SQLiteError) {
      try database.execute("BEGIN")
      try body(database)
      try database.execute("COMMIT")
    } catch {
      throw error.isNoSpace ? error.refusal : .unavailable(detail: "\(partial): \(error)")
    }
  }

  package func finish(
    _ accept: (String) throws(JournalError) -> Void
  ) throws(JournalError) -> JournalReport {
    try write { database throws(SQLiteError) in
      // The copy may contain events that were removed while it was read.
      try database.execute(
        """
        UPDATE removal SET kept =
          (SELECT count(*) FROM event WHERE seq BETWEEN removal.first AND removal.last);
        INSERT OR REPLACE INTO journal SELECT 'first', CAST(ifnull(min(seq), 1) AS TEXT) FROM event;
        DELETE FROM removal WHERE last < (SELECT ifnull(min(seq), 1) FROM event);
        """)
    }
    do throws(SQLiteError) {
      try database?.execute("PRAGMA journal_mode = WAL")
    } catch {
      throw error.isNoSpace ? error.refusal : .unavailable(detail: "\(partial): \(error)")
    }
    database = nil
    let report = try report()
    guard report.damages.isEmpty else {
      throw .corrupt(seq: report.first, detail: "the copy: \(report.damages[0])")
    }
    try accept(partial)
    for end in ["-wal", "-shm"] { unlink(partial + end) }
    if lock != nil {
      try JournalOwner.give(
        partial, lock: CanonicalPath.resolved(path) + ".lock", inPlaceOf: path)
    }
    if !isBranch { try JournalDestination.synchronize(partial) }
    // A backup can be made again; a journal that was in use is the only one.
    try place.put(isForced: isForced, keepsAll: lock != nil)
    lock?.mark = report.last
    return report
  }

  /// Returns the report of the verification; a branch is not read for it.
  private func report() throws(JournalError) -> JournalReport {
    guard isBranch else { return try JournalCheck(path: partial).run() }
    let files = try OpenJournal(path: partial, for: .checking)
    var report = JournalReport(epoch: files.epoch, first: files.first, last: files.last)
    report.count = count
    return report
  }
}
