import CSQLite
import EventLoop
import Journal
import JournalSQLite
import Signals
import TestSupport
import Testing

/// A journal that somebody else writes to as well, with `sqlite3` for example.
struct BusyJournalTests {
  let directory: TemporaryDirectory
  let journal: SQLiteJournal

  init() throws {
    directory = try TemporaryDirectory()
    journal = try SQLiteJournal(directory.journal)
  }

  /// A connection that has begun to write and goes on until it is told to end.
  private func outsideWriter() -> OpaquePointer? {
    var database: OpaquePointer?
    sqlite3_open(directory.journal, &database)
    let code = sqlite3_exec(database, "BEGIN IMMEDIATE", nil, nil, nil)
    precondition(code == SQLITE_OK, String(cString: sqlite3_errmsg(database)))
    return database
  }

  @Test
  func `while somebody else writes an append is rejected whole, and taken again afterwards`()
    throws
  {
    var reasons: [JournalError] = []
    let observation = journal.store.rejected.observeNext { reasons.append($0) }
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
    observation.dispose()
  }

  @Test
  func `an append waits a moment for somebody else who writes`() throws {
    var reasons: [JournalError] = []
    let observation = journal.store.rejected.observeNext { reasons.append($0) }
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
    observation.dispose()
  }
}
