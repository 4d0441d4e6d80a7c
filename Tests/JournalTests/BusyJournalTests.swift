import CSQLite
import EventLoop
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
  private func outsideWriter() -> OpaquePointer? {
    var database: OpaquePointer?
    sqlite3_open(directory.journal, &database)
    let code = sqlite3_exec(database, "BEGIN IMMEDIATE", nil, nil, nil)
    precondition(code == SQLITE_OK, String(cString: sqlite3_errmsg(database)))
    return database
  }

  @Test
  func `an append is rejected during a foreign write, and accepted after it`()
    throws
  {
    var reasons: [JournalError] = []
    let observer = StoreObserver(of: journal.store)
    observer.onRejected = { reasons.append($0) }
    let other = outsideWriter()
    _ = try journal.store.append([draft("s", "1")])
    try journal.run { !reasons.isEmpty || journal.store.refusal != nil }
    #expect(reasons == [.readOnly(reason: "BUSY", outcome: .none)])
    #expect(journal.store.refusal == nil)
    #expect(journal.store.last == 0)
    sqlite3_close(other)

    try #require(journal.store.refusal == nil)
    #expect(try journal.store.append([draft("s", "2")]) == 1)
    try journal.settle()
    #expect(try replayed(journal.store).map(\.data) == ["2"])
    observer.end()
  }

  @Test
  func `events submitted after a failed write are not written either`() throws {
    var other: OpaquePointer?
    var reasons: [JournalError] = []
    let observer = StoreObserver(of: journal.store)
    observer.onRejected = {
      reasons.append($0)
      // From now on writes succeed, and the writer already has the next one.
      sqlite3_close(other)
      other = nil
    }
    var isBehind = false
    for _ in 0..<20 where !isBehind {
      other = outsideWriter()
      reasons = []
      _ = try journal.store.append([draft("s", "1")])
      journal.store.submit()
      // This request is answered when the writer has taken it. If the writer takes both together,
      // the answer comes before the write.
      let taken = journal.store.reachDisk().observeNext { isBehind = reasons.isEmpty }
      try journal.run { isBehind || !reasons.isEmpty }
      if isBehind {
        _ = try journal.store.append([draft("s", "2")])
        journal.store.submit()
      }
      try journal.run { !reasons.isEmpty }
      taken.dispose()
    }
    #expect(isBehind)
    _ = try journal.store.append([draft("s", "3")])
    try journal.settle()
    try #require(journal.store.refusal == nil)
    let found = try journal.read { reader throws(JournalError) in
      try reader.records(after: 0, limit: 10).map(\.data)
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
    var reader: OpaquePointer?
    sqlite3_open(directory.journal, &reader)
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
    for _ in 0..<1000
    where notices.count == 1 || Files.size(of: directory.journal + "-wal") > 4 << 20 {
      _ = try journal.store.append([draft("s")])
      try journal.settle()
    }
    #expect(notices.last == .released)
    #expect(Files.size(of: directory.journal + "-wal") < 4 << 20)
    withExtendedLifetime(journal) {}
  }

  @Test
  func `the loop does not wait for a foreign write, but the writer thread does`() throws {
    let directory = try TemporaryDirectory()
    let journal = try SQLiteJournal(directory.journal, durability: .os)
    try journal.commitTwice()
    var other: OpaquePointer?
    sqlite3_open(directory.journal, &other)
    #expect(sqlite3_exec(other, "BEGIN IMMEDIATE", nil, nil, nil) == SQLITE_OK)
    _ = try journal.store.append([draft("s", "3")])
    let end = try EventLoop.Timer(on: journal.loop) { sqlite3_close(other) }
    end.start(afterMilliseconds: 100)
    try journal.settle()
    #expect(try replayed(journal.store).map(\.data) == ["1", "2", "3"])
    end.close()
  }

  @Test
  func `an append waits a moment for a foreign write`() throws {
    var reasons: [JournalError] = []
    let observer = StoreObserver(of: journal.store)
    observer.onRejected = { reasons.append($0) }
    let other = outsideWriter()
    _ = try journal.store.append([draft("s", "1")])
    journal.store.submit()
    let end = try EventLoop.Timer(on: journal.loop) { sqlite3_close(other) }
    end.start(afterMilliseconds: 100)
    try journal.run {
      journal.store.durable == 1 || !reasons.isEmpty || journal.store.refusal != nil
    }
    #expect(journal.store.durable == 1)
    #expect(reasons.isEmpty)
    end.close()
    observer.end()
  }
}
