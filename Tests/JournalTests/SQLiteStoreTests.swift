import CSQLite
import EventLoop
import Glibc
import Journal
import JournalSQLite
import Model
import Signals
import TestSupport
import Testing

struct SQLiteStoreTests {
  let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  private func open(
    durability: Durability? = .always
  ) throws -> SQLiteJournal {
    try SQLiteJournal(directory.journal, durability: durability)
  }

  /// Runs SQL on the file, as `sqlite3` does.
  private func execute(_ sql: String) {
    let database = openOutside(directory.journal)
    let code = sqlite3_exec(database, sql, nil, nil, nil)
    precondition(code == SQLITE_OK, String(cString: sqlite3_errmsg(database)))
    sqlite3_close(database)
  }

  private func fill(_ count: Int) throws {
    let journal = try open()
    for i in 0..<count { _ = try journal.store.append([draft("s\(i % 7)", "\(i)")]) }
    try journal.settle()
  }

  private func openError() -> JournalError? {
    do {
      let loop = try Loop()
      let store = try SQLiteStore(
        path: directory.journal, durability: .always, on: loop, clock: { 0 })
      store.close()
      loop.run()
      return nil
    } catch {
      return error as? JournalError
    }
  }

  /// The error of opening a journal that nobody has open.
  private func openErrorOfFree() throws -> JournalError? {
    var error: JournalError?
    try retrying {
      error = openError()
      if case .locked(let owner)? = error { throw JournalError.locked(owner: owner) }
    }
    return error
  }

  @Test(arguments: [Durability.always, .interval(milliseconds: 5), .os])
  func `durable events exist after a restart`(durability: Durability) throws {
    var epoch = ""
    var records: [Record] = []
    do {
      let journal = try open(durability: durability)
      epoch = journal.store.epoch
      for i in 0..<1000 { _ = try journal.store.append([draft("s\(i % 7)", "\(i)")]) }
      try journal.settle()
      _ = try journal.store.append([draft("late")])
    }
    let journal = try open(durability: durability)
    records = try replayed(journal.store)
    #expect(journal.store.epoch == epoch)
    #expect(journal.store.lostEvents == 0)
    #expect(journal.store.last == 1001, "close waits for the writer")
    #expect(records.map(\.seq).elementsEqual(1...1001))
    #expect(records[999].data == "999")

    var heads = StreamHeads()
    for record in records {
      heads.update(
        journal.store.names.add(record.stream), seq: record.seq, version: record.version)
    }
    journal.store.start(with: heads)
    _ = try journal.store.append([draft("s0")])
    try journal.settle()
    let last = try replayed(journal.store, after: 1001)
    #expect(last.map(\.version) == [144])
  }

  /// Keeps the positions of each batch.
  private final class BatchListener: EventStoreDelegate {
    private(set) var batches: [ClosedRange<UInt64>] = []

    func store(committed events: RecordBatch) {
      batches.append(events.first...events.last)
    }

    func store(followed events: RecordBatch) {}
    func store(rejected error: JournalError) {}
    func store(failed error: JournalError) {}
  }

  @Test(arguments: [Durability.always, .os])
  func `events that become durable together are reported in as many turns as it takes`(
    durability: Durability
  ) throws {
    let journal = try open(durability: durability)
    let listener = BatchListener()
    journal.store.delegate = listener
    // Each batch takes longer than a turn has for all.
    journal.store.reportingTime = 0
    for i in 0..<1000 { _ = try journal.store.append([draft("s", "\(i)")]) }
    while journal.store.durable < 1000 {
      let before = listener.batches.count
      journal.loop.runOnce()
      // One at the end of a turn, and one at the beginning of the next.
      #expect(listener.batches.count <= before + 2)
    }
    #expect(listener.batches.first?.lowerBound == 1)
    #expect(listener.batches.last?.upperBound == 1000)
    for (batch, next) in zip(listener.batches, listener.batches.dropFirst()) {
      #expect(next.lowerBound == batch.upperBound + 1)
    }
  }

  @Test
  func `an epoch is random`() throws {
    let other = try TemporaryDirectory()
    let epochs = try [open().store.epoch, SQLiteJournal(other.journal).store.epoch]
    #expect(epochs[0] != epochs[1])
    #expect(epochs.allSatisfy { $0.utf8.count == 8 })
  }

  @Test
  func `the error of a second daemon names the owner of the journal`() throws {
    let journal = try open()
    guard case .locked(let owner) = openError() else {
      Issue.record("not locked")
      return
    }
    #expect(owner.hasPrefix("pid \(getpid()) started "))
    withExtendedLifetime(journal) {}
  }

  @Test
  func `a newer format is rejected and the file is not changed`() throws {
    try fill(3)
    execute("PRAGMA user_version = 99; PRAGMA wal_checkpoint(TRUNCATE)")
    let before = contents()
    #expect(try openErrorOfFree() == .newerFormat(found: 99, supported: 3))
    #expect(contents() == before)
  }

  private func contents() -> [UInt8] {
    let file = Glibc.open(directory.journal, O_RDONLY)
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    let count = read(file, &bytes, bytes.count)
    return Array(bytes[..<count])
  }

  @Test
  func `a file of another program is rejected`() throws {
    let file = Glibc.open(directory.journal, O_CREAT | O_WRONLY, 0o600)
    write(file, "not a database, but something that somebody wants to keep, and so on ....", 72)
    write(file, "not a database, but something that somebody wants to keep, and so on ....", 72)
    close(file)
    #expect(try openErrorOfFree() == .notAJournal(path: directory.journal))
    unlink(directory.journal)
    execute("CREATE TABLE mine (x); CREATE TABLE more (y)")
    #expect(try openErrorOfFree() == .notAJournal(path: directory.journal))
  }

  @Test
  func `a damaged row is found by a read, and earlier rows are delivered`() throws {
    try fill(2000)
    execute("UPDATE event SET data = '\"forged\"' WHERE seq = 1234")
    let journal = try open()
    var records: [Record] = []
    let error = #expect(throws: JournalError.self) {
      try journal.store.replay(after: 0) { records += $0.records }
    }
    guard case .corrupt(seq: 1234, _) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(records.last?.seq == 1233)
    #expect(try replayed(journal.store, after: 1234).count == 766, "later events are not dropped")
  }

  @Test
  func `a missing row is found`() throws {
    try fill(20)
    execute("DELETE FROM event WHERE seq = 7")
    let journal = try open()
    let error = #expect(throws: JournalError.self) { try replayed(journal.store) }
    guard case .corrupt(seq: 7, _) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test
  func `lost acknowledged events are counted, and the epoch is new`() throws {
    var epoch = ""
    do {
      try fill(10)
      let journal = try open()
      epoch = journal.store.epoch
    }
    execute("DELETE FROM event WHERE seq > 6")
    let journal = try open()
    #expect(journal.store.lostEvents == 4)
    #expect(journal.store.epoch != epoch)
    #expect(journal.store.last == 6)
    epoch = journal.store.epoch
    withExtendedLifetime(journal) {}
  }

  @Test
  func `a journal that is open for reading rejects appends and changes nothing`() throws {
    try fill(5)
    let before = contents()
    do {
      let journal = try open(durability: nil)
      #expect(try replayed(journal.store).count == 5)
      let refusal = JournalError.readOnly(reason: "read_only", outcome: .none)
      #expect(throws: refusal) { try journal.store.append([draft("s")]) }
    }
    #expect(contents() == before)
  }

  @Test
  func `a large snapshot is stored in parts, and a damaged one is skipped`() throws {
    let journal = try open()
    for _ in 0..<10 { _ = try journal.store.append([draft("s")]) }
    try journal.settle()
    let large = "\"" + String(repeating: "ü", count: 500_000) + "\""
    journal.store.save(Snapshot(service: "a", seq: 4, schema: 1, data: "\"small\""))
    journal.store.save(Snapshot(service: "a", seq: 8, schema: 1, data: large))
    try awaitSnapshot(8, journal)
    #expect(try journal.store.snapshot(of: "a")?.data == large)
    execute("UPDATE snapshot SET data = 'x' WHERE seq = 8 AND part = 2")
    #expect(try journal.store.snapshot(of: "a")?.data == "\"small\"")
  }

  @Test
  func `the newest snapshots are kept, and older ones at growing distances`() throws {
    let journal = try open()
    for _ in 0..<1000 { _ = try journal.store.append([draft("s")]) }
    try journal.settle()
    for seq in stride(from: UInt64(10), through: 1000, by: 10) {
      journal.store.save(Snapshot(service: "a", seq: seq, schema: 1, data: "\(seq)"))
    }
    try awaitSnapshot(1000, journal)
    var kept: [UInt64] = []
    var position: UInt64 = 1000
    while let snapshot = try journal.read({ [position] reader throws(JournalError) in
      try reader.snapshot(of: "a", upTo: position)
    }) {
      kept.append(snapshot.seq)
      position = snapshot.seq - 1
    }
    #expect(kept.prefix(2) == [1000, 990])
    #expect(kept.count < 30, "\(kept)")
    #expect(kept.last == 10, "\(kept)")
    // The gaps grow with the distance from the newest position.
    for (newer, older) in zip(kept, kept.dropFirst()) {
      #expect(newer - older <= max(20, (1000 - older) * 2 / 5), "\(older) to \(newer)")
    }
  }

  @Test
  func `the newest snapshot of a service stays even if later events are removed`() throws {
    let journal = try open()
    for _ in 0..<10 { _ = try journal.store.append([draft("s")]) }
    try journal.settle()
    for seq: UInt64 in [2, 3] {
      journal.store.save(Snapshot(service: "later", seq: seq, schema: 1, data: "\(seq)"))
    }
    journal.store.save(Snapshot(service: "a", seq: 3, schema: 1, data: "3"))
    journal.store.save(Snapshot(service: "a", seq: 8, schema: 1, data: "8"))
    journal.store.remove(
      Removal(first: 1, last: 8, runs: [1...8], services: ["s": 8, "*": 8]))
    journal.store.save(Snapshot(service: "a", seq: 9, schema: 1, data: "9"))
    try awaitSnapshot(9, journal)
    journal.store.save(Snapshot(service: "a", seq: 10, schema: 1, data: "10"))
    try awaitSnapshot(10, journal)
    #expect(journal.store.first == 9)
    #expect(try journal.store.snapshot(of: "later")?.data == "3")
    #expect(try journal.store.snapshot(of: "later", upTo: 2) == nil)
    #expect(try journal.store.snapshot(of: "a", upTo: 7) == nil)
  }

  private func awaitSnapshot(_ seq: UInt64, _ journal: SQLiteJournal) throws {
    var isThere = false
    let observation = journal.store.saved.observeNext { if $0.seq == seq { isThere = true } }
    try journal.run { isThere }
    observation.dispose()
    #expect(try journal.store.snapshot(of: "a")?.seq == seq)
  }

  @Test
  func `the log is checkpointed during writes and does not grow without limit`()
    throws
  {
    let journal = try open(durability: .os)
    let filler = "\"" + String(repeating: "x", count: 2000) + "\""
    for _ in 0..<100 {
      for _ in 0..<500 { _ = try journal.store.append([draft("s", filler)]) }
      try journal.settle()
    }
    var status = stat()
    stat(directory.journal + "-wal", &status)
    // All events together have more than a hundred million bytes.
    #expect(status.st_size < 96 << 20)
    #expect(try replayed(journal.store).count == 50_000)
  }

  @Test
  func `the log is checkpointed automatically`() throws {
    let journal = try open(durability: .os)
    let filler = "\"" + String(repeating: "x", count: 2000) + "\""
    for _ in 0..<50 {
      for _ in 0..<200 { _ = try journal.store.append([draft("s", filler)]) }
      try journal.settle()
    }
    // Twenty megabytes were written; the checkpoint comes long before the log has 64. The loop must
    // not write meanwhile.
    let end = Process.milliseconds + 60_000
    while Files.size(of: directory.journal) < 1 << 20, Process.milliseconds < end { usleep(5_000) }
    #expect(Files.size(of: directory.journal) >= 1 << 20)
    withExtendedLifetime(journal) {}
  }

  @Test
  func `with durability os, a few events are durable at the end of their turn`() throws {
    let journal = try open(durability: .os)
    try journal.commitTwice()
    var received: [[String]] = []
    var isAnswered = false
    let observer = StoreObserver(of: journal.store)
    observer.onCommitted = { events in
      received.append(events.records.map(\.data))
      // An event that follows from another is written by the thread.
      guard !isAnswered else { return }
      isAnswered = true
      _ = journal.store.append(draft("s", "5"), at: journal.store.now)
      journal.store.seal(meta: nil)
    }
    _ = try journal.store.append([draft("s", "3")])
    _ = try journal.store.append([draft("s", "4")])
    #expect(journal.store.durable == 2)
    journal.turn()
    #expect(received.first == ["3", "4"])
    #expect(journal.store.durable >= 4)
    try journal.settle()
    #expect(received == [["3", "4"], ["5"]])
    #expect(try replayed(journal.store).map(\.data) == ["1", "2", "3", "4", "5"])
    observer.end()
  }

  @Test
  func `with durability os, the log is checkpointed while the loop writes`() throws {
    let journal = try open(durability: .os)
    let filler = "\"" + String(repeating: "x", count: 10_000) + "\""
    for _ in 0..<12_000 {
      _ = try journal.store.append([draft("s", filler)])
      try journal.settle()
    }
    // All events together have more than a hundred million bytes.
    #expect(Files.size(of: directory.journal + "-wal") < 96 << 20)
    #expect(Files.size(of: directory.journal) > 16 << 20)
  }

  @Test
  func `a failed write on the loop is rejected, and later events are accepted`() async {
    await #expect(processExitsWith: .success) {
      signal(SIGXFSZ, SIG_IGN)
      let tests = try SQLiteStoreTests()
      let journal = try tests.open(durability: .os)
      try journal.commitTwice()
      var reasons: [JournalError] = []
      let observer = StoreObserver(of: journal.store)
      observer.onRejected = { reasons.append($0) }
      var full = rlimit(rlim_cur: 64, rlim_max: .max)
      let resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
      _ = setrlimit(resource, &full)
      _ = try journal.store.append([draft("s", "3")])
      journal.turn()
      precondition(reasons == [.readOnly(reason: "EFBIG", outcome: .none)], "\(reasons)")
      precondition(journal.store.last == 2 && journal.store.durable == 2)

      full.rlim_cur = .max
      _ = setrlimit(resource, &full)
      let position = try journal.store.append([draft("s", "4")])
      precondition(position == 3)
      try journal.settle()
      let records = try replayed(journal.store)
      precondition(records.map(\.data) == ["1", "2", "4"], "\(records)")
      observer.end()
    }
  }

  /// EFBIG represents ENOSPC and EDQUOT here: `write` returns each of them and writes nothing.
  @Test
  func `an append on a full disk is rejected, and accepted when there is space`() async {
    await #expect(processExitsWith: .success) {
      signal(SIGXFSZ, SIG_IGN)
      let tests = try SQLiteStoreTests()
      let journal = try tests.open()
      _ = try journal.store.append([draft("s", "1")])
      try journal.settle()

      func limit(_ bytes: rlim_t) {
        let limit = rlimit(rlim_cur: bytes, rlim_max: .max)
        withUnsafePointer(to: limit) {
          _ = setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), $0)
        }
      }
      var reasons: [JournalError] = []
      let observer = StoreObserver(of: journal.store)
      observer.onRejected = { reasons.append($0) }
      limit(64 * 1024)
      let filler = "\"" + String(repeating: "x", count: 10_000) + "\""
      for _ in 0..<20 { _ = try journal.store.append([draft("s", filler)]) }
      try journal.run { !reasons.isEmpty }
      precondition(reasons == [.readOnly(reason: "EFBIG", outcome: .none)], "\(reasons)")
      precondition(journal.store.last == 1 && journal.store.durable == 1)

      limit(.max)
      let position = try journal.store.append([draft("s", "2")])
      precondition(position == 2)
      try journal.settle()
      let records = try replayed(journal.store)
      precondition(records.map(\.data) == ["1", "2"], "\(records)")
      precondition(records.map(\.version) == [1, 2])
      observer.end()
    }
  }

  @Test
  func `one commit writes all pending events and is timed`() throws {
    let journal = try open()
    for _ in 0..<100 { _ = try journal.store.append([draft("s")]) }
    try journal.settle()
    let times = journal.store.resetCommitTimes()
    #expect(times.events == 100)
    #expect(times.commits == 1)
    #expect(times.totalNanoseconds > 0)
    #expect(journal.store.resetCommitTimes().commits == 0)
  }

  @Test
  func `an endless read ends with the store`() throws {
    let directory = try TemporaryDirectory()
    let journal = try SQLiteJournal(directory.journal)
    var error: JournalError?
    let observation = journal.store.reading(.long) { reader throws(JournalError) in
      while true { _ = try reader.bounds() }
    }
    .observeFailed { (failure: JournalError) in error = failure }
    journal.store.close()
    journal.loop.run()
    observation.dispose()
    #expect(error == .unavailable(detail: "the journal is closed") || error == nil)
    #expect(throws: JournalError.self) {
      try journal.read { reader throws(JournalError) in try reader.bounds().last }
    }
  }
}
