import EventLoop
import Journal
import JournalMemory
import JournalSQLite
import Model
import Signals
import TestSupport
import Testing

/// The contract of every event store; add a case for a new store.
struct EventStoreContractTests {
  enum Kind: CaseIterable {
    case memory, sqlite, postgres
    /// A store in memory that has followed another one, and is active now.
    case follower

    /// The kinds that can be tested here.
    static var allCases: [Kind] {
      [.memory, .follower, .sqlite] + (PostgresServer.shared == nil ? [] : [.postgres])
    }
  }

  /// A store of a kind, with a closure that makes appends durable and runs pending reads.
  final class Subject {
    let store: any EventStore
    let settle: () throws -> Void
    private let keep: Any
    var clock: Int64 = 1_000_000

    init(_ kind: Kind) throws {
      switch kind {
      case .memory, .follower:
        var read: () -> Int64 = { 0 }
        let memory = MemoryStore { read() }
        if kind == .follower {
          memory.follow(MemoryStore())
          memory.lead(term: 1)
        }
        store = memory
        settle = {
          memory.commit()
          memory.read()
        }
        keep = memory
        read = { [unowned self] in clock }
      case .sqlite:
        let directory = try TemporaryDirectory()
        let journal = try SQLiteJournal(directory.journal)
        store = journal.store
        settle = { try journal.settle() }
        keep = (journal, directory)
        onTick = { [unowned self] in journal.clock = clock }
      case .postgres:
        let trial = try PostgresTrial.active()
        store = trial.store
        settle = { try trial.settle() }
        keep = trial
        onTick = { [unowned self] in trial.clock = clock }
      }
    }

    private var onTick: (() -> Void)?

    func setClock(_ time: Int64) {
      clock = time
      onTick?()
    }

    func read<Result: Sendable>(
      _ job: @escaping @Sendable (any JournalReader) throws(JournalError) -> Result
    ) throws -> Result {
      try awaiting(store.reading(.long, job)) { isDone in
        if let (journal, _) = keep as? (SQLiteJournal, TemporaryDirectory) {
          try journal.run(until: isDone)
        } else if let trial = keep as? PostgresTrial {
          try trial.run(until: isDone)
        } else {
          try settle()
        }
      }
    }
  }

  @Test(arguments: Kind.allCases)
  func `records are numbered from 1 without gaps and read back`(kind: Kind) throws {
    let subject = try Subject(kind)
    let drafts = [
      Draft(stream: "a", type: "t", data: #"{"x":1}"#),
      Draft(stream: "b", type: "t", data: "{}", command: "c-1", meta: #"{"uid":0}"#),
      Draft(stream: "a", type: "u", data: "\"ü\u{1F600}\"", command: "", meta: ""),
    ]

    #expect(try subject.store.append(Array(drafts[..<2])) == 2)
    #expect(try subject.store.append([drafts[2]]) == 3)
    try subject.settle()

    let records = try replayed(subject.store)
    #expect(records.map(\.seq) == [1, 2, 3])
    #expect(records.map(\.draft) == drafts)
    #expect(records.map(\.version) == [1, 1, 2])
    #expect(records.map(\.previous) == [0, 0, 1])
    #expect(try replayed(subject.store, after: 1) == Array(records[1...]))
    #expect(
      try subject.read { reader throws(JournalError) in
        try reader.records(after: 1, limit: 1)
      } == [records[1]])
    #expect(
      try subject.read { reader throws(JournalError) in
        try reader.records(after: 3, limit: 9)
      } == [])
  }

  @Test(arguments: Kind.allCases)
  func `a record is delivered once it is durable, and not before`(kind: Kind) throws {
    let subject = try Subject(kind)
    var told: [UInt64] = []
    let observer = StoreObserver(of: subject.store)
    observer.onCommitted = {
      told += $0.records.map(\.seq)
    }
    _ = try subject.store.append([draft("s"), draft("s")])
    _ = try subject.store.append([draft("s")])
    #expect(told.isEmpty)
    #expect(subject.store.last == 3)
    #expect(subject.store.durable == 0)

    try subject.settle()

    #expect(told == [1, 2, 3])
    #expect(subject.store.durable == 3)
    observer.end()
  }

  @Test(arguments: Kind.allCases)
  func `a position is already durable when an observer receives it`(kind: Kind) throws {
    let subject = try Subject(kind)
    var read: [Bool] = []
    let observer = StoreObserver(of: subject.store)
    observer.onCommitted = {
      [store = subject.store] in
      read.append(store.durable >= $0.last)
    }
    _ = try subject.store.append([draft("s")])
    try subject.settle()
    #expect(read == [true])
    observer.end()
  }

  @Test(arguments: Kind.allCases)
  func `a unit that is rolled back leaves no trace`(kind: Kind) throws {
    let subject = try Subject(kind)
    _ = try subject.store.append([draft("a")])
    _ = subject.store.append(draft("a"), at: subject.store.now)
    _ = subject.store.append(draft("b"), at: subject.store.now)
    subject.store.rollBackUnsealed()
    #expect(subject.store.last == 1)
    #expect(subject.store.head(of: "a") == Head(seq: 1, version: 1, charge: .ofOneLetter))
    #expect(subject.store.head(of: "b") == .none)
    _ = try subject.store.append([draft("b")])
    try subject.settle()
    #expect(try replayed(subject.store).map(\.stream) == ["a", "b"])
  }

  @Test(arguments: Kind.allCases)
  func `sealing a unit can add metadata to its last record`(kind: Kind) throws {
    let subject = try Subject(kind)
    for _ in 0..<2 { _ = subject.store.append(draft("a"), at: subject.store.now) }
    subject.store.seal(meta: "{}")
    try subject.settle()
    #expect(try replayed(subject.store).map(\.meta) == [nil, "{}"])
  }

  @Test(arguments: Kind.allCases)
  func `the head of a stream covers all appended events`(kind: Kind) throws {
    let subject = try Subject(kind)
    #expect(subject.store.head(of: "a") == .none)
    _ = try subject.store.append([draft("a"), draft("b"), draft("a")])
    #expect(subject.store.head(of: "a") == Head(seq: 3, version: 2, charge: .ofOneLetter))
    #expect(subject.store.head(of: "b") == Head(seq: 2, version: 1, charge: .ofOneLetter))
    try subject.settle()
    #expect(subject.store.head(of: "a") == Head(seq: 3, version: 2, charge: .ofOneLetter))
  }

  @Test(arguments: Kind.allCases)
  func `a stream is read backwards`(kind: Kind) throws {
    let subject = try Subject(kind)
    for i in 1...10 { _ = try subject.store.append([draft(i % 3 == 0 ? "a" : "b", "\(i)")]) }
    try subject.settle()
    let head = subject.store.head(of: "a").seq
    let newest = try subject.read { reader throws(JournalError) in
      try reader.records(ofStream: "a", from: head, limit: 2)
    }
    #expect(newest.map(\.seq) == [9, 6])
    let all = try subject.read { reader throws(JournalError) in
      try reader.records(ofStream: "a", from: head, limit: 100)
    }
    #expect(all.map(\.seq) == [9, 6, 3])
    #expect(all.map(\.version) == [3, 2, 1])
  }

  @Test(arguments: Kind.allCases)
  func `there are no records after the last position`(kind: Kind) throws {
    let subject = try Subject(kind)
    _ = try subject.store.append([draft("a")])
    try subject.settle()
    for seq in [1, UInt64(Int64.max) - 1, UInt64(Int64.max), .max] {
      #expect(
        try subject.read { reader throws(JournalError) in
          try reader.records(after: seq, limit: 10)
        }.isEmpty)
    }
  }

  @Test(arguments: Kind.allCases)
  func `times never decrease, and a position is found by time`(kind: Kind) throws {
    let subject = try Subject(kind)
    for time: Int64 in [1_000, 3_000, 2_000, 5_000] {
      subject.setClock(time)
      _ = try subject.store.append([draft("s")])
    }
    try subject.settle()
    #expect(try replayed(subject.store).map(\.time) == [1_000, 3_000, 3_000, 5_000])
    for (time, seq) in [(999, 0), (1_000, 1), (2_999, 1), (3_000, 3), (5_000, 4), (9_999, 4)] {
      let found = try subject.read { reader throws(JournalError) in
        try reader.position(at: Int64(time))
      }
      #expect(found == UInt64(seq), "at \(time)")
    }
  }

  @Test(arguments: Kind.allCases)
  func `the bounds cover the durable events`(kind: Kind) throws {
    let subject = try Subject(kind)
    var bounds = try subject.read { reader throws(JournalError) in try reader.bounds() }
    #expect(bounds == (1, 0))
    _ = try subject.store.append([draft("s"), draft("s")])
    try subject.settle()
    bounds = try subject.read { reader throws(JournalError) in try reader.bounds() }
    #expect(bounds == (1, 2))
    #expect(subject.store.first == 1)
  }

  @Test(arguments: Kind.allCases)
  func `the newest snapshot up to a position is found`(kind: Kind) throws {
    let subject = try Subject(kind)
    for _ in 1...9 { _ = try subject.store.append([draft("s")]) }
    try subject.settle()
    let snapshots = [3, 6, 9].map { seq in
      Snapshot(service: "a", seq: UInt64(seq), schema: 2, data: "\"at \(seq)\"")
    }
    for snapshot in snapshots { subject.store.save(snapshot) }
    subject.store.save(Snapshot(service: "b", seq: 5, schema: 1, data: "{}"))
    // Snapshots are saved in the background: read until the last one is found.
    var other: Snapshot?
    let end = Process.milliseconds + 60_000
    while other == nil, Process.milliseconds < end {
      other = try subject.read { reader throws(JournalError) in
        try reader.snapshot(of: "b", upTo: 9)
      }
    }
    #expect(other?.seq == 5)
    #expect(try subject.store.snapshot(of: "a") == snapshots[2])
    #expect(try subject.store.snapshot(of: "c") == nil)
    let older = try subject.read { reader throws(JournalError) in
      try reader.snapshot(of: "a", upTo: 8)
    }
    #expect(older == snapshots[1])
    let none = try subject.read { reader throws(JournalError) in
      try reader.snapshot(of: "a", upTo: 2)
    }
    #expect(none == nil)
  }

  /// Removes some events and waits for the result.
  private func remove(_ removal: Removal, _ subject: Subject) throws {
    var result: Result<RemovalReport, JournalError>?
    let observation = subject.store.removed.observeNext { result = $0 }
    subject.store.remove(removal)
    let end = Process.milliseconds + 60_000
    while result == nil, Process.milliseconds < end {
      (subject.store as? MemoryStore)?.remove()
      _ = try subject.read { reader throws(JournalError) in try reader.bounds() }
    }
    observation.dispose()
    _ = try #require(result).get()
  }

  @Test(arguments: Kind.allCases)
  func `removed events are skipped, and nothing else changes`(kind: Kind) throws {
    let subject = try Subject(kind)
    for i in 1...20 {
      subject.setClock(Int64(1000 * i))
      _ = try subject.store.append([draft(i % 2 == 0 ? "a/x" : "b/x", "\(i)")])
    }
    try subject.settle()
    try remove(
      Removal(
        first: 1, last: 10, runs: [2...2, 4...4, 6...6, 8...8], services: ["a": 8, "*": 8]),
      subject)

    #expect(try replayed(subject.store).map(\.seq) == [1, 3, 5, 7] + Array(9...20))
    #expect(subject.store.first == 1)
    #expect(try subject.store.lastRemoval(of: "a") == 8)
    #expect(try subject.store.lastRemoval(of: "b") == 0)
    #expect(
      try subject.read { reader throws(JournalError) in
        try reader.records(after: 3, limit: 3).map(\.seq)
      } == [5, 7, 9])
    for (time, seq) in [(2_500, 1), (3_000, 3), (8_999, 7), (20_000, 20)] {
      let found = try subject.read { reader throws(JournalError) in
        try reader.position(at: Int64(time))
      }
      #expect(found == UInt64(seq), "at \(time)")
    }

    try remove(
      Removal(
        first: 1, last: 12, runs: [1...1, 3...3, 5...5, 7...7, 9...10],
        services: [
          "a": 10, "b": 9, "*": 10,
        ]), subject)
    #expect(subject.store.first == 11)
    #expect(try replayed(subject.store).map(\.seq).elementsEqual(11...20))
    let bounds = try subject.read { reader throws(JournalError) in try reader.bounds() }
    #expect(bounds == (11, 20))
    _ = try subject.store.append([draft("a/x")])
    try subject.settle()
    #expect(try replayed(subject.store, after: 19).map(\.seq) == [20, 21])
  }

  @Test(arguments: Kind.allCases)
  func `the last removed position of a service is found for any position`(kind: Kind) throws {
    let subject = try Subject(kind)
    for i in 1...20 { _ = try subject.store.append([draft(i % 2 == 0 ? "a/x" : "b/x")]) }
    try subject.settle()
    try remove(
      Removal(first: 3, last: 10, runs: [4...4, 8...8], services: ["a": 8, "*": 8]), subject)
    for (seq, last) in [(20, 8), (8, 8), (6, 6), (3, 3), (2, 0)] as [(UInt64, UInt64)] {
      let found = try subject.read { reader throws(JournalError) in
        try reader.lastRemoval(of: "a", upTo: seq)
      }
      #expect(found == last, "up to \(seq)")
    }
  }

  @Test(arguments: Kind.allCases)
  func `a disposed read delivers nothing`(kind: Kind) throws {
    let subject = try Subject(kind)
    var isTold = false
    let observation = subject.store.reading(.prompt) { _ in 1 }.observe { _ in isTold = true }
    observation.dispose()
    _ = try subject.read { _ in 2 }
    #expect(!isTold)
  }
}
