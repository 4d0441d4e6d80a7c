import EventLoop
import Features
import Glibc
import Journal
import JournalPostgres
import JournalSQLite
import Model

/// Opens the journal of a daemon.
func openStore(
  _ location: JournalAddress, _ settings: Settings, _ clock: DaemonClock, on loop: Loop,
  _ log: Log, _ manager: ServiceManager
) throws(JournalError) -> any DaemonStore {
  switch location {
  case .file(let path):
    let store = try SQLiteStore(
      path: path, durability: settings.durability, of: settings.options.program.name, on: loop,
      clock: { clock.now })
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
      postgres, isReadOnly: settings.durability == nil, on: loop, clock: { clock.now }
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

extension ClusterState {
  /// The part of a node whose store is this one.
  init(of node: String, _ store: any DaemonStore) {
    let away = store.interruption
    let active: ActiveNode? =
      switch store.role {
      case .active: ActiveNode(name: node, address: nil)
      case .following(let active): active
      case .joining, .over: nil
      }
    let nodes = store.nodes.map {
      // Of itself this daemon knows the present.
      let isItself = $0.name == node && away == nil
      return Node(
        name: $0.name, role: $0.role(ifActive: active?.name),
        position: isItself ? store.durable : $0.position, silent_ms: isItself ? 0 : $0.silent,
        version: $0.version, address: $0.address)
    }
    switch store.role {
    case .active(let term):
      self.init(
        node: node, role: .active, term: term, active: node, away: away, nodes: nodes)
    case .following:
      self.init(
        node: node, role: .following, active: active?.name, address: active?.address,
        away: away, nodes: nodes)
    case .joining, .over:
      self.init(node: node, role: .joining, away: away, nodes: nodes)
    }
  }
}
