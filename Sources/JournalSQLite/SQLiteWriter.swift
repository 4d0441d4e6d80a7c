internal import CSQLite
internal import EventLoop
internal import Glibc
internal import Journal

/// Writes records and snapshots, on the writer thread.
final class SQLiteWriter {
  private let database: Database
  private let lock: JournalLock
  private let checkpointer: Worker<Void>
  private let report: @Sendable (Report) -> Void
  private let walFile: CInt

  private let begin: Statement
  private let commit: Statement
  private let rollback: Statement
  private let insert: Statement
  private var row = RowBuffer()
  private let crc = CRC32C()

  /// Batches of an older generation are void: one before them has failed.
  private var generation = 0

  /// Pages in the write-ahead log, as of the last commit; SQLite tells through a hook.
  private var walPages: CInt = 0

  /// From how many pages on the checkpoint thread is called: small steps stay unnoticed.
  private static let checkpointPages: CInt = 250

  /// From how many pages on the writer does it itself: a checkpoint beside an endless stream of
  /// commits never gets to the end, and the log could not be begun anew.
  private static let stallPages: CInt = 16 * 1024

  init(
    database: Database, path: String, lock: JournalLock, checkpointer: Worker<Void>,
    report: @escaping @Sendable (Report) -> Void
  ) throws(SQLiteError) {
    self.database = database
    self.lock = lock
    self.checkpointer = checkpointer
    self.report = report
    begin = try Statement("BEGIN IMMEDIATE", on: database)
    commit = try Statement("COMMIT", on: database)
    rollback = try Statement("ROLLBACK", on: database)
    insert = try Statement(
      """
      INSERT INTO event (seq, time, version, previous, stream, type, data, command, meta, crc)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """, on: database)
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

  /// Does what waits: all batches of records as one transaction.
  func work(_ jobs: [Job]) {
    var batches: [[Record]] = []
    for job in jobs {
      switch job {
      case .append(let records, let generation):
        if generation == self.generation { batches.append(records) }
      case .save(let snapshot): save(snapshot)
      case .synchronize: synchronize()
      }
    }
    guard let last = batches.last?.last else { return }
    let start = nanoseconds()
    do throws(SQLiteError) {
      try transaction { () throws(SQLiteError) in
        for records in batches { for record in records { try write(record) } }
      }
    } catch {
      return fail(error)
    }
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

  private func write(_ record: Record) throws(SQLiteError) {
    row.begin(
      seq: record.seq, time: record.time, version: record.version, previous: record.previous)
    let stream = row.append(record.stream)
    let type = row.append(record.type)
    let data = row.append(record.data)
    let command = row.append(record.command)
    let meta = row.append(record.meta)
    insert.bind(Int64(record.seq), at: 1)
    insert.bind(record.time, at: 2)
    insert.bind(Int64(record.version), at: 3)
    insert.bind(Int64(record.previous), at: 4)
    insert.bind(inPlace: row[stream], at: 5)
    insert.bind(inPlace: row[type], at: 6)
    insert.bind(inPlace: row[data], at: 7)
    insert.bind(inPlace: row[command], at: 8)
    insert.bind(inPlace: row[meta], at: 9)
    insert.bind(row.checksum, at: 10)
    try insert.run()
  }

  private func fail(_ error: SQLiteError) {
    generation += 1
    report(error.hasNoOutcome ? .rejected(error.refusal) : .failed(error.refusal, "\(error)"))
  }

  // MARK: Checkpoints

  private func checkpoint() {
    if walPages >= Self.stallPages {
      sqlite3_wal_checkpoint_v2(database.pointer, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
    } else if walPages >= Self.checkpointPages {
      checkpointer.post(())
    }
  }

  /// Makes the log durable; for the policy that does so by a timer.
  private func synchronize() {
    guard walFile >= 0, fdatasync(walFile) != 0 else { return }
    let reason = errno == EIO ? "EIO" : "ERRNO \(errno)"
    generation += 1
    report(.failed(.readOnly(reason: reason, outcome: .unknown), "fdatasync: \(reason)"))
  }

  // MARK: Snapshots

  /// Bytes of a snapshot that are written as one row: a commit does not wait long behind one.
  private static let partSize = 256 * 1024

  private func save(_ snapshot: Snapshot) {
    do throws(SQLiteError) {
      let insert = try Statement(
        "INSERT OR REPLACE INTO snapshot VALUES (?, ?, ?, ?, ?, ?, ?)", on: database)
      var text = snapshot.data
      let bytes = text.withUTF8 { Array($0) }
      let count = max(1, (bytes.count + Self.partSize - 1) / Self.partSize)
      // The first part last: a snapshot without it is none.
      for part in (0..<count).reversed() {
        let range = part * Self.partSize..<min(bytes.count, (part + 1) * Self.partSize)
        try transaction { () throws(SQLiteError) in
          try write(bytes, range, part, of: count, of: snapshot, with: insert)
        }
      }
      try thin(snapshot.service)
      report(.saved)
    } catch {
      report(.notSaved("\(error)"))
    }
    checkpoint()
  }

  private func write(
    _ bytes: [UInt8], _ range: Range<Int>, _ part: Int, of count: Int, of snapshot: Snapshot,
    with insert: Statement
  ) throws(SQLiteError) {
    var result: Result<Void, SQLiteError> = .success(())
    bytes.withUnsafeBytes { bytes in
      let slice = UnsafeRawBufferPointer(rebasing: bytes[range])
      insert.bind(snapshot.service, at: 1)
      insert.bind(Int64(snapshot.seq), at: 2)
      insert.bind(Int64(part), at: 3)
      insert.bind(Int64(count), at: 4)
      insert.bind(Int64(snapshot.schema), at: 5)
      insert.bind(inPlace: slice, at: 6)
      insert.bind(Int64(crc.checksum(slice)), at: 7)
      result = Result { () throws(SQLiteError) in try insert.run() }
    }
    try result.get()
  }

  /// Keeps the newest two snapshots of a service, and of the older ones one for each doubling of
  /// the distance.
  private func thin(_ service: String) throws(SQLiteError) {
    let select = try Statement(
      "SELECT seq FROM snapshot WHERE service = ? AND part = 0 ORDER BY seq DESC", on: database)
    select.bind(service, at: 1)
    var seqs: [Int64] = []
    while try select.step() { seqs.append(select.int64(0)) }
    guard seqs.count > 2 else { return }
    let delete = try Statement(
      "DELETE FROM snapshot WHERE service = ? AND seq = ?", on: database)
    let unit = seqs[0] - seqs[1]
    var seen: Set<Int> = []
    // The oldest of each doubling stays: a younger one would never get old enough for the next.
    for seq in seqs.dropFirst(2).reversed() {
      let doublings = Int64.bitWidth - ((seqs[0] - seq) / unit).leadingZeroBitCount
      if seen.insert(doublings).inserted { continue }
      delete.bind(service, at: 1)
      delete.bind(seq, at: 2)
      try delete.run()
    }
  }
}

extension SQLiteWriter {
  /// What the writer thread is asked to do.
  enum Job: Sendable {
    case append([Record], generation: Int)
    case save(Snapshot)
    case synchronize
  }

  /// What the writer thread tells the loop.
  enum Report: Sendable {
    case committed(upTo: UInt64, nanoseconds: UInt64)
    /// Nothing was written; the journal goes on.
    case rejected(JournalError)
    /// It may have been written; the journal is at its end.
    case failed(JournalError, String)
    case saved
    case notSaved(String)
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
