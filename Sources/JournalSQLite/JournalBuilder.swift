internal import Glibc
package import Journal

/// Makes a journal beside the place where it is to be, looks whether it reads back, and puts it there
/// in one step: there is a whole one or none.
package final class JournalBuilder {
  private let path: String
  private let partial: String
  private let lock: JournalLock?
  private let isForced: Bool
  private var database: Database?
  private let events: EventTable
  private let snapshots: SnapshotTable
  private var last: UInt64 = 0

  /// What a journal is made for.
  package enum Purpose {
    /// To be kept: with the identity of the one that it is of.
    case backup(epoch: String)
    /// To be written by a daemon: with an identity of its own; the place is locked meanwhile.
    case use
  }

  /// - Parameters:
  ///   - path: Where it will be.
  ///   - isForced: Whether it may take the place of another, which is kept as `path.old`.
  /// - Throws: ``JournalError``; nothing was changed then.
  package init(
    at path: String, for purpose: Purpose, isForced: Bool
  ) throws(JournalError) {
    self.path = path
    self.isForced = isForced
    partial = path + ".partial"
    let epoch: String
    switch purpose {
    case .backup(let kept): (epoch, lock) = (kept, nil)
    case .use: (epoch, lock) = (Schema.makeEpoch(), try JournalLock(writing: path + ".lock"))
    }
    guard isForced || access(path, F_OK) != 0 else {
      throw .unavailable(detail: "\(path): there is a file already; --force replaces it")
    }
    Self.removeFiles(of: partial)
    // Its content is for its owner only.
    let mask = umask(0o077)
    defer { umask(mask) }
    do throws(SQLiteError) {
      let database = try Database(path: partial, .create)
      try database.execute("PRAGMA synchronous = OFF")
      try Schema.create(on: database, epoch: epoch)
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

  /// Adds events, after those before.
  package func add(_ records: [Record]) throws(JournalError) {
    try write { (_) throws(SQLiteError) in
      for record in records { try events.write(record) }
    }
    last = records.last?.seq ?? last
  }

  package func add(_ snapshot: Snapshot) throws(JournalError) {
    try write { (_) throws(SQLiteError) in
      var parts = SnapshotTable.Parts(snapshot)
      repeat { try snapshots.write(parts) } while parts.advance()
    }
  }

  /// Takes over what is known of events that were removed.
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
        note.bind(RemovalTable.key(of: service), at: 1)
        note.bind("\(seq)", at: 2)
        try note.run()
      }
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

  /// Ends it: reads all of it back, hands it to the disk, and puts it where it is to be.
  ///
  /// - Returns: What it holds.
  package func finish() throws(JournalError) -> JournalCheck.Report {
    try write { database throws(SQLiteError) in
      // Of what was removed while it was read some may be here.
      try database.execute(
        """
        UPDATE removal SET kept =
          (SELECT count(*) FROM event WHERE seq BETWEEN removal.first AND removal.last);
        INSERT OR REPLACE INTO journal SELECT 'first', CAST(ifnull(min(seq), 1) AS TEXT) FROM event;
        DELETE FROM removal WHERE last < (SELECT ifnull(min(seq), 1) FROM event);
        """)
    }
    do throws(SQLiteError) {
      try database?.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    } catch {
      throw error.isNoSpace ? error.refusal : .unavailable(detail: "\(partial): \(error)")
    }
    database = nil
    let report = try JournalCheck(path: partial).run()
    guard report.damages.isEmpty else {
      throw .corrupt(seq: report.first, detail: "the copy: \(report.damages[0])")
    }
    for end in ["-wal", "-shm"] { unlink(partial + end) }
    try synchronize(partial)
    try replace()
    lock?.mark = report.last
    return report
  }

  /// Puts the new file in its place; the old one, with its log, goes aside before.
  private func replace() throws(JournalError) {
    if isForced {
      // The log first: with another file it would be taken for that one's.
      for end in ["-wal", ""] where access(path + end, F_OK) == 0 {
        guard rename(path + end, path + ".old" + end) == 0 else { throw Self.failure(path) }
      }
      unlink(path + "-shm")
      guard rename(partial, path) == 0 else { throw Self.failure(path) }
    } else {
      // Unlike rename, this finds out if there is a file meanwhile.
      guard link(partial, path) == 0 else { throw Self.failure(path) }
      unlink(partial)
    }
    let directory = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
    try synchronize(directory)
  }

  private func synchronize(_ path: String) throws(JournalError) {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw Self.failure(path) }
    defer { close(file) }
    guard fsync(file) == 0 else { throw Self.failure(path) }
  }

  private static func failure(_ path: String) -> JournalError {
    .unavailable(detail: "\(path): \(String(cString: strerror(errno)))")
  }
}
