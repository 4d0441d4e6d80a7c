internal import EventLoop
internal import Glibc
internal import Journal
internal import Model

/// The files of one journal, after they were locked, verified and opened.
final class OpenJournal {
  let epoch: String
  let first: UInt64
  let last: UInt64

  /// The time of the last event, in microseconds since 1970; 0 if there is none.
  let time: Int64
  let lostEvents: UInt64

  /// The reason for a new epoch; `nil` if the epoch is unchanged or the journal is only read.
  let renewal: JournalRenewal?
  let notes: [JournalNote: String]

  /// A reader for the thread that opens the journal.
  let reader: SQLiteReader

  /// The purpose for which a journal is opened.
  enum Purpose {
    case writing(Durability)
    /// Reading while nobody writes.
    case serving
    /// Reading, even while another process writes.
    case checking
  }

  /// The stamp of the file if it was opened as one that nobody writes.
  ///
  /// `nil` if another process may be writing it.
  private let still: FileStamp?

  private let path: String
  private let lock: JournalLock
  private let synchronous: String

  /// The name of the durability setting; `nil` if the journal is only read.
  private let durability: String?

  init(path: String, for purpose: Purpose) throws(JournalError) {
    let path = CanonicalPath.resolved(path)
    self.path = path
    let lockPath = path + ".lock"
    var mayBeWritten = false
    switch purpose {
    case .writing(let durability):
      self.durability = durability.name
      synchronous = durability == .always ? "FULL" : "NORMAL"
      lock = try JournalLock(writing: lockPath)
    case .serving, .checking:
      durability = nil
      synchronous = "NORMAL"
      if case .checking = purpose { mayBeWritten = true }
      lock = try JournalLock(reading: lockPath, mayBeWritten: mayBeWritten)
    }
    let isWritten = durability != nil
    if !mayBeWritten { try lock.hold(path, forWriting: isWritten) }
    let found = try Schema.look(at: path)
    switch found {
    case .other: throw .notAJournal(path: path)
    case .journal(let version) where version > Schema.version:
      throw .newerFormat(found: version, supported: Int(Schema.version))
    case .nothing where !isWritten: throw .unavailable(detail: "no journal at \(path)")
    case .nothing: try Self.checkIsNew(path, lock)
    case .journal: break
    }
    if isWritten { Self.makeSharedMemory(of: path) }
    // Without a log nobody has the journal open. Then open it so that SQLite leaves no files beside
    // it, because it may be a backup.
    still = mayBeWritten ? FileStamp(ofStill: path) : nil
    let (database, isNew, last) = try Self.openDatabase(
      path, found, isStill: still != nil, isWritten: isWritten)
    self.last = last
    lostEvents = lock.mark > last ? lock.mark - last : 0
    var log: String?
    // Keep the log before anything overwrites it.
    if isWritten, lostEvents > 0 { log = try JournalLog(of: path).keep() }
    let (epoch, file): (String, String?)
    do throws(SQLiteError) {
      if isWritten, case .journal(let version) = found, version < Schema.version {
        try Schema.raise(database)
      }
      reader = try SQLiteReader(database)
      epoch = try database.text("SELECT value FROM journal WHERE key = 'epoch'") ?? ""
      file = try database.text("SELECT value FROM journal WHERE key = 'file'")
      time = try database.integer("SELECT time FROM event ORDER BY seq DESC LIMIT 1") ?? 0
      first = try reader.firstPosition()
      guard first <= last + 1 else {
        throw SQLiteError(damage: "the first position is \(first), the last \(last)")
      }
      notes = try Self.notes(in: database)
    } catch {
      throw Self.failure(error, path)
    }
    guard let durability else {
      (self.epoch, renewal) = (epoch, nil)
      return
    }
    let inode = CanonicalPath.inode(path).map { "\($0)" } ?? ""
    if lostEvents > 0 {
      renewal = .lostEvents(lostEvents, log: log)
    } else {
      renewal = isNew ? nil : file != nil && file != inode ? .copy : lock.renewal(durability)
    }
    self.epoch = renewal == nil ? epoch : Schema.makeEpoch()
    try Self.store(
      file: file == inode ? nil : inode, epoch: renewal == nil ? nil : self.epoch, in: database,
      path)
    // A session that was killed may have left events to the kernel. Later nobody knows of that.
    // Events that are not in the log any more are on the disk: SQLite flushes them first.
    if lock.session?.hasEnded != true { try JournalLog(of: path).synchronize() }
    lock.mark = last
    lock.begin(durability)
    if isNew { try lock.hold(path, forWriting: true) }
    database.keepLogOnClose(false)
  }

  /// Opens a database, and creates it if it is missing and is to be written.
  ///
  /// - Returns: The database, whether it was created, and the position of the last event.
  private static func openDatabase(
    _ path: String, _ found: Schema.Found, isStill: Bool, isWritten: Bool
  ) throws(JournalError) -> (database: Database, isNew: Bool, last: UInt64) {
    do throws(SQLiteError) {
      let database = try Database(
        path: path,
        isStill ? .still : !isWritten ? .readOnly : found == .nothing ? .create : .readWrite)
      // A start that fails must leave the log as it was.
      if isWritten, found != .nothing { database.keepLogOnClose(true) }
      var isNew = false
      if found == .nothing, try database.integer("PRAGMA application_id") == 0 {
        try Schema.create(on: database, epoch: Schema.makeEpoch())
        isNew = true
      }
      let last = try SQLiteError.position(database.integer("SELECT max(seq) FROM event") ?? 0)
      return (database, isNew, last)
    } catch {
      throw failure(error, path)
    }
  }

  /// Stores the inode of the file and the epoch, each if it is a new one.
  private static func store(
    file: String?, epoch: String?, in database: Database, _ path: String
  ) throws(JournalError) {
    do throws(SQLiteError) {
      if let file {
        try database.execute("INSERT OR REPLACE INTO journal VALUES ('file', '\(file)')")
      }
      if let epoch {
        try database.execute("UPDATE journal SET value = '\(epoch)' WHERE key = 'epoch'")
      }
    } catch {
      throw failure(error, path)
    }
  }

  /// Throws ``JournalError/locked(owner:)`` if a process began to write the journal meanwhile.
  func checkIsStill() throws(JournalError) {
    guard let still, FileStamp(ofStill: path) != still else { return }
    throw .locked(owner: "a daemon that has just started; try again")
  }

  private static func failure(_ error: SQLiteError, _ path: String) -> JournalError {
    error.isCorrupt
      ? .corrupt(seq: 0, detail: error.message)
      : error.isNoSpace ? error.refusal : .unavailable(detail: "\(path): \(error)")
  }

  static func notes(in database: Database) throws(SQLiteError) -> [JournalNote: String] {
    var notes: [JournalNote: String] = [:]
    for note in JournalNote.allCases {
      notes[note] = try database.text("SELECT value FROM journal WHERE key = '\(note.rawValue)'")
    }
    return notes
  }

  /// Refuses to create a journal in place of a lost one.
  private static func checkIsNew(_ path: String, _ lock: JournalLock) throws(JournalError) {
    var reasons: [String] = []
    if lock.mark > 0 {
      reasons.append("\(path).lock says that \(lock.mark) events were acknowledged")
    } else if lock.isDamaged {
      reasons.append("\(path).lock is damaged, so there may have been events")
    }
    let log = JournalLog(of: path)
    // During creation the first page is in the file before there is a log.
    if log.size > 0, JournalLog.size(of: path) == 0 || lock.mark > 0 {
      reasons.append("\(log.path) holds \(log.size) bytes that belong to it")
    }
    guard !reasons.isEmpty else { return }
    let restore = "binderd --restore FILE" + (access(path, F_OK) == 0 ? " --force" : "")
    throw .unavailable(
      detail: "\(path) is missing or empty, but \(reasons.joined(separator: ", and ")): "
        + "bring the file back, or restore a backup with '\(restore)'; to start with an "
        + "empty journal, move \(path).lock and \(path)-wal away")
  }

  /// Creates SQLite's shared-memory file, if it is missing, so that it is overwritten in place.
  ///
  /// SQLite maps this file. If a full disk stopped a change to it, the process would be killed.
  private static func makeSharedMemory(of path: String) {
    let file = open(path + "-shm", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard file >= 0 else { return }
    Process.writeInPlace(file)
    _ = close(file)
  }

  // MARK: Threads

  /// Starts the writer thread.
  func makeWriter(
    checkpointer: Worker<Void>, progress: Lock<Checkpointer.Progress>,
    report: @escaping @Sendable (SQLiteWriter.Report) -> Void
  ) throws(SystemError) -> WriterThread {
    let (path, synchronous, durability) = (path, synchronous, durability ?? "")
    let lock = Borrowed(lock)
    return try WriterThread(report: report) { () throws(SQLiteError) in
      let database = try Database(path: path, .readWrite)
      try database.execute("PRAGMA synchronous = \(synchronous)")
      try database.execute("PRAGMA wal_autocheckpoint = 0")
      return try SQLiteWriter(
        database: database, path: path, synchronous: synchronous, durability: durability,
        lock: lock.value, checkpointer: checkpointer, progress: progress, report: report)
    }
  }

  /// Starts the checkpoint thread.
  ///
  /// The writer posts to it, and many requests are one checkpoint.
  ///
  /// - Parameter progress: Set after each checkpoint.
  func makeCheckpointer(
    progress: Lock<Checkpointer.Progress>,
    report: @escaping @Sendable (SQLiteWriter.Report) -> Void
  ) throws(SystemError) -> Worker<Void> {
    let path = path
    return try Worker({ Checkpointer(path: path) }) { checkpointer, _ in
      let finding = checkpointer.move()
      let reached = checkpointer.progress
      progress.withLock { $0 = reached }
      switch finding {
      case .failed(let failure): report(.failed(failure.refusal, "checkpoint: \(failure)"))
      case .held(let bytes): report(.log(.held(bytes: bytes, path: path)))
      case .released: report(.log(.released))
      case nil: break
      }
    }
  }

  /// Returns a thread for readings, which opens its own connection.
  ///
  /// - Parameter isLong: Whether nobody waits for the results.
  func makeReader(isLong: Bool, on loop: Loop) -> Background<any JournalReader> {
    let path = path
    return Background(on: loop, isLowPriority: isLong) { FailingReader.open(path) }
  }

  static func openReader(_ path: String) throws(JournalError) -> SQLiteReader {
    do throws(SQLiteError) {
      return try SQLiteReader(Database(path: path, .readOnly))
    } catch {
      throw .unavailable(detail: "\(path): \(error)")
    }
  }

  // MARK: Replay

  /// Reads all events on another thread while the caller handles the previous page.
  ///
  /// The caller also makes the records: objects that one thread allocates and another frees are
  /// slow.
  ///
  /// The caller is the loop's thread before the loop runs, so it waits for the pages itself.
  func replay(
    after seq: UInt64, upTo last: UInt64, _ body: (RecordBatch) -> Void
  ) throws(JournalError) {
    let pages = PageQueue()
    let path = path
    let worker: Worker<Void>
    do throws(SystemError) {
      worker = try Worker({ Result { () throws(JournalError) in try Self.openReader(path) } }) {
        reader, _ in
        var position = seq
        do throws(JournalError) {
          let reader = try reader.get()
          while position < last {
            let page = try reader.page(
              after: position, limit: PageQueue.pageSize, bytes: PageQueue.pageBytes)
            if page.isEmpty { throw .corrupt(seq: position + 1, detail: "it is missing") }
            position = page.last
            guard pages.put(.success(page)) else { return }
          }
          _ = pages.put(.success(RecordBatch()))
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
      let page = try pages.removeFirst().get()
      if page.isEmpty { return }
      body(page)
    }
  }
}

/// An object that another thread uses while its owner keeps it alive and does not touch it.
private struct Borrowed<Value: AnyObject>: @unchecked Sendable {
  let value: Value

  init(_ value: Value) {
    self.value = value
  }
}
