import EventLoop
import Facts
import Glibc
import Journal
import JournalPostgres
import JournalSQLite

/// Opens the journal of a daemon.
func openStore(
  _ location: JournalLocation, _ settings: Settings, on loop: Loop, _ log: Log,
  _ manager: ServiceManager
) throws(JournalError) -> any DaemonStore {
  switch location {
  case .file(let path):
    let store = try SQLiteStore(
      path: path, durability: settings.durability, on: loop, clock: { Process.now })
    if let renewal = store.renewal {
      log.write(
        store.lostEvents > 0 ? .error : .warning, "\(renewal); its epoch is \(store.epoch) now")
    } else if store.lostEvents > 0 {
      log.write(.error, "the journal has lost \(store.lostEvents) acknowledged events")
    }
    return store
  case .postgres(let postgres):
    var wait = DatabaseWait(log, manager)
    return try PostgresStore(
      postgres, isReadOnly: settings.durability == nil, on: loop, clock: { Process.now }
    ) { reason throws(JournalError) in
      wait.pause(because: reason)
    }
  }
}

/// The wait for a database at the start.
private struct DatabaseWait {
  private let log: Log
  private let manager: ServiceManager

  /// The time of the last line, in milliseconds.
  private var loggedAt: UInt64?

  /// The time between attempts in microseconds, and between lines in milliseconds.
  private static let (pause, lineMilliseconds) = (UInt32(500_000), UInt64(10_000))

  init(_ log: Log, _ manager: ServiceManager) { (self.log, self.manager) = (log, manager) }

  mutating func pause(because reason: String) {
    let now = Process.milliseconds
    if loggedAt.map({ now - $0 >= Self.lineMilliseconds }) ?? true {
      loggedAt = now
      log.write(.warning, "waiting for the database: \(reason)")
    }
    manager.notify("EXTEND_TIMEOUT_USEC=10000000", "STATUS=waiting for the database")
    usleep(Self.pause)
  }
}
