import EventLoop
import Glibc
import Journal
import JournalPostgres
import Model
import Signals
import TestSupport
import Testing

/// A journal in PostgreSQL with its event loop.
final class PostgresTrial {
  let loop: Loop
  let store: PostgresStore
  var clock: Int64 = 1_000_000

  /// The events that the daemon has applied, its own and those of others.
  var applied: [Record] = []

  /// The reasons of rejections and of the failure.
  var rejections: [JournalError] = []
  var failure: JournalError?
  private var observer: StoreObserver?

  /// Called after own events were applied.
  var onCommitted: (RecordBatch) -> Void = { _ in }

  /// Opens a journal on a database, as a node of this name.
  init(
    _ string: String, node: String = "a", of daemon: String = "binderd", takeover: UInt64 = 3_000,
    patience: UInt64 = 30_000,
    answer: UInt64 = 2_000, report: UInt64 = 10_000, requiresReplication: Bool = false
  ) throws {
    loop = try Loop()
    var read: () -> Int64 = { 0 }
    var settings = PostgresSettings(try ConnectionString(string), node: node)
    settings.daemon = daemon
    settings.requiresReplication = requiresReplication
    settings.patienceMilliseconds = patience
    settings.takeoverMilliseconds = takeover
    settings.answerMilliseconds = answer
    settings.reportMilliseconds = report
    store = try PostgresStore(settings, on: loop, clock: { read() }) {
      reason throws(JournalError) in
      throw JournalError.unavailable(detail: reason)
    }
    read = { [unowned self] in clock }
  }

  /// Opens a new journal and becomes the active daemon.
  static func active() throws -> PostgresTrial {
    let server = try #require(PostgresServer.shared)
    let string = try server.makeDatabase()
    try PostgresJournal(ConnectionString(string), requiresReplication: false).create()
    let trial = try PostgresTrial(string)
    try trial.activate()
    return trial
  }

  /// Applies all events from now on.
  func follow() {
    let observer = StoreObserver(of: store)
    observer.onCommitted = { [unowned self] events in
      applied += events.records
      onCommitted(events)
    }
    observer.onFollowed = { [unowned self] events in
      for record in events.records {
        store.follow(
          record, to: store.names.add(record.stream), by: Charge.nobody, growing: 0)
      }
      applied += events.records
    }
    observer.onRejected = { [unowned self] in rejections.append($0) }
    observer.onFailed = { [unowned self] in failure = $0 }
    self.observer = observer
  }

  func activate() throws {
    store.contend()
    try run { if case .active = store.role { true } else { false } }
  }

  deinit {
    store.close()
    loop.run()
  }

  /// Runs the loop until all appended events are durable or rejected.
  func settle() throws {
    try run { store.durable == store.last }
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

/// Several daemons on one database, whose loops run in turn on the thread of the test.
///
/// A daemon whose loop does not run is a paused one.
final class PostgresCluster {
  let server: PostgresServer
  let database: String
  let string: String
  private(set) var trials: [PostgresTrial] = []

  /// - Parameter server: A server whose settings the test changes; `nil` for the one of all tests.
  init(_ server: PostgresServer? = nil) throws {
    let server = try #require(server ?? PostgresServer.shared)
    self.server = server
    string = try server.makeDatabase()
    database = String(string.split(separator: "=").last ?? "")
    try PostgresJournal(ConnectionString(string), requiresReplication: false).create()
  }

  /// Adds a daemon, which applies all events that it follows.
  @discardableResult
  func add(
    _ node: String, takeover: UInt64 = 3_000, patience: UInt64 = 30_000, answer: UInt64 = 2_000,
    report: UInt64 = 10_000
  ) throws -> PostgresTrial {
    let trial = try PostgresTrial(
      string, node: node, takeover: takeover, patience: patience, answer: answer, report: report)
    try trial.store.replay(after: 0) { trial.applied += $0.records }
    trial.follow()
    trials.append(trial)
    trial.store.contend()
    return trial
  }

  /// Ends a daemon as a kill would: without giving its lease back.
  func kill(_ trial: PostgresTrial) { trials.removeAll { $0 === trial } }

  @discardableResult
  func sql(_ text: String) throws -> String { try server.sql(text, on: database) }

  /// Runs the loops of all daemons for a time.
  func run(milliseconds: UInt64, without paused: [PostgresTrial] = []) throws {
    let end = Process.milliseconds + milliseconds
    try run(without: paused) { Process.milliseconds >= end }
  }

  /// Makes commits wait for a standby, or not any more; only on a server of one's own.
  ///
  /// The processes of the server read the setting at their own time.
  func waitForStandby(_ name: String?) throws {
    try sql("ALTER SYSTEM SET synchronous_standby_names = '\(name ?? "")'")
    try sql("SELECT pg_reload_conf()")
    guard name != nil else { return }
    // A commit that waits shows that it holds.
    let waiting = "FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query LIKE '%probe%'"
    let end = Process.milliseconds + 60_000
    repeat {
      guard Process.milliseconds < end else { throw SystemError(code: ETIMEDOUT, call: "SyncRep") }
      try server.begin("SELECT pg_logical_emit_message(true, 'probe', '')", on: database)
      usleep(20_000)
    } while try sql("SELECT count(*) \(waiting)") == "0\n"
    while try sql("SELECT count(pg_cancel_backend(pid)) \(waiting)") != "0\n" { usleep(5_000) }
  }

  /// Runs the loops of all daemons but the paused ones until a condition holds.
  func run(
    without paused: [PostgresTrial] = [], until condition: () throws -> Bool
  ) throws {
    let end = Process.milliseconds + 60_000
    while try !condition() {
      guard Process.milliseconds < end else { throw SystemError(code: ETIMEDOUT, call: "run") }
      for trial in trials where !paused.contains(where: { $0 === trial }) {
        trial.loop.skipWait()
        trial.loop.runOnce()
      }
      usleep(200)
    }
  }

  /// The process of the server that serves a daemon, as of its last sign of life.
  func process(of node: String) throws -> String {
    try sql("SELECT process FROM binder.node WHERE name = '\(node)'")
  }

  /// Runs a block of PL/pgSQL before each change, for example before `INSERT ON binder.event`.
  func before(_ change: String, _ body: String) throws {
    try sql(
      """
      CREATE SEQUENCE tries;
      CREATE FUNCTION trial() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN \(body) RETURN NEW; END $$;
      CREATE TRIGGER trial BEFORE \(change) FOR EACH ROW EXECUTE FUNCTION trial();
      """)
  }

  /// Ends the session of a daemon, as a failover of the database does.
  func endSessions() throws {
    try sql(
      """
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid()
      """)
  }

  deinit {
    trials = []
  }
}

extension PostgresStore {
  var isActive: Bool { if case .active = role { true } else { false } }
  var isFollowing: Bool { if case .following = role { true } else { false } }
  var isOver: Bool { if case .over = role { true } else { false } }
}

extension Trait where Self == ConditionTrait {
  /// Skips a test if PostgreSQL is not there.
  static var needsPostgres: Self {
    .enabled(
      if: PostgresServer.shared != nil, "PostgreSQL 15 is not there; see Scripts/packages test")
  }
}
