import CSQLite
import EventLoop
import Glibc
import Journal
import JournalSQLite
import Model
import Signals
import TestSupport

extension TemporaryDirectory {
  var journal: String { path + "/journal.db" }
}

/// An SQLite journal with its event loop.
final class SQLiteJournal {
  let loop: Loop
  let store: SQLiteStore
  var clock: Int64 = 1_000_000

  init(
    _ path: String, durability: Durability? = .always, patience: Int32 = 1_000
  ) throws {
    let loop = try Loop()
    self.loop = loop
    var read: () -> Int64 = { 0 }
    store = try retrying {
      try SQLiteStore(path: path, durability: durability, on: loop, patience: patience) { read() }
    }
    read = { [unowned self] in clock }
  }

  deinit {
    store.close()
    loop.run()
  }

  /// Runs the loop until all appended events are durable or rejected.
  func settle() throws {
    try run { store.durable == store.last }
  }

  /// Commits two events.
  func commitTwice() throws {
    _ = try store.append([draft("s", "1")])
    try settle()
    _ = try store.append([draft("s", "2")])
    try settle()
  }

  /// Runs the loop once, without a wait.
  func turn() {
    loop.skipWait()
    loop.runOnce()
  }

  func run(until condition: () -> Bool) throws {
    var isLate = false
    let alarm = try EventLoop.Timer(on: loop) { isLate = true }
    alarm.start(afterMilliseconds: 60_000)
    while !condition(), !isLate { loop.runOnce() }
    alarm.close()
    if isLate { throw SystemError(code: ETIMEDOUT, call: "run(until:)") }
  }

  /// Returns the result of a read.
  func read<Result: Sendable>(
    _ job: @escaping @Sendable (any JournalReader) throws(JournalError) -> Result
  ) throws -> Result {
    try awaiting(store.reading(.prompt, job)) { try run(until: $0) }
  }
}

/// Opens a journal that nobody has open, again as long as its locks are still held.
///
/// A process that another test starts holds the locks of this one until it has become its program.
func retrying<Opened>(_ open: () throws -> Opened) throws -> Opened {
  let end = Process.milliseconds + 60_000
  while true {
    do {
      return try open()
    } catch {
      guard "\(error)".contains("is in use"), Process.milliseconds < end else { throw error }
    }
    usleep(5_000)
  }
}

/// Opens another connection to a journal, which waits for the writes of the journal itself.
func openOutside(_ path: String) -> OpaquePointer? {
  var database: OpaquePointer?
  sqlite3_open(path, &database)
  sqlite3_busy_timeout(database, 60_000)
  return database
}

/// Returns the single element of a signal, or throws its error.
func awaiting<Element>(
  _ signal: Signal<Element, JournalError>, _ run: (() -> Bool) throws -> Void
) throws -> Element {
  var result: Result<Element, JournalError>?
  let observation = signal.observe { event in
    switch event {
    case .next(let element): result = .success(element)
    case .failed(let error): result = .failure(error)
    case .completed: break
    }
  }
  try run { result != nil }
  observation.dispose()
  guard let result else { throw JournalError.unavailable(detail: "no result") }
  return try result.get()
}

func draft(_ stream: String, _ data: String = "{}", type: String = "test.happened") -> Draft {
  Draft(stream: stream, type: type, data: data)
}

/// Returns all records of a store, by a replay.
func replayed(_ store: any EventStore, after seq: UInt64 = 0) throws -> [Record] {
  var records: [Record] = []
  try store.replay(after: seq) { records += $0.records }
  return records
}

extension EventStore {
  /// Appends drafts as one unit and returns the position of the last.
  func append(_ drafts: [Draft]) throws(JournalError) -> UInt64 {
    if let refusal { throw refusal }
    for draft in drafts { _ = append(draft, at: now) }
    seal(meta: nil)
    return last
  }
}

extension Charge {
  /// The charge of a stream with a name of one letter and no retained value.
  static let ofOneLetter = Charge(user: nobody, bytes: 257)
}
