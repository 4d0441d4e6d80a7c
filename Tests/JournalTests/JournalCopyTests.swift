import CSQLite
import EventLoop
import Glibc
import Journal
import JournalSQLite
import Model
import Signals
import TestSupport
import Testing

/// Backups and restored journals.
struct JournalCopyTests {
  let directory: TemporaryDirectory
  var copy: String { directory.path + "/copy.db" }

  init() throws {
    directory = try TemporaryDirectory()
  }

  /// Creates a journal of 30 events, some of them removed, with snapshots.
  private func makeJournal() throws -> SQLiteJournal {
    let journal = try SQLiteJournal(directory.journal)
    for i in 1...30 {
      _ = try journal.store.append([draft(i % 3 == 0 ? "a/x" : "b/x", "\(i)")])
    }
    try journal.settle()
    var saved = 0
    let observation = journal.store.saved.observeNext { _ in saved += 1 }
    journal.store.save(Snapshot(service: "a", seq: 20, schema: 1, data: "\"a at 20\""))
    journal.store.save(Snapshot(service: "b", seq: 20, schema: 1, data: "\"b at 20\""))
    journal.store.keep("{\"a\":1}", as: .filedBindings)
    try journal.run { saved == 2 }
    observation.dispose()
    try remove(
      Removal(
        first: 1, last: 12, runs: [1...2, 9...9, 12...12], services: ["a": 12, "b": 2, "*": 12]),
      from: journal)
    return journal
  }

  private func remove(_ removal: Removal, from journal: SQLiteJournal) throws {
    var isDone = false
    let observation = journal.store.removed.observeNext { _ in isDone = true }
    journal.store.remove(removal)
    try journal.run { isDone }
    observation.dispose()
  }

  @Test
  func `inspecting an unused journal leaves no files beside it`() throws {
    try makeJournal().store.close()
    let backup = directory.path + "/backup"
    mkdir(backup, 0o700)
    _ = try make(of: directory.journal, at: backup + "/b.db", for: .backup(epoch: "0"))
    #expect(Files.names(in: backup) == ["b.db"])
    #expect(try JournalCheck(path: backup + "/b.db").run().damages.isEmpty)
    #expect(try JournalInspection(of: backup + "/b.db").count == 26)
    try JournalSource(path: backup + "/b.db").read { _ in
    } _: { _ in
    }
    #expect(Files.names(in: backup) == ["b.db"])
  }

  @Test
  func `a read during the start of a daemon fails`() throws {
    try makeJournal().store.close()
    let check = try JournalCheck(path: directory.journal)
    let source = try JournalSource(path: directory.journal)
    let begun = JournalError.locked(owner: "a daemon that has just started; try again")
    do {
      let journal = try SQLiteJournal(directory.journal)
      _ = try journal.store.append([draft("a/x")])
      try journal.settle()
      #expect(throws: begun) { try check.run() }
    }
    // It fails even if the daemon has ended again.
    #expect(throws: begun) {
      try source.read { _ in
      } _: { _ in
      }
    }
  }

  /// Copies a journal; `onPage` may change the source meanwhile.
  private func make(
    of path: String, at target: String, for purpose: JournalBuilder.Purpose, isForced: Bool = false,
    onPage: (UInt64) -> Void = { _ in }
  ) throws(JournalError) -> JournalCheck.Report {
    let source = try JournalSource(path: path)
    let builder = try JournalBuilder(at: target, for: purpose, isForced: isForced)
    try source.read(onPage: onPage) { part throws(JournalError) in
      switch part {
      case .events(let records): try builder.add(records)
      case .removals(let removals): try builder.add(removals)
      case .notes(let notes): try builder.add(notes)
      case .snapshot(let snapshot): try builder.add(snapshot)
      }
    }
    return try builder.finish()
  }

  @Test
  func `a backup has the same content as its journal, also the removals`() throws {
    let journal = try makeJournal()
    let report = try make(
      of: directory.journal, at: copy, for: .backup(epoch: journal.store.epoch))
    #expect(report.epoch == journal.store.epoch)
    #expect(report.first == 3 && report.last == 30 && report.damages.isEmpty)
    #expect(report.removed == 2)
    let other = try SQLiteJournal(copy)
    #expect(try replayed(other.store) == replayed(journal.store))
    #expect(other.store.first == 3)
    #expect(try other.store.lastRemoval(of: "a") == 12)
    #expect(other.store.note(.filedBindings) == "{\"a\":1}")
    #expect(try other.store.lastRemoval(of: "b") == 2)
    #expect(try other.store.snapshot(of: "a")?.data == "\"a at 20\"")
    #expect(Files.names(in: directory.path).allSatisfy { !$0.contains("partial") })
  }

  /// Copies a journal as it was at a moment.
  private func makeCut(at moment: JournalCut.Moment) throws -> SQLiteJournal {
    // A new file for each: one that was opened here counts as in use.
    let copy = "\(directory.path)/copy-\(moment).db"
    try write(JournalCut(JournalSource(path: directory.journal), at: moment), to: copy)
    return try SQLiteJournal(copy)
  }

  private func write(_ cut: JournalCut, to path: String) throws {
    let builder = try JournalBuilder(at: path, for: .use, isForced: false)
    try cut.read { _ in
    } _: { part throws(JournalError) in
      try builder.add(part)
    }
    _ = try builder.finish()
  }

  @Test
  func `a cut has the events, removals and snapshots up to a moment`() throws {
    let journal = try makeJournal()
    let records = try replayed(journal.store)
    for (seq, snapshot, removed) in [(25, 20, 12), (20, 20, 12), (19, 0, 12), (10, 0, 9)] {
      let cut = try makeCut(at: .position(UInt64(seq)))
      #expect(try replayed(cut.store) == records.filter { $0.seq <= seq })
      #expect(cut.store.last == UInt64(seq))
      #expect(cut.store.epoch != journal.store.epoch)
      #expect(try cut.store.snapshot(of: "a")?.seq ?? 0 == UInt64(snapshot))
      // It is not known more exactly how far a removal went.
      let known = UInt64(removed)...UInt64(min(seq, 12))
      #expect(known.contains(try cut.store.lastRemoval(of: "a")))
    }
    let time = try #require(records.first { $0.seq == 15 }).time
    let cut = try makeCut(at: .time(time))
    #expect(cut.store.last >= 15)
    #expect(try replayed(cut.store).allSatisfy { $0.time <= time })
  }

  @Test
  func `35: a cut at a moment that the journal does not hold is refused`() throws {
    _ = try makeJournal()
    for moment in [JournalCut.Moment.position(31), .position(1), .time(1)] {
      #expect(throws: JournalError.self) { try makeCut(at: moment) }
      #expect(Files.names(in: directory.path).allSatisfy { !$0.hasSuffix(").db") })
    }
  }

  /// Appends events, and removes some that are already copied, and 256 others that are not.
  private func disturb(_ journal: SQLiteJournal, removingFrom first: UInt64) {
    for _ in 0..<10 { _ = try? journal.store.append([draft("b/x")]) }
    try? journal.settle()
    try? remove(
      Removal(first: 20, last: 30, runs: [21...29], services: ["a": 27, "b": 29, "*": 29]),
      from: journal)
    let last = first + 255
    try? remove(
      Removal(
        first: first, last: last, runs: [first...last], services: ["b": last, "*": last]),
      from: journal)
  }

  @Test
  func `a backup is complete while events are appended and removed`() throws {
    let journal = try makeJournal()
    for i in 31...25_000 { _ = try journal.store.append([draft("b/x", "\(i)")]) }
    try journal.settle()
    var isDisturbed = false
    let report = try make(of: directory.journal, at: copy, for: .backup(epoch: "e")) { seq in
      guard !isDisturbed else { return }
      isDisturbed = true
      #expect(seq < 20_000)
      disturb(journal, removingFrom: 20_000)
    }
    #expect(report.last == 25_010)
    #expect(report.damages.isEmpty)
    let copied = try replayed(SQLiteJournal(copy).store)
    #expect(copied.map(\.seq).contains(21), "it was copied before it went")
    #expect(!copied.map(\.seq).contains(20_100))
    #expect(try SQLiteJournal(copy).store.lastRemoval(of: "b") == 20_255)
  }

  /// Makes a branch; `onStep` may change the source meanwhile.
  private func makeBranch(
    at moment: JournalCut.Moment? = nil, onStep: (UInt64) -> Bool = { _ in true }
  ) throws -> JournalReport {
    let source = try JournalSource(path: directory.journal)
    let end = try moment.map { try source.position(of: $0) }
    unlink(copy)
    let builder = try JournalBuilder(at: copy, of: directory.journal, for: .branch, isForced: false)
    _ = try source.copyRows(into: builder, upTo: end, onStep: onStep)
    let copied = try source.copyRows(into: builder, upTo: end) { _ in true }
    let origin: any JournalOrigin = end.map { JournalCut(source, at: .position($0)) } ?? source
    try origin.read(after: copied, onPage: { _ in }) { part throws(JournalError) in
      try builder.add(part)
    }
    return try builder.finish()
  }

  @Test
  func `35: a branch is complete while events are appended and removed`() throws {
    let journal = try makeJournal()
    for i in 31...25_000 { _ = try journal.store.append([draft("b/x", "\(i)")]) }
    try journal.settle()
    var steps = 0
    let report = try makeBranch { seq in
      steps += 1
      guard steps == 3 else { return steps < 4 }
      disturb(journal, removingFrom: 10_000)
      return true
    }
    #expect(steps == 4, "another call goes on")
    #expect(report.last == 25_010)
    #expect(report.epoch != journal.store.epoch)
    #expect(try JournalCheck(path: copy).run().damages.isEmpty)
    let branch = try SQLiteJournal(copy)
    let events = try replayed(branch.store)
    #expect(report.count == events.count)
    let kept = Set(1...25_010).subtracting([1, 2, 9, 12]).subtracting(10_000...10_255)
    #expect(events.map { Int($0.seq) } == kept.sorted())
    #expect(events.last == (try replayed(journal.store).last))
    #expect(try branch.store.lastRemoval(of: "b") == 10_255)
    #expect(try branch.store.snapshot(of: "a")?.data == "\"a at 20\"")
    #expect(branch.store.note(.filedBindings) == "{\"a\":1}")
  }

  @Test
  func `35: a branch at a moment has the events, removals and snapshots up to it`() throws {
    let records = try {
      let journal = try makeJournal()
      for i in 31...25_000 { _ = try journal.store.append([draft("b/x", "\(i)")]) }
      try journal.settle()
      return try replayed(journal.store)
    }()
    // Nothing is left beside a file that nobody writes.
    let names = Files.names(in: directory.path)
    for (seq, snapshot) in [(25, 20), (10, 0), (14_000, 20), (20_000, 20), (25_000, 20)] {
      let report = try makeBranch(at: .position(UInt64(seq)))
      #expect(report.last == UInt64(seq))
      #expect(
        Set(Files.names(in: directory.path)).isSubset(of: names + ["copy.db", "copy.db.lock"]))
      let branch = try SQLiteJournal(copy)
      #expect(try replayed(branch.store) == records.filter { $0.seq <= seq })
      #expect(try branch.store.snapshot(of: "a")?.seq ?? 0 == UInt64(snapshot))
    }
    let time = try #require(records.first { $0.seq == 9000 }).time
    let report = try makeBranch(at: .time(time))
    #expect(report.last == records.last { $0.time <= time }?.seq)
    for moment in [JournalCut.Moment.position(25_001), .position(1), .time(1)] {
      #expect(throws: JournalError.self) { try makeBranch(at: moment) }
    }
  }

  @Test
  func `17: a damaged event is damaged in a branch too, and the others are there`() throws {
    do {
      let journal = try makeJournal()
      for i in 31...12_000 { _ = try journal.store.append([draft("b/x", "\(i)")]) }
      try journal.settle()
    }
    var database: OpaquePointer?
    sqlite3_open(directory.journal, &database)
    sqlite3_exec(database, "UPDATE event SET data = '0' WHERE seq = 17", nil, nil, nil)
    sqlite3_close(database)
    #expect(try makeBranch().count == 11_996)
    let check = try JournalCheck(path: copy).run()
    #expect(check.damages.count == 1 && check.damages[0].hasPrefix("event 17: "))
  }

  @Test
  func `an existing file is replaced only with force, and then kept`() throws {
    let journal = try makeJournal()
    let epoch = journal.store.epoch
    _ = try make(of: directory.journal, at: copy, for: .backup(epoch: epoch))
    #expect(throws: JournalError.self) {
      try make(of: directory.journal, at: copy, for: .backup(epoch: "other"))
    }
    #expect(try JournalSource(path: copy).epoch == epoch)
    _ = try make(of: directory.journal, at: copy, for: .backup(epoch: "other"), isForced: true)
    #expect(try JournalSource(path: copy).epoch == "other")
    #expect(try JournalSource(path: copy + ".old").epoch == epoch)
    // One old backup is kept. A restored journal does not replace the file that it keeps.
    _ = try make(of: directory.journal, at: copy, for: .backup(epoch: "third"), isForced: true)
    #expect(try JournalSource(path: copy + ".old").epoch == "other")
    let used = try retrying {
      try make(of: directory.journal, at: copy, for: .use, isForced: true)
    }
    #expect(try JournalSource(path: copy).epoch == used.epoch)
    #expect(try JournalSource(path: copy + ".old").epoch == "other")
    #expect(try JournalSource(path: copy + ".old.2").epoch == "third")
  }

  @Test
  func `23: a restored journal has a new epoch and continues after the backup`() throws {
    let epoch = try {
      let journal = try makeJournal()
      _ = try make(of: directory.journal, at: copy, for: .backup(epoch: journal.store.epoch))
      // Events after the backup were acknowledged, and are not in it.
      for _ in 0..<5 { _ = try journal.store.append([draft("b/x")]) }
      try journal.settle()
      #expect(throws: JournalError.self, "a daemon has it") {
        try make(of: copy, at: directory.journal, for: .use, isForced: true)
      }
      return journal.store.epoch
    }()
    let report = try retrying {
      try make(of: copy, at: directory.journal, for: .use, isForced: true)
    }
    #expect(report.epoch != epoch)
    let journal = try SQLiteJournal(directory.journal)
    #expect(journal.store.lostEvents == 0)
    #expect(journal.store.epoch == report.epoch)
    #expect(journal.store.last == 30)
    #expect(try JournalSource(path: directory.journal + ".old").last == 35)
  }

  @Test
  func `a journal is not replaced by its own copy or while it is in use`() throws {
    let journal = try makeJournal()
    let link = directory.path + "/link"
    symlink(directory.journal, link)
    for target in [directory.journal, link] {
      let error = #expect(throws: JournalError.self) {
        try JournalBuilder(
          at: target, of: directory.journal, for: .backup(epoch: "e"), isForced: true)
      }
      #expect("\(error.map { "\($0)" } ?? "")".contains("\(target) is part of the source journal"))
    }
    // The source is another journal, but the store has this one open.
    let error = #expect(throws: JournalError.self) {
      try JournalBuilder(at: link, for: .backup(epoch: "e"), isForced: true)
    }
    #expect(
      "\(error.map { "\($0)" } ?? "")".contains(
        "\(directory.journal): the journal is in use by pid \(getpid())"))
    withExtendedLifetime(journal) {}
  }

  @Test
  func `a journal exists at every moment during a replacement`() throws {
    _ = try makeJournal()
    _ = try make(of: directory.journal, at: copy, for: .use)
    let (path, isDone, missing) = (copy, Lock(false), Lock(0))
    let watcher = try Worker<Void>({}) { _, _ in
      while !isDone.withLock({ $0 }) {
        if access(path, F_OK) != 0 { missing.withLock { $0 += 1 } }
      }
    }
    watcher.post(())
    for _ in 0..<50 {
      _ = try retrying { try make(of: directory.journal, at: copy, for: .use, isForced: true) }
    }
    isDone.withLock { $0 = true }
    watcher.finish()
    #expect(missing.withLock { $0 } == 0)
  }

  @Test
  func `17: a damaged journal is not copied`() throws {
    _ = try makeJournal()
    let database = openOutside(directory.journal)
    sqlite3_exec(database, "UPDATE event SET data = '0' WHERE seq = 17", nil, nil, nil)
    sqlite3_close(database)
    let error = #expect(throws: JournalError.self) {
      try make(of: directory.journal, at: copy, for: .backup(epoch: "e"))
    }
    guard case .corrupt(seq: 17, _) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(Files.names(in: directory.path).allSatisfy { !$0.hasPrefix("copy.db") })
  }

  @Test
  func `17: a missing event among removed ones is damage`() throws {
    do {
      let journal = try makeJournal()
      #expect(try JournalCheck(path: directory.journal).run().damages.isEmpty)
      withExtendedLifetime(journal) {}
    }
    let database = openOutside(directory.journal)
    sqlite3_exec(database, "DELETE FROM event WHERE seq = 5", nil, nil, nil)
    sqlite3_close(database)
    #expect(
      try JournalCheck(path: directory.journal).run().damages
        == ["events 3 to 12: 8 should exist, 7 do"])
  }
}
