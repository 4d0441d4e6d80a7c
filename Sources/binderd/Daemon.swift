import API
import Adapters
import Configuration
import Connections
import EventLoop
import EventSourcing
import Features
import Journal
import Model
import Signals
import Wire

/// The composition root: creates all parts of the daemon and connects them.
final class Daemon {
  let loop: Loop
  let store: any DaemonStore
  let host: ServiceHost
  let table: ConnectionTable
  let server: SocketServer

  /// Reloads the configuration.
  let reload: Reload

  private let rights: RightsTable
  private let bindings: BindingsService
  private let liveBindings: LiveBindings
  let journal: JournalService

  /// The features that clients can use, with their actions at the start and the stop.
  private let features: [Feature]

  private let journalWatch: JournalWatch
  private let programs: Programs

  /// Keeps a reserve of the disk for administrators; `nil` if the journal is in a database.
  let disk: DiskWatch?

  /// Commands between the daemons of a shared journal; `nil` in a journal for one daemon.
  private let forwarding: Forwarding?

  /// Lets clients survive a restart.
  private let returning: ReturningClients

  /// The messages to the service manager; `nil` if there is none.
  private let managerQueue: ManagerQueue?

  /// Logs refused connections and requests.
  let refusals: RefusalLog
  private let bag = DisposeBag()

  init(
    _ settings: Settings, _ file: ConfigurationFile, _ log: Log, _ manager: ServiceManager
  ) throws {
    let descriptors = Process.prepare()
    let loop = try Loop()
    let scheduler = LoopScheduler(loop)
    let location = try settings.journal
    let store = try openStore(location, settings, on: loop, log, manager)
    let host = ServiceHost(store: store)
    let configuration = settings.configuration
    journalWatch = JournalWatch(host, store, log) { loop.milliseconds }
    let table = ConnectionTable(
      limits: configuration.limits.fitting(descriptors), now: { loop.milliseconds },
      clock: { Process.nanoseconds }, scheduler: scheduler)
    table.context.owners = [0, Process.user]
    table.context.roleLimits = host.roleLimits
    host.owners = table.context.owners
    host.daemon = Process.peer
    host.shares.now = { loop.milliseconds }
    let stats = DaemonMeasures(table: table, host: host, store: store, loop: loop)
    let disk = DiskWatch(of: location, host, store, on: scheduler)
    stats.disk = disk
    disk.map(journalWatch.watch)
    host.onSnapshotFailure = { log.write(.warning, "cannot save a snapshot: \($0)") }

    // Services and their binders: a new service adds one line to each part.
    let cells = CellsService(in: host)
    let lists = ListsService(in: host)
    let maps = MapsService(in: host)
    let leases = LeasesService(in: host, on: scheduler) { Process.nanoseconds }
    leases.onFailure = { lease, reason in
      log.write(.warning, "the will of \(lease) was not run: \(reason)")
    }
    let clientLeases = ClientLeases(leases)
    let locks = LocksService(in: host)
    let programs = Programs(in: host)
    let bindings = BindingsService(in: host)
    let liveBindings = LiveBindings(on: scheduler, in: table.context)
    liveBindings.time = .local
    let readers = LiveReaders(ReadersService(in: host))
    let journal = JournalService(
      of: store, { () throws(JournalError) in try JournalFigures(of: location) }, in: host,
      on: scheduler, log)
    journal.boot = Process.bootID
    let machine = LinuxProbe()
    let system = SystemService(machine, on: scheduler)
    let daemon = DaemonService(
      on: scheduler, stats: { stats.now }, connections: { stats.connections },
      streams: StreamMeter(host) { Process.nanoseconds }, slow: { table.slowLog.shown },
      users: { stats.users })
    table.slowLog.now = { Process.now }
    logSlowRequests(of: table, log) { loop.milliseconds }

    let features: [Feature] =
      [
        .cells(cells), .lists(lists), .maps(maps), .leases(leases, clientLeases),
        .locks(locks, clientLeases), .programs(programs), .bindings(bindings, liveBindings),
        .readers(readers), .system(system, close: machine.close),
      ] + applications(in: host, on: loop, scheduler, configuration)
    func apply(_ configuration: Configuration) {
      let limits = configuration.limits
      table.context.limits = limits.fitting(descriptors)
      host.quota = StateQuota(limits)
      host.shares.bytesPerSecond = limits.journalRatePerUser
      host.shares.burst = limits.journalBurstPerUser
      disk?.reserve = limits.diskReserve
      table.refreshLimits()
      host.shares.refreshLimits()
      journal.retention = configuration.retention
      table.setSlowLog(configuration.slowLog)
      for feature in features { feature.configure(configuration) }
    }
    apply(configuration)

    // Access control, and the effect of a changed configuration.
    let catalog = Catalog(over: host)
    catalog.clock = { Process.milliseconds }
    catalog.onInternalError = { ref, detail in
      log.write(.error, "\(ref): \(detail)", .internalError)
    }
    let rights = RightsTable(for: catalog)
    let refusals = RefusalLog(on: scheduler) { text, uid, pid in
      let fields = [uid.map { ("BINDER_UID", "\($0)") }, pid.map { ("BINDER_PID", "\($0)") }]
      log.write(.warning, text, .refused, fields: fields.compactMap(\.self))
    }
    let access = AccessControl(configuration.roles, rights, refusals)
    func applyRoleLimits(of configuration: Configuration) {
      host.roleLimits.ofUser =
        configuration.roles.haveLimits ? { [unowned access] in access.limits(ofUser: $0) } : nil
    }
    applyRoleLimits(of: configuration)
    let roleWarnings = { (configuration: Configuration) in
      catalog.warnings(of: configuration.roles, file: file.path ?? "")
        + socketWarnings(of: configuration.roles, socket: settings.socketPath, file.path ?? "")
    }
    let reload = Reload(file, settings, log, manager, warnings: roleWarnings) {
      configuration, files in
      access.change(to: configuration.roles, for: table.connections.values)
      applyRoleLimits(of: configuration)
      apply(configuration)
      guard case .active = store.role else { return (false, []) }
      let loaded = loadBindings(rights[.owner], liveBindings, files)
      let lost = warnings(of: bindings, for: rights[.owner], access.role(ofUser:))
      return (loaded.hasChanged, loaded.faults + lost)
    }
    let forwarding = store.mail.map { mail in
      Forwarding(
        in: table, on: scheduler,
        patienceMilliseconds: UInt64(configuration.cluster.patienceMilliseconds), bind: access.bind
      ) { [unowned mail] in mail.send($0, to: $1) }
    }
    let metrics = DaemonMetrics(table, host, store, log, forwarding)
    metrics.users = { stats.users }
    leases.will = { calls, owner throws(WireError) in
      try makeWill(of: calls, owner, access, rights, table)
    }
    let administration = Administration(
      reload: reload.run(isCheck:), decide: access.decision(on:by:), file: { reload.path })

    catalog.fill { catalog in
      bindProtocol(catalog, stats.server, stats: { stats.now })
      bindMetrics(catalog) { metrics.now(callsOf: catalog) }
      bindSources(catalog, readers)
      bindViews(catalog)
      bindHistory(catalog)
      for feature in features { feature.bind(catalog) }
      bindDaemon(catalog, to: daemon)
      catalog.offerSource(
        "daemon/journal", "What is done to the journal now, and how far.", journal.progress)
      bindJournal(catalog, to: journal)
      if let forwarding { catalog.forward(by: forwarding) }
      if let node = location.node {
        let state = Sampled(every: 1, on: scheduler) { [unowned store] in
          ClusterState(of: node, store)
        }
        bindCluster(catalog, to: state)
      }
      bindAdministration(catalog, to: administration)
      bindActAs(catalog, to: table, admit: access.admit(_:by:))
      bindKick(catalog, to: table) { conn, client, caller in
        log.write(
          .notice,
          "uid \(caller.uid) pid \(caller.pid) ended connection \(conn) of uid \(client.uid)"
            + " pid \(client.pid)")
      }
    }

    precondition(
      ConnectionPart.items.allSatisfy { catalog.restores($0) || unusedItems.contains($0) },
      "a part of connections is not restored")
    (self.loop, self.store, self.host, self.table) = (loop, store, host, table)
    (self.rights, self.bindings, self.liveBindings) = (rights, bindings, liveBindings)
    (self.journal, self.reload) = (journal, reload)
    self.features = features
    self.refusals = refusals
    self.disk = disk
    (self.programs, self.forwarding) = (programs, forwarding)
    // Not in a cluster: a daemon that begins again would not get its clients from the manager.
    let descriptorStore = manager.storeSize > 0 && !store.isShared ? manager.queue : nil
    returning = ReturningClients(manager, descriptorStore, log)
    server = SocketServer(
      table, on: loop, log: log, store: descriptorStore, admits: access.admits,
      onConnection: access.bind)
    managerQueue = manager.queue
    try managerQueue?.start(on: loop)
  }

  deinit {
    // The methods retain the reload action, which retains the catalog.
    rights.keep(only: [])
    rights.catalog.end()
  }

  /// Replays the journal into the services and connects the clients to the services.
  ///
  /// - Parameter files: The bindings of files; `nil` leaves what the journal knows of them as it is.
  /// - Throws: ``JournalError`` when an event cannot be read and the journal may be written.
  func start(
    _ settings: Settings, _ files: BindFiles?, _ log: Log, _ manager: ServiceManager
  ) throws {
    try replay(settings, log, manager)
    bindTable(table, to: rights.catalog, bag: bag)
    forwardCommands()
    if settings.durability != nil { try join(manager) }
    journalWatch.checkQuota()
    let begin = { [unowned self] in
      if settings.durability != nil {
        journal.start()
        disk?.start()
        for feature in features { feature.begin() }
      }
      isActive = true
      restoreBindings(rights[.owner], bindings, liveBindings) { log.write(.warning, $0) }
      guard let files else { return }
      for fault in loadBindings(rights[.owner], liveBindings, files).faults {
        log.write(.warning, "\(fault)")
      }
    }
    for warning in reload.warnings(settings.configuration) { log.write(.warning, "\(warning)") }
    if case .active = store.role { begin() }
    if store.isShared { logRole(store.role, log) }
    store.roles.observeNext { [unowned self] role in
      logRole(role, log)
      if case .active = role, !isActive { begin() }
    }
    .dispose(in: bag)
    // Requests that waited for the disk run at the end of a turn; submit their writes at once.
    loop.onTurnEnd { [unowned store] in store.submit() }
  }

  /// Takes back the clients that an earlier daemon has left with the service manager.
  func restoreClients() throws {
    try returning.restore(table, server, host, programs)
  }

  /// Whether what runs once in a cluster runs here: bindings, feeds, leases, retention.
  private var isActive = false

  /// Joins the daemons that share the journal, and waits until it is clear which one is active.
  func join(_ manager: ServiceManager) throws {
    var fault: JournalError?
    let failure = host.failed.observeNext { fault = $0 }
    defer { failure.dispose() }
    store.contend()
    let tick = try EventLoop.Timer(on: loop) {
      manager.notify("EXTEND_TIMEOUT_USEC=10000000", "STATUS=joining the cluster")
    }
    tick.start(afterMilliseconds: 1_000, everyMilliseconds: 1_000)
    defer { tick.close() }
    while store.role == .joining, fault == nil { loop.runOnce() }
    if let fault { throw fault }
    if case .over(let reason) = store.role { throw JournalError.unavailable(detail: reason) }
  }

  /// Leaves the cluster, so that another daemon takes over at once if this one is active; waits for
  /// the database, but not long.
  func resign() {
    guard store.isShared, !store.isInterrupted else { return }
    store.resign()
    let deadline = loop.milliseconds + Self.resignMilliseconds
    // The store's signs of life end each turn within a second.
    while store.role.takesPart, loop.milliseconds < deadline { loop.runOnce() }
  }

  private static let resignMilliseconds: UInt64 = 1_000

  /// Connects the commands of clients to the messages between the daemons.
  private func forwardCommands() {
    guard let mail = store.mail, let forwarding else { return }
    mail.received.observeNext { forwarding.receive($0.message, from: $0.address) }.dispose(in: bag)
    mail.lost.observeNext { [unowned self] in
      forwarding.messagesWereLost(toldTo: host.isActive ? aliveNodes : [])
    }
    .dispose(in: bag)
    mail.changed.observeNext { [unowned self] in
      forwarding.change(
        isActive: host.isActive, active: mail.active,
        addresses: store.isInterrupted ? nil : aliveNodes)
    }
    .dispose(in: bag)
    host.progress.observeNext { forwarding.advance(to: $0) }.dispose(in: bag)
  }

  /// The addresses of the daemons that live.
  private var aliveNodes: Set<String> { Set(store.nodes.filter(\.isAlive).map(\.boot)) }

  private func logRole(_ role: StoreRole, _ log: Log) {
    switch role {
    case .active(let term): log.write(.notice, "this daemon is the active one, in term \(term)")
    case .following(let node):
      log.write(.notice, "this daemon follows \(node.map { "'\($0.name)'" } ?? "nobody yet")")
    case .joining, .over: break
    }
  }

  /// Ends the threads and runs their remaining callbacks; for a failed start.
  func abandon() {
    server.stopListening()
    endBindings()
    if table.context.handover != nil { table.leaveAll() }
    stopServices()
    closeServices()
    refusals.finish()
    store.close()
    managerQueue?.finish()
    loop.run()
  }

  /// Ends the bindings in memory, with their timers.
  func endBindings() { liveBindings.end() }

  /// Begins no more work of the daemon itself, and cancels what waits for others.
  func stopServices() {
    journal.stop()
    disk?.stop()
    for feature in features { feature.stop() }
  }

  /// Ends the threads that requests wait for.
  func closeServices() {
    for feature in features { feature.close() }
  }

  /// For each service with values written by clients, the way to remove them.
  var removers: [Remover] { features.flatMap(\.removers) }

  private func replay(_ settings: Settings, _ log: Log, _ manager: ServiceManager) throws {
    var notified: UInt64 = 0
    let report = { [store] (seq: UInt64) in
      notified = seq
      manager.notify("EXTEND_TIMEOUT_USEC=30000000", "STATUS=replaying \(seq)/\(store.last)")
    }
    do {
      report(0)
      defer { for warning in host.startWarnings { log.write(.warning, warning) } }
      try host.start { seq in if seq - notified >= 100_000 { report(seq) } }
    } catch {
      guard settings.durability == nil else { throw error }
      log.write(.error, "\(error); serving only the events before it")
    }
  }
}
