package import Facts
internal import Journal

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
  /// - Returns: Its epoch.
  /// - Throws: ``JournalError`` with what to change; nothing was written then.
  @discardableResult
  package func create() throws(JournalError) -> String {
    let session = try connect()
    try checkServer(session)
    let epoch = Self.makeEpoch()
    try run(session) { session throws(PostgresError) in
      guard try !Self.exists(session) else {
        throw PostgresError(code: "42P06", message: "the database has a journal already")
      }
      let tables = PostgresSchema.tables(in: PostgresSchema.name, epoch: epoch)
      for statement in tables + PostgresSchema.functions { try session.run(text: statement) }
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

  // MARK: Sessions

  func connect() throws(JournalError) -> PostgresThreadSession {
    do throws(PostgresDialer.Failure) {
      return try PostgresThreadSession(string)
    } catch {
      throw .unavailable(detail: "\(string): \(error)")
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
      try body(session)
      try session.run(text: "COMMIT")
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
