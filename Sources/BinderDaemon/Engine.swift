import API
import Configuration
import Connections
import EventLoop
import EventSourcing
import Journal
import LuaScripts
import Signals
import Wire

/// The base of all services and clients of a daemon: the loop, the journal, the host of the
/// services, and the table of the connections.
struct Engine {
  let loop: Loop
  let scheduler: LoopScheduler

  /// The clock of the events and of the bindings, and the timers by it.
  let clock: DaemonClock
  let clockScheduler: any Scheduler
  let location: JournalAddress
  let store: any DaemonStore
  let host: ServiceHost
  let table: ConnectionTable
  let watch: JournalWatch
  let measures: DaemonMeasures

  /// Keeps a reserve of the disk for administrators; `nil` if the journal is in a database.
  let disk: DiskWatch?

  /// Whether the daemon asks nothing of the network.
  let isOffline: Bool

  /// The number of files that the process may open.
  private let descriptors: Int

  init(_ settings: Settings, _ log: Log, _ manager: ServiceManager) throws {
    descriptors = Process.prepare()
    isOffline = settings.options.isOffline
    let loop = try Loop()
    self.loop = loop
    scheduler = LoopScheduler(loop)
    location = try settings.journal
    clock = DaemonClock(settings.options.clock)
    clockScheduler = clock.canBeSet ? ClockScheduler(clock, on: scheduler) : scheduler
    store = try openStore(location, settings, clock, on: loop, log, manager)
    // No event is before the last one, so a clock of its own begins there at the earliest.
    if store.last > 0 { clock.advance(to: store.lastTime) }
    host = ServiceHost(store: store)
    watch = JournalWatch(host, store, log) { loop.milliseconds }
    table = ConnectionTable(
      limits: settings.configuration.limits.fitting(descriptors), now: { loop.milliseconds },
      clock: { Process.nanoseconds }, scheduler: scheduler)
    table.context.owners = [0, Process.user]
    table.context.roleLimits = host.roleLimits
    host.owners = table.context.owners
    host.daemon = Process.peer
    host.shares.now = { loop.milliseconds }
    host.chargeFolds { [context = table.context] folds in
      context.charge(Process.user) { Lua.pausingCalls(folds) }
    }
    host.measureCommits(begin: table.context.beginCommit, charge: table.context.chargeCommit)
    host.freeEvents = { [context = table.context] in context.free($0, for: $1) }
    measures = DaemonMeasures(
      of: settings.options.program, table: table, host: host, store: store, loop: loop)
    disk = DiskWatch(of: location, host, store, on: scheduler)
    measures.disk = disk
    disk.map(watch.watch)
    host.onSnapshotFailure = { log.write(.warning, "cannot save a snapshot: \($0)") }
    table.slowLog.now = { Process.now }
    logSlowRequests(of: table, log) { loop.milliseconds }
  }

  /// Uses the limits of a configuration, before the start and after each reload.
  func configure(_ configuration: Configuration) {
    let limits = configuration.limits
    table.context.limits = limits.fitting(descriptors)
    host.quota = StateQuota(limits)
    host.shares.bytesPerSecond = limits.journalRatePerUser
    host.shares.burst = limits.journalBurstPerUser
    disk?.reserve = limits.diskReserve
    table.refreshLimits()
    host.shares.refreshLimits()
    table.setSlowLog(configuration.slowLog)
  }
}
