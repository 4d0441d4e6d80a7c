import CSQLite
import EventLoop
import Glibc
import Journal
import JournalSQLite
import Model
import Signals
import TestSupport
import Testing

/// A journal that another process also writes to, for example `sqlite3`.
struct BusyJournalTests {
  let directory: TemporaryDirectory
  let journal: SQLiteJournal

  init() throws {
    directory = try TemporaryDirectory()
    journal = try SQLiteJournal(directory.journal)
  }

  /// Returns a connection that holds a write transaction until it is closed.
  private func outsideWriter(_ path: String? = nil) -> OpaquePointer? {
    let database = openOutside(path ?? directory.journal)
    let code = sqlite3_exec(database, "BEGIN IMMEDIATE", nil, nil, nil)
    precondition(code == SQLITE_OK, String(cString: sqlite3_errmsg(database)))
    return database
  }

  /// Fills both files of the tail, whose events cannot be moved while another process writes.
  private func fillTail(of other: SQLiteJournal? = nil) throws {
    let journal = other ?? journal
    for _ in 0..<2 {
      _ = try journal.store.append([draft("fill", Self.filler(40_000))])
      try journal.settle()
    }
  }

  private static func filler(_ count: Int) -> String {
    "\"" + String(repeating: "x", count: count) + "\""
  }

  /// Returns the number of events that other programs see.
  private func visible() -> Int {
    let database = openOutside(directory.journal)
    defer { sqlite3_close(database) }
    var statement: OpaquePointer?
    sqlite3_prepare_v2(database, "SELECT count(*) FROM event", -1, &statement, nil)
    defer { sqlite3_finalize(statement) }
    return sqlite3_step(statement) == SQLITE_ROW ? Int(sqlite3_column_int64(statement, 0)) : -1
  }

  @Test
  func `an append does not wait for a foreign write, and other programs see it after that`()
    throws
  {
    let other = outsideWriter()
    for i in 1...3 {
      _ = try journal.store.append([draft("s", "\(i)")])
      try journal.settle()
    }
    #expect(visible() == 0)
    let found = try journal.read { reader throws(JournalError) in
      (try reader.records(after: 0, limit: 10).map(\.data), try reader.bounds())
    }
    #expect(found.0 == ["1", "2", "3"])
    #expect(found.1 == (1, 3))
    sqlite3_close(other)
    try journal.run { visible() == 3 }
  }

  @Test
  func `an append is rejected when the tail is full during a foreign write, and accepted after it`()
    throws
  {
    var reasons: [JournalError] = []
    let observer = StoreObserver(of: journal.store)
    observer.onRejected = { reasons.append($0) }
    let other = outsideWriter()
    try fillTail()
    _ = try journal.store.append([draft("s", Self.filler(300_000))])
    try journal.run { !reasons.isEmpty || journal.store.refusal != nil }
    #expect(reasons == [.readOnly(reason: "BUSY", outcome: .none)])
    #expect(journal.store.refusal == nil)
    #expect(journal.store.last == 2)
    sqlite3_close(other)

    try #require(journal.store.refusal == nil)
    #expect(try journal.store.append([draft("s", Self.filler(300_000))]) == 3)
    #expect(try journal.store.append([draft("s", "2")]) == 4)
    try journal.settle()
    #expect(try replayed(journal.store).map(\.data.utf8.count) == [40_002, 40_002, 300_002, 1])
    observer.end()
  }

  @Test
  func `events submitted after a failed write are not written either`() throws {
    var other = outsideWriter()
    var reasons: [JournalError] = []
    let observer = StoreObserver(of: journal.store)
    observer.onRejected = {
      reasons.append($0)
      // From now on writes succeed, and the writer already has the next one.
      sqlite3_close(other)
      other = nil
    }
    try fillTail()
    // The writer takes this one, and waits for room.
    _ = try journal.store.append([draft("s", Self.filler(300_000))])
    journal.store.submit()
    usleep(100_000)
    _ = try journal.store.append([draft("s", "2")])
    journal.store.submit()
    try journal.run { !reasons.isEmpty }
    _ = try journal.store.append([draft("s", "3")])
    try journal.settle()
    try #require(journal.store.refusal == nil)
    let found = try journal.read { reader throws(JournalError) in
      try reader.records(after: 2, limit: 10).map(\.data)
    }
    #expect(found == ["3"])
    observer.end()
  }

  @Test
  func `a reader that blocks the log is named, and the log shrinks after it ends`()
    throws
  {
    var notices: [SQLiteStore.LogNotice] = []
    journal.store.onLogNotice = { notices.append($0) }
    let reader = openOutside(directory.journal)
    _ = try journal.store.append([draft("s")])
    try journal.settle()
    sqlite3_exec(reader, "BEGIN; SELECT count(*) FROM event", nil, nil, nil)
    let filler = "\"" + String(repeating: "x", count: 100_000) + "\""
    for _ in 0..<1000 where notices.isEmpty {
      for _ in 0..<10 { _ = try journal.store.append([draft("s", filler)]) }
      try journal.settle()
    }
    guard case .held(let bytes, let path)? = notices.first else {
      Issue.record("\(notices)")
      return
    }
    #expect(bytes >= 8 << 20)
    #expect(path.hasSuffix("/journal.db"))
    #expect(notices.count == 1)
    #expect(Files.size(of: directory.journal + "-wal") >= 8 << 20)
    sqlite3_close(reader)
    try journal.run {
      if journal.store.durable == journal.store.last { _ = try? journal.store.append([draft("s")]) }
      return notices.last == .released && Files.size(of: directory.journal + "-wal") < 4 << 20
    }
    #expect(notices.last == .released)
    #expect(Files.size(of: directory.journal + "-wal") < 4 << 20)
    withExtendedLifetime(journal) {}
  }

  @Test
  func `a full tail waits a moment for a foreign write`() throws {
    let path = directory.path + "/patient.db"
    // For as long as no test runs.
    let journal = try SQLiteJournal(path, patience: 3_600_000)
    var reasons: [JournalError] = []
    let observer = StoreObserver(of: journal.store)
    observer.onRejected = { reasons.append($0) }
    let other = outsideWriter(path)
    try fillTail(of: journal)
    _ = try journal.store.append([draft("s", Self.filler(300_000))])
    journal.store.submit()
    let end = try EventLoop.Timer(on: journal.loop) { sqlite3_close(other) }
    end.start(afterMilliseconds: 100)
    try journal.run {
      journal.store.durable == 3 || !reasons.isEmpty || journal.store.refusal != nil
    }
    #expect(journal.store.durable == 3)
    #expect(reasons.isEmpty)
    end.close()
    observer.end()
  }

  @Test
  func `a commit does not wait for a note that a foreign write delays, and the note is kept later`()
    throws
  {
    let path = directory.path + "/patient.db"
    // For as long as no test runs.
    let journal = try SQLiteJournal(path, durability: .os, patience: 3_600_000)
    _ = try journal.store.append([draft("s", "1")])
    try journal.settle()
    let other = openOutside(path)
    sqlite3_exec(other, "BEGIN IMMEDIATE", nil, nil, nil)
    journal.store.keep("text", as: .filedBindings)
    _ = try journal.store.append([draft("s", "2")])
    try journal.settle()
    #expect(journal.store.durable == 2)
    sqlite3_exec(other, "ROLLBACK", nil, nil, nil)
    var note: OpaquePointer?
    let sql = "SELECT value FROM journal WHERE key = 'filedBindings'"
    sqlite3_prepare_v2(other, sql, -1, &note, nil)
    try journal.run {
      defer { sqlite3_reset(note) }
      return sqlite3_step(note) == SQLITE_ROW
    }
    sqlite3_finalize(note)
    sqlite3_close(other)
  }

  // MARK: Upgrades

  @Test
  func `an upgrade waits until no other program reads, because older programs look at the file`()
    throws
  {
    let directory = try TemporaryDirectory()
    do {
      let journal = try SQLiteJournal(directory.journal)
      for i in 1...3 { _ = try journal.store.append([draft("s", "\(i)")]) }
      try journal.settle()
    }
    let reader = openOutside(directory.journal)
    let old = """
      DROP TABLE removal; DELETE FROM journal WHERE key <> 'epoch'; PRAGMA user_version = 1;
      PRAGMA wal_checkpoint(TRUNCATE); BEGIN; SELECT count(*) FROM event
      """
    #expect(sqlite3_exec(reader, old, nil, nil, nil) == SQLITE_OK)
    func version() -> UInt8 { Files.bytes(of: directory.journal)[63] }
    #expect(version() == 1)
    for _ in 1...2 {
      let error = #expect(throws: JournalError.self) { try SQLiteJournal(directory.journal) }
      #expect("\(error as Any)".contains("format 1 to 3 while another program reads it"))
      // No tail that a program of version 1 would overlook.
      #expect(version() == 1)
    }
    sqlite3_close(reader)
    let journal = try SQLiteJournal(directory.journal)
    #expect(version() == 3)
    #expect(try replayed(journal.store).map(\.data) == ["1", "2", "3"])
    _ = try journal.store.append([draft("s", "4")])
    try journal.settle()
  }
}
