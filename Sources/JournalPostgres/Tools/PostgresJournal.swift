internal import EventLoop
internal import Glibc
internal import Journal
package import Model

/// A journal in PostgreSQL, as the tools see it.
package struct PostgresJournal {
  package let string: ConnectionString

  /// Whether a server that does not wait for standbys is refused.
  package let requiresReplication: Bool

  package init(_ string: ConnectionString, requiresReplication: Bool = true) {
    (self.string, self.requiresReplication) = (string, requiresReplication)
  }

  /// Creates an empty journal.
  ///
  /// - Parameter daemon: The name of the daemon that it belongs to.
  /// - Returns: Its epoch.
  /// - Throws: ``JournalError`` with what to change; nothing was written then.
  @discardableResult
  package func create(for daemon: String = "binderd") throws(JournalError) -> String {
    let session = try connect()
    try checkServer(session)
    let epoch = Self.makeEpoch()
    var notes: [JournalNote: String] = [:]
    notes.daemon = daemon
    try run(session) { session throws(PostgresError) in
      guard try !Self.exists(session) else {
        throw .refused("the database has a journal already")
      }
      let tables = PostgresSchema.tables(in: PostgresSchema.name, epoch: epoch)
      for statement in tables + PostgresSchema.functions { try session.run(text: statement) }
      for (note, text) in notes {
        _ = try session.run(
          text: "INSERT INTO binder.journal VALUES ($1, $2)", [note.rawValue, text])
      }
    }
    return epoch
  }

  static func exists(_ session: PostgresThreadSession) throws(PostgresError) -> Bool {
    try session.run(text: "SELECT to_regnamespace('binder') IS NOT NULL").text(0, 0) == "t"
  }

  /// Returns a new epoch: 8 random hexadecimal digits.
  static func makeEpoch() -> String {
    let digits = String(UInt32.random(in: .min ... .max), radix: 16)
    return String(repeating: "0", count: 8 - digits.count) + digits
  }

  /// Opens a journal of this version for reading.
  func open() throws(JournalError) -> PostgresThreadSession {
    let session = try connect()
    let requirements = try read(session) { session throws(PostgresError) in
      try PostgresRequirements(session)
    }
    do throws(JournalError) {
      try requirements.checkJournal()
    } catch {
      guard case .unavailable(let detail) = error else { throw error }
      throw .unavailable(detail: "\(string): \(detail)")
    }
    return session
  }

  /// The identity of a journal, and its positions.
  struct Outline {
    /// The name of the daemon that the journal belongs to.
    let daemon: String
    let epoch: String
    let first: UInt64
    let last: UInt64
  }

  /// Returns the outline of the journal.
  func outline(_ session: PostgresThreadSession) throws(JournalError) -> Outline {
    let values = try values(session)
    let head = try read(session) { session throws(PostgresError) in
      try session.run(text: "SELECT last FROM binder.head")
    }
    let first = values["first"].flatMap { UInt64($0) } ?? 1
    let last = head.isEmpty ? 0 : head.number(0, 0)
    guard first > 0, first <= last + 1 else {
      throw .corrupt(seq: 0, detail: "the first position is \(first), the last \(last)")
    }
    return Outline(
      daemon: Self.notes(in: values).daemon, epoch: values["epoch"] ?? "", first: first, last: last)
  }

  /// Returns the values of the table `journal`.
  func values(_ session: PostgresThreadSession) throws(JournalError) -> [String: String] {
    let rows = try read(session) { session throws(PostgresError) in
      try session.run(text: "SELECT key, value FROM binder.journal")
    }
    var values: [String: String] = [:]
    for row in 0..<rows.count { values[rows.text(row, 0) ?? ""] = rows.text(row, 1) }
    return values
  }

  /// Returns the notes among the values of the table `journal`.
  static func notes(in values: [String: String]) -> [JournalNote: String] {
    var notes: [JournalNote: String] = [:]
    for note in JournalNote.allCases { notes[note] = values[note.rawValue] }
    return notes
  }

  // MARK: Sessions

  /// The time for which a tool tries to reach a server, in milliseconds, and the pause between its
  /// attempts, in microseconds.
  private static let (patienceMilliseconds, pause) = (UInt64(10_000), UInt32(250_000))

  /// Connects to a server that takes writes; waits for one if a failover is on its way.
  func connect() throws(JournalError) -> PostgresThreadSession {
    let end = Process.milliseconds + Self.patienceMilliseconds
    while true {
      do throws(PostgresDialer.Failure) {
        return try PostgresThreadSession(string)
      } catch {
        guard !error.isLasting, Process.milliseconds < end else {
          throw .unavailable(detail: "\(string): \(error)")
        }
      }
      usleep(Self.pause)
    }
  }

  @discardableResult
  func checkServer(
    _ session: PostgresThreadSession
  ) throws(JournalError) -> PostgresRequirements {
    let requirements = try read(session) { session throws(PostgresError) in
      try PostgresRequirements(session)
    }
    do throws(JournalError) {
      try requirements.checkServer(requiresReplication: requiresReplication)
    } catch {
      guard case .unavailable(let detail) = error else { throw error }
      throw .unavailable(detail: "\(string): \(detail)")
    }
    return requirements
  }

  /// Runs statements in one transaction.
  func run(
    _ session: PostgresThreadSession,
    _ body: (PostgresThreadSession) throws(PostgresError) -> Void
  ) throws(JournalError) {
    try read(session) { session throws(PostgresError) in
      try session.run(text: "BEGIN")
      do throws(PostgresError) {
        try body(session)
        try session.run(text: "COMMIT")
      } catch {
        if !error.isLost { _ = try? session.run(text: "ROLLBACK") }
        throw error
      }
    }
  }

  /// Runs statements, and names the database in the error.
  func read<Value>(
    _ session: PostgresThreadSession,
    _ body: (PostgresThreadSession) throws(PostgresError) -> Value
  ) throws(JournalError) -> Value {
    do throws(PostgresError) {
      return try body(session)
    } catch {
      throw error.code == "53100"
        ? .readOnly(reason: "ENOSPC", outcome: .none)
        : .unavailable(detail: "\(string): \(error)")
    }
  }
}
