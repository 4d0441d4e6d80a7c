internal import Glibc
internal import Model

/// The state of a server and its journal, as far as it decides whether the journal is used.
struct PostgresRequirements {
  /// The oldest version of the server: before it, nothing was tested.
  static let oldestVersion = 150_000

  let version: Int
  let encoding: String
  let hasChecksums: Bool
  let hasFsync: Bool
  let standbys: String

  /// Whether a Patroni before 3.2 is connected.
  ///
  /// From 3.2 on the session that it keeps has the name 'Patroni heartbeat', and only short ones
  /// have the name 'Patroni'.
  let hasOldPatroni: Bool

  /// The format of the journal; `nil` if the database has none.
  let format: String?

  private static let settings = """
    SELECT current_setting('server_version_num'), current_setting('server_encoding'),
      current_setting('data_checksums'), current_setting('fsync'),
      current_setting('synchronous_standby_names'), to_regclass('binder.journal') IS NOT NULL,
      (SELECT coalesce(bool_or(application_name = 'Patroni')
        AND NOT bool_or(application_name = 'Patroni heartbeat'), false) FROM pg_stat_activity)
    """

  /// Reads the state; nothing is changed.
  init(_ session: PostgresThreadSession) throws(PostgresError) {
    let row = try session.run(text: Self.settings)
    func text(_ column: Int) -> String { row.text(0, column) ?? "" }
    version = Int(text(0)) ?? 0
    encoding = text(1)
    (hasChecksums, hasFsync) = (text(2) == "on", text(3) == "on")
    standbys = text(4)
    hasOldPatroni = text(6) == "t"
    guard text(5) == "t" else {
      format = nil
      return
    }
    let journal = try session.run(text: "SELECT value FROM binder.journal WHERE key = 'format'")
    format = journal.isEmpty ? "unknown" : journal.text(0, 0) ?? "unknown"
  }

  /// Checks that a server keeps what it acknowledges.
  ///
  /// - Throws: ``JournalError/unavailable(detail:)`` with what to change.
  func checkServer(requiresReplication: Bool) throws(JournalError) {
    guard version >= Self.oldestVersion else {
      throw .unavailable(
        detail: "the server is PostgreSQL \(version / 10_000); version 15 or newer is needed")
    }
    guard encoding == "UTF8" else {
      throw .unavailable(
        detail: "the database has the encoding \(encoding); create one with ENCODING 'UTF8'")
    }
    guard hasFsync else {
      throw .unavailable(
        detail: "the server has fsync = off and would lose acknowledged events; set it to on")
    }
    guard hasChecksums else {
      throw .unavailable(
        detail: "the server has no data checksums and would not notice damage; stop it and run "
          + "'pg_checksums --enable', or create it with 'initdb --data-checksums'")
    }
    guard requiresReplication else { return }
    guard !hasOldPatroni else { throw .unavailable(detail: Self.oldPatroni) }
    guard !standbys.isEmpty else { throw .unavailable(detail: Self.asynchronous) }
  }

  private static let oldPatroni = """
    the server is run by a Patroni older than 3.2; versions before 3.0.3 lose acknowledged events \
    with etcd v3; update Patroni, or set 'require_replication' to false (--without-replication) if \
    a loss does not matter
    """

  static let asynchronous = """
    the server's replication is asynchronous, so a failover would lose acknowledged events; set \
    synchronous_standby_names (Patroni: synchronous_mode and synchronous_mode_strict), or \
    'require_replication' to false (--without-replication) for a server without standbys
    """

  /// Checks that there is a journal that this program understands.
  func checkJournal() throws(JournalError) {
    switch format {
    case PostgresSchema.format: return
    case nil:
      throw .unavailable(
        detail: "the database has no journal; create one with 'bindctl journal init'")
    case let format?:
      guard Int(format) != nil else {
        throw .unavailable(detail: "the schema binder of the database is not a journal")
      }
      throw .unavailable(
        detail: "the journal has format \(format), this program knows up to "
          + "\(PostgresSchema.format); install the version of binderd that has made it")
    }
  }
}
