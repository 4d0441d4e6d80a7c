internal import EventLoop
internal import Glibc
internal import Journal

/// The files of one journal: locked, checked, opened, and what was found in them.
final class JournalFiles {
  let epoch: String
  let first: UInt64
  let last: UInt64

  /// The time of the last event.
  let time: Int64
  let lostEvents: UInt64

  /// Whether the file is another than the one that was written last: a copy, or it was moved.
  let isCopy: Bool
  let ageTime: Int64?

  /// Reads on the thread that opens the journal.
  let reader: SQLiteReader

  /// What a journal is opened for.
  enum Purpose {
    case writing(SQLiteStore.Durability)
    /// Reading while nobody writes it.
    case serving
    /// Reading, whoever else has it.
    case checking
  }

  private let path: String
  private let lock: JournalLock
  private let synchronous: String

  init(path: String, for purpose: Purpose) throws(JournalError) {
    let path = JournalPath.resolved(path)
    self.path = path
    let lockPath = path + ".lock"
    let isWritten: Bool
    switch purpose {
    case .writing(let durability):
      isWritten = true
      synchronous = durability == .always ? "FULL" : "NORMAL"
      lock = try JournalLock(writing: lockPath)
    case .serving, .checking:
      isWritten = false
      synchronous = "NORMAL"
      var mayBeWritten = false
      if case .checking = purpose { mayBeWritten = true }
      lock = try JournalLock(reading: lockPath, mayBeWritten: mayBeWritten)
    }
    if case .checking = purpose {} else { try lock.hold(path, forWriting: isWritten) }
    let found = try Schema.look(at: path)
    switch found {
    case .other: throw .notAJournal(path: path)
    case .journal(let version) where version > Schema.version:
      throw .newerFormat(found: version, supported: Int(Schema.version))
    case .nothing where !isWritten: throw .unavailable(detail: "no journal at \(path)")
    case .journal, .nothing: break
    }
    var isNew = false
    do throws(SQLiteError) {
      let database = try Database(
        path: path, !isWritten ? .readOnly : found == .nothing ? .create : .readWrite)
      if found == .nothing, try database.integer("PRAGMA application_id") == 0 {
        try Schema.create(on: database, epoch: Schema.makeEpoch())
        lock.mark = 0
        isNew = true
      }
      if isWritten, case .journal(let version) = found, version < Schema.version {
        try Schema.raise(database)
      }
      reader = try SQLiteReader(database)
      let epoch = try database.text("SELECT value FROM journal WHERE key = 'epoch'")
      time = try database.integer("SELECT time FROM event ORDER BY seq DESC LIMIT 1") ?? 0
      let last = try database.integer("SELECT max(seq) FROM event") ?? 0
      self.last = try SQLiteError.position(last)
      first = try reader.firstPosition()
      guard first <= self.last + 1 else {
        throw SQLiteError(damage: "the first position is \(first), the last \(last)")
      }
      ageTime = try database.integer(
        "SELECT CAST(value AS INTEGER) FROM journal WHERE key = 'age'")
      lostEvents = lock.mark > self.last ? lock.mark - self.last : 0
      let file = JournalPath.inode(path).map { "\($0)" } ?? ""
      let known = try database.text("SELECT value FROM journal WHERE key = 'file'")
      isCopy = known != nil && known != file && !isNew
      if isWritten, known != file {
        try database.execute("INSERT OR REPLACE INTO journal VALUES ('file', '\(file)')")
      }
      if lostEvents > 0 || isCopy, isWritten {
        let renewed = Schema.makeEpoch()
        try database.execute("UPDATE journal SET value = '\(renewed)' WHERE key = 'epoch'")
        lock.mark = self.last
        self.epoch = renewed
      } else {
        self.epoch = epoch ?? ""
      }
    } catch {
      throw error.isCorrupt
        ? .corrupt(seq: 0, detail: error.message)
        : error.isNoSpace ? error.refusal : .unavailable(detail: "\(path): \(error)")
    }
    if isNew { try lock.hold(path, forWriting: true) }
  }

  // MARK: Threads

  func makeWriter(
    checkpointer: Worker<Void>, report: @escaping @Sendable (SQLiteWriter.Report) -> Void
  ) throws(SystemError) -> Worker<SQLiteWriter.Job> {
    let (path, synchronous) = (path, synchronous)
    let lock = Borrowed(lock)
    return try Worker({
      Result { () throws(SQLiteError) in
        let database = try Database(path: path, .readWrite)
        try database.execute("PRAGMA synchronous = \(synchronous)")
        try database.execute("PRAGMA wal_autocheckpoint = 0")
        return try SQLiteWriter(
          database: database, path: path, synchronous: synchronous, lock: lock.value,
          checkpointer: checkpointer, report: report)
      }
    }) { writer, jobs in
      switch writer {
      case .success(let writer): writer.work(jobs)
      case .failure(let error): report(.failed(error.refusal, "\(error)"))
      }
    }
  }

  func makeCheckpointer(
    report: @escaping @Sendable (SQLiteWriter.Report) -> Void
  ) throws(SystemError) -> Worker<Void> {
    let path = path
    let hasFailed = Lock(false)
    let open: @Sendable () -> Database? = {
      guard let database = try? Database(path: path, .readWrite) else { return nil }
      // A connection that has read nothing yet does not know that there is a log, and moves nothing.
      _ = try? database.integer("SELECT count(*) FROM journal")
      return database
    }
    return try Worker(open) { database, _ in
      guard let database, !hasFailed.withLock({ $0 }),
        let failure = database.moveLog()
      else { return }
      // No second try: what the disk has refused once it may then have lost without a word.
      hasFailed.withLock { $0 = true }
      report(.failed(failure.refusal, "checkpoint: \(failure)"))
    }
  }

  /// - Parameter isLong: Whether it reads what nobody waits for.
  func makeReader(isLong: Bool) throws(SystemError) -> Worker<Reading> {
    let path = path
    return try Worker(isBackground: isLong, { FailingReader.open(path) }) { reader, readings in
      for reading in readings { reading.run(reader) }
    }
  }

  fileprivate static func open(_ path: String) throws(JournalError) -> SQLiteReader {
    do throws(SQLiteError) {
      return try SQLiteReader(Database(path: path, .readOnly))
    } catch {
      throw .unavailable(detail: "\(path): \(error)")
    }
  }

  // MARK: Replay

  /// Reads everything while the caller works on what was read before.
  func replay(
    after seq: UInt64, upTo last: UInt64, _ body: ([Record]) -> Void
  ) throws(JournalError) {
    let pages = PageQueue()
    let path = path
    let worker: Worker<Void>
    do throws(SystemError) {
      worker = try Worker({ Result { () throws(JournalError) in try Self.open(path) } }) {
        reader, _ in
        var position = seq
        do throws(JournalError) {
          let reader = try reader.get()
          while position < last {
            let page = try reader.records(
              after: position, limit: PageQueue.pageSize, bytes: PageQueue.pageBytes)
            guard let end = page.last?.seq else {
              throw .corrupt(seq: position + 1, detail: "it is missing")
            }
            position = end
            guard pages.put(.success(page)) else { return }
          }
          _ = pages.put(.success([]))
        } catch {
          _ = pages.put(.failure(error))
        }
      }
    } catch {
      throw .unavailable(detail: "\(error)")
    }
    defer {
      pages.close()
      worker.finish()
    }
    worker.post(())
    while true {
      let page = try pages.take().get()
      if page.isEmpty { return }
      body(page)
    }
  }
}

/// A reader that could not be opened says so at each reading.
private enum FailingReader {
  static func open(_ path: String) -> any JournalReader {
    do throws(JournalError) {
      return try JournalFiles.open(path)
    } catch {
      return Closed(error: error)
    }
  }

  private struct Closed: JournalReader {
    let error: JournalError

    func records(after seq: UInt64, limit: Int) throws(JournalError) -> [Record] { throw error }
    func records(
      ofStream stream: String, from seq: UInt64, limit: Int
    ) throws(JournalError) -> [Record] { throw error }
    func snapshot(of service: String, upTo seq: UInt64) throws(JournalError) -> Snapshot? {
      throw error
    }
    func position(at time: Int64) throws(JournalError) -> UInt64 { throw error }
    func bounds() throws(JournalError) -> (first: UInt64, last: UInt64) { throw error }
    func lastRemoval(of service: String, upTo seq: UInt64) throws(JournalError) -> UInt64 {
      throw error
    }
  }
}

/// Something that another thread uses while its owner keeps it alive and leaves it alone.
private struct Borrowed<Value: AnyObject>: @unchecked Sendable {
  let value: Value

  init(_ value: Value) {
    self.value = value
  }
}
