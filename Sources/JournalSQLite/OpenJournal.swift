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

  /// Whether it was opened as a file that nobody writes.
  var isStill: Bool { still != nil }

  private let path: String
  private let lock: JournalLock

  /// The source of the events that are not in the database.
  private let tailSource: TailSource

  /// The name of the durability setting; `nil` if the journal is only read.
  private let durability: String?

  /// - Parameter daemon: The name of the daemon that the journal must belong to; `nil` for any.
  init(path: String, for purpose: Purpose, of daemon: String? = nil) throws(JournalError) {
    let path = CanonicalPath.resolved(path)
    self.path = path
    if let daemon { try Self.checkOwner(of: path, daemon) }
    let mayBeWritten = if case .checking = purpose { true } else { false }
    if case .writing(let durability) = purpose {
      self.durability = durability.name
      lock = try JournalLock(writing: path + ".lock")
    } else {
      durability = nil
      lock = try JournalLock(reading: path + ".lock", mayBeWritten: mayBeWritten)
    }
    let isWritten = durability != nil
    if !mayBeWritten { try lock.hold(path, forWriting: isWritten) }
    let found = try Schema.look(at: path)
    try Self.check(found, at: path, of: daemon, isWritten ? lock : nil)
    if isWritten { Self.makeSharedMemory(of: path) }
    // Without a log nobody has the journal open. Then open it so that SQLite leaves no files beside
    // it, because it may be a backup.
    still = mayBeWritten ? FileStamp(ofStill: path) : nil
    let database: Database, isNew: Bool
    (database, notes, isNew) = try Self.openDatabase(
      path, found, daemon, isStill: still != nil, isWritten: isWritten)
    let isSameBoot = lock.session?.boot == lock.boot
    let rest: TailContents.Rest
    (rest, last) = try Self.readTail(
      TailOnDisk(of: path, isComplete: isSameBoot), database, isShown: !isWritten, path)
    lostEvents = lock.mark > last ? lock.mark - last : 0
    if isWritten, let damage = rest.damage {
      throw .corrupt(seq: damage, detail: "its checksum does not match, or it is missing")
    }
    // Keep the log and the tail before anything overwrites them.
    let log = isWritten && lostEvents > 0 ? try JournalLog.keep(of: path) : nil
    let (epoch, file): (String, String?)
    if isWritten, case .journal(let version) = found, version < Schema.version {
      try Self.upgrade(database, from: version, path)
    }
    do throws(SQLiteError) {
      reader = try SQLiteReader(database)
      epoch = try database.text("SELECT value FROM journal WHERE key = 'epoch'") ?? ""
      file = try database.text("SELECT value FROM journal WHERE key = 'file'")
      let newest = try Self.lastTime(in: database)
      time = rest.time ?? newest
      first = try reader.firstPosition()
      guard first <= last + 1 else {
        throw SQLiteError(damage: "the first position is \(first), the last \(last)")
      }
    } catch {
      throw Self.failure(error, path)
    }
    guard let durability else {
      (self.epoch, renewal, tailSource) = (epoch, nil, .disk(isComplete: isSameBoot))
      return
    }
    let inode = CanonicalPath.inode(path).map { "\($0)" } ?? ""
    let isCopy = file != nil && file != inode
    renewal =
      lostEvents > 0
      ? .lostEvents(lostEvents, log: log)
      : isNew ? nil : isCopy ? .copy : lock.renewal(durability)
    self.epoch = renewal == nil ? epoch : Schema.makeEpoch()
    let salt = UInt64.random(in: .min ... .max)
    do throws(SQLiteError) {
      try Self.begin(
        database, with: rest.batches, salt: salt, file: file == inode ? nil : inode,
        epoch: renewal == nil ? nil : self.epoch)
    } catch {
      throw Self.failure(error, path)
    }
    // A session that was killed may have left events to the kernel. Later nobody knows of that.
    // Events that are not in the log any more are on the disk: SQLite flushes them first.
    if lock.session?.hasEnded != true { try JournalLog(of: path).synchronize() }
    let tail = try Self.makeTail(of: path, salt: salt, last: last, lock)
    tailSource = .process(tail)
    reader.tail = tail
    lock.mark = last
    lock.begin(durability)
    if isNew { try lock.hold(path, forWriting: true) }
    database.keepLogOnClose(false)
  }

  /// The tail, which only a journal that is written has.
  var tail: Tail? {
    if case .process(let tail) = tailSource { tail } else { nil }
  }

  /// Checks that a file is a journal that this program can open.
  ///
  /// - Parameter lock: The lock of a writer; `nil` if the journal is only read.
  private static func check(
    _ found: Schema.Found, at path: String, of daemon: String?, _ lock: JournalLock?
  ) throws(JournalError) {
    switch found {
    case .other: throw .notAJournal(path: path)
    case .journal(let version) where version > Schema.version:
      throw .newerFormat(found: version, supported: Int(Schema.version))
    case .nothing:
      guard let lock else { throw .unavailable(detail: "no journal at \(path)") }
      try checkIsNew(path, of: daemon ?? "binderd", lock)
    case .journal: break
    }
  }

  /// Returns the time of the last event in the database; 0 if there is none.
  private static func lastTime(in database: Database) throws(SQLiteError) -> Int64 {
    try database.integer("SELECT time FROM main.event ORDER BY seq DESC LIMIT 1") ?? 0
  }

  private static func upgrade(
    _ database: Database, from version: Int, _ path: String
  ) throws(JournalError) {
    do throws(SQLiteError) {
      if try Schema.raise(database) { return }
    } catch {
      throw failure(error, path)
    }
    throw .unavailable(
      detail: "\(path) cannot be upgraded from format \(version) to \(Schema.version) while "
        + "another program reads it: end that program, such as sqlite3, and start again")
  }

  /// Returns the events that only the tail has, and the last position.
  ///
  /// - Parameter isShown: Whether the connection shall see these events.
  private static func readTail(
    _ tail: TailOnDisk, _ database: Database, isShown: Bool, _ path: String
  ) throws(JournalError) -> (rest: TailContents.Rest, last: UInt64) {
    do throws(SQLiteError) {
      let rest = isShown ? try tail.show(in: database) : try tail.rest(besides: database)
      let end = try database.integer("SELECT max(seq) FROM main.event") ?? 0
      return (rest, max(try SQLiteError.position(end), rest.last))
    } catch {
      throw failure(error, path)
    }
  }

  private static func makeTail(
    of path: String, salt: UInt64, last: UInt64, _ lock: JournalLock
  ) throws(JournalError) -> Tail {
    do throws(SQLiteError) {
      return try Tail(of: path, salt: salt, last: last, lock)
    } catch {
      throw failure(error, path)
    }
  }

  /// Opens a database, and creates it if it is missing and is to be written.
  ///
  /// - Parameter daemon: The name of the daemon that the journal must belong to; `nil` for any.
  /// - Returns: The database, its notes, and whether it was created.
  private static func openDatabase(
    _ path: String, _ found: Schema.Found, _ daemon: String?, isStill: Bool, isWritten: Bool
  ) throws(JournalError) -> (database: Database, notes: [JournalNote: String], isNew: Bool) {
    let (database, notes): (Database, [JournalNote: String])
    var isNew = false
    do throws(SQLiteError) {
      database = try Database(
        path: path,
        isStill ? .still : !isWritten ? .readOnly : found == .nothing ? .create : .readWrite)
      // A start that fails must leave the log as it was.
      if isWritten, found != .nothing { database.keepLogOnClose(true) }
      if found == .nothing, try database.integer("PRAGMA application_id") == 0 {
        var notes: [JournalNote: String] = [:]
        if let daemon { notes.daemon = daemon }
        try Schema.create(on: database, epoch: Schema.makeEpoch(), notes)
        isNew = true
      }
      notes = try Self.notes(in: database)
    } catch {
      throw failure(error, path)
    }
    try check(notes, of: path, daemon)
    return (database, notes, isNew)
  }

  /// Checks that a journal belongs to a daemon, before anything beside it is created or changed.
  ///
  /// It passes a file that cannot be read now; opening it reports the reason.
  private static func checkOwner(of path: String, _ daemon: String) throws(JournalError) {
    // SQLite would empty the log of an empty file.
    guard case .journal? = try? Schema.look(at: path) else { return }
    let hasLog = access(path + "-wal", F_OK) == 0
    guard let database = try? Database(path: path, hasLog ? .readOnly : .still),
      let notes = try? notes(in: database)
    else { return }
    try check(notes, of: path, daemon)
  }

  private static func check(
    _ notes: [JournalNote: String], of path: String, _ daemon: String?
  ) throws(JournalError) {
    guard let daemon, daemon != notes.daemon else { return }
    throw .foreign(path, of: notes.daemon, to: daemon)
  }

  /// Begins a session, completely or not at all: moves the events of the last one's tail into the
  /// database, and flushes it to the disk.
  ///
  /// - Parameters:
  ///   - salt: The salt of the blocks from now on. It invalidates those that are in the files.
  ///   - file: The inode of the file, and the epoch, each if it is a new one.
  private static func begin(
    _ database: Database, with batches: [RecordBatch], salt: UInt64, file: String?, epoch: String?
  ) throws(SQLiteError) {
    try database.execute("PRAGMA synchronous = FULL; BEGIN IMMEDIATE")
    let events = try EventTable(database)
    for batch in batches { try events.write(batch) }
    try database.execute(Schema.storing(salt: salt))
    if let file {
      try database.execute("INSERT OR REPLACE INTO journal VALUES ('file', '\(file)')")
    }
    if let epoch {
      try database.execute("UPDATE journal SET value = '\(epoch)' WHERE key = 'epoch'")
    }
    try database.execute("COMMIT")
    // The salt must not be lost with a damaged log. A reader may prevent that.
    _ = try database.emptyLog()
    try database.execute("PRAGMA synchronous = NORMAL")
  }

  /// Makes the reader see the present tail, which another process may be writing.
  func showTail() throws(SQLiteError) {
    guard case .disk(let isComplete) = tailSource else { return }
    try TailOnDisk(of: path, isComplete: isComplete).show(in: reader.database)
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
  private static func checkIsNew(
    _ path: String, of daemon: String, _ lock: JournalLock
  ) throws(JournalError) {
    var reasons: [String] = []
    if lock.mark > 0 {
      reasons.append("\(path).lock says that \(lock.mark) events were acknowledged")
    } else if lock.isDamaged {
      reasons.append("\(path).lock is damaged, so there may have been events")
    }
    for end in TailFile.ends where JournalLog.size(of: path + end) > 0 {
      reasons.append("\(path)\(end) may hold the last of them")
    }
    let log = JournalLog(of: path)
    // During creation the first page is in the file before there is a log.
    if log.size > 0, JournalLog.size(of: path) == 0 || lock.mark > 0 {
      reasons.append("\(log.path) holds \(log.size) bytes that belong to it")
    }
    guard !reasons.isEmpty else { return }
    let restore = "\(daemon) --restore FILE" + (access(path, F_OK) == 0 ? " --force" : "")
    throw .unavailable(
      detail: "\(path) is missing or empty, but \(reasons.joined(separator: ", and ")): "
        + "bring the file back, or restore a backup with '\(restore)'; to start with an "
        + "empty journal, move \(path).lock, \(path)-wal and \(path)-tail* away")
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

  /// Starts the database's thread.
  ///
  /// - Parameter patience: The milliseconds for which it waits for another process that writes.
  func makeDatabaseThread(
    for tail: Tail, patience: CInt, report: @escaping @Sendable (SQLiteWriter.Report) -> Void
  ) throws(SystemError) -> Worker<SQLiteWriter.Job> {
    let (path, durability) = (path, durability ?? "")
    let lock = Borrowed(lock)
    return try Worker({
      Result { () throws(SQLiteError) in
        let database = try Database(path: path, .readWrite, patience: patience)
        try database.execute("PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0")
        return try SQLiteWriter(
          database: database, path: path, durability: durability, lock: lock.value, tail: tail,
          report: report)
      }
    }) { writer, jobs in
      switch writer {
      case .success(let writer): writer.work(jobs)
      case .failure(let error):
        tail.abandon()
        report(.failure(error))
      }
    }
  }

  /// Returns a thread for readings, which opens its own connection.
  ///
  /// - Parameter isLong: Whether nobody waits for the results.
  func makeReader(isLong: Bool, on loop: Loop) -> Background<any JournalReader> {
    let (path, tail) = (path, tailSource)
    return Background(on: loop, isLowPriority: isLong) { FailingReader.open(path, tail) }
  }

  static func openReader(
    _ path: String, _ tail: TailSource
  ) throws(JournalError) -> SQLiteReader {
    do throws(SQLiteError) {
      let database = try Database(path: path, .readOnly)
      switch tail {
      case .process(let tail): return try SQLiteReader(database, tail)
      case .disk(let isComplete):
        _ = try TailOnDisk(of: path, isComplete: isComplete).show(in: database)
        return try SQLiteReader(database)
      }
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
    let (path, tail) = (path, tailSource)
    let worker: Worker<Void>
    do throws(SystemError) {
      worker = try Worker({ Result { () throws(JournalError) in try Self.openReader(path, tail) } })
      {
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
