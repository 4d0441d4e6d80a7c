import CSQLite
import Glibc
import Journal
import JournalSQLite
import Model
import Signals
import TestSupport
import Testing

/// Row 17 of the faults: with any content of the file, reading it ends, either with the events or
/// with an error.
struct DamagedFileTests {
  let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
    let journal = try SQLiteJournal(directory.journal)
    for i in 1...1200 {
      _ = try journal.store.append([draft(i % 3 == 0 ? "a/x" : "b/\(i % 50)", #"{"n":\#(i)}"#)])
    }
    try journal.settle()
    var (saved, removed) = (false, false)
    let observations = [
      journal.store.saved.observeNext { _ in saved = true },
      journal.store.removed.observeNext { _ in removed = true },
    ]
    journal.store.save(Snapshot(service: "a", seq: 600, schema: 1, data: "\"a at 600\""))
    journal.store.remove(
      Removal(
        first: 1, last: 200, runs: [2...50, 60...61, 199...200],
        services: ["a": 200, "b": 200, "*": 200]))
    try journal.run { saved && removed }
    for observation in observations { observation.dispose() }
  }

  /// Reads all of a journal in every possible way.
  ///
  /// - Returns: Whether no reader reports damage.
  private func isWell(_ path: String) -> Bool {
    var isWell = false
    do {
      isWell = try JournalCheck(path: path).run().damages.isEmpty
      try JournalSource(path: path).read(onPage: { _ in }) { _ in }
      _ = try JournalInspection(of: path)
      let journal = try SQLiteJournal(path, durability: nil)
      _ = try replayed(journal.store)
      for seq in [UInt64(1), 55, 150, 300, 601, 1199] {
        _ = try journal.read { reader throws(JournalError) in
          _ = try reader.bounds()
          _ = try reader.lastRemoval(of: "a", upTo: seq)
          _ = try reader.snapshot(of: "a", upTo: seq)
          _ = try reader.position(at: Int64(seq) * 1000)
          return try reader.records(after: seq, limit: 1000)
        }
      }
    } catch {
      return false
    }
    return isWell
  }

  @Test
  func `17: an undamaged file has no damage reported`() {
    #expect(isWell(directory.journal))
  }

  @Test(arguments: 1...4 as ClosedRange<UInt64>)
  func `17: any bit or page of the file may be damaged`(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let whole = Files.bytes(of: directory.journal)
    let pages = whole.count / 4096
    var found = 0
    for i in 0..<60 {
      var bytes = whole
      if i % 3 == 0 {
        // A page written to the wrong place.
        let (from, to) = (
          Int.random(in: 1..<pages, using: &random), Int.random(in: 1..<pages, using: &random)
        )
        bytes.replaceSubrange(
          to * 4096..<(to + 1) * 4096, with: whole[from * 4096..<(from + 1) * 4096])
      } else {
        // The beginning of a page describes its layout.
        let page = Int.random(in: 0..<pages, using: &random) * 4096
        let offset = Int.random(in: 0..<(i % 3 == 1 ? 4096 : 64), using: &random)
        bytes[page + offset] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      }
      let path = directory.path + "/damaged.db"
      for end in ["", "-wal", "-shm", ".lock"] { unlink(path + end) }
      Files.write(bytes, to: path)
      if !isWell(path) { found += 1 }
    }
    #expect(found > 10)
  }

  @Test(arguments: [
    "UPDATE journal SET value = '0' WHERE key = 'first'",
    "UPDATE journal SET value = '-7' WHERE key = 'first'",
    "UPDATE journal SET value = '9223372036854775807' WHERE key = 'first'",
    "UPDATE removal SET first = -9223372036854775808",
    "UPDATE removal SET last = 9223372036854775807",
    "UPDATE removal SET last = -1",
    "UPDATE removal SET kept = 9223372036854775807",
    "UPDATE removal SET kept = -9223372036854775808",
    "INSERT INTO removal VALUES (100, 300, 5, ' a ')",
    "UPDATE journal SET value = '-1' WHERE key = 'removed:*'",
    "UPDATE event SET seq = -seq WHERE seq > 1190",
    "UPDATE event SET seq = 9223372036854775807 WHERE seq = 1200",
    "UPDATE snapshot SET seq = -1",
  ])
  func `17: any number in the file may be damaged`(sql: String) throws {
    let database = openOutside(directory.journal)
    #expect(sqlite3_exec(database, sql, nil, nil, nil) == SQLITE_OK)
    sqlite3_close(database)
    // The daemon does not need the snapshot.
    #expect(!isWell(directory.journal) || sql.contains("snapshot"), "\(sql)")
  }
}
