import API
import Adapters
import Configuration
import Connections
import EventLoop
import EventSourcing
import Features
import Journal
import LuaScripts
import Model
import Signals
import Wire

/// The composition root: creates all parts of the daemon and connects them.
final class Daemon {
  private let engine: Engine
  private let services: DaemonServices
  private let access: DaemonAccess
  let server: SocketServer

  /// Reloads the configuration.
  let reload: Reload

  /// Commands between the daemons of a shared journal; `nil` in a journal for one daemon.
  private let forwarding: Forwarding?

  /// Lets clients survive a restart.
  private let returning: ReturningClients

  /// The messages to the service manager; `nil` if there is none.
  private let managerQueue: ManagerQueue?
  private let bag = DisposeBag()

  init(
    _ settings: Settings, _ file: ConfigurationFile, _ log: Log, _ manager: ServiceManager,
    scripts: ScriptFiles = ScriptFiles(in: Lua())
  ) throws {
    let configuration = settings.configuration
    let engine = try Engine(settings, log, manager)
    let services = try DaemonServices(
      of: settings.options.program, engine, configuration, scripts, log)
    let access = DaemonAccess(engine, configuration, log)
    (self.engine, self.services, self.access) = (engine, services, access)
    engine.configure(configuration)
    services.configure(configuration)
    let warnings = { (configuration: Configuration) in
      access.warnings(of: configuration, socket: settings.socketPath, file: file.path ?? "")
    }
    reload = Reload(
      file, settings, log, manager, warnings: warnings,
      checkViews: { files in
        let changing = services.scripts?.changing(in: files.scripts) ?? []
        var checked = files.views.check(for: access.rights[.owner], changing: changing)
        checked.warnings += services.misfits(with: files.types, access)
        guard let scripts = services.scripts?.check(files.scripts) else { return checked }
        return (checked.faults + scripts.faults, checked.warnings + scripts.warnings)
      },
      changes: { files in
        let isActive = if case .active = engine.store.role { true } else { false }
        return services.changes(with: files, isActive: isActive)
          + (access.catalog.hasOtherViews(than: files.views) ? ["views"] : [])
      }
    ) { configuration, files in
      access.change(to: configuration, in: engine)
      engine.configure(configuration)
      services.configure(configuration)
      let isActive = if case .active = engine.store.role { true } else { false }
      // First the services, whose sources and methods the views and bindings have.
      let scripts =
        isActive
        ? services.scripts?.use(files.scripts) ?? (hasChanged: false, warnings: [])
        : (hasChanged: false, warnings: [])
      // What a service has after its past is folded is not known yet.
      let changing = services.scripts?.changing(in: files.scripts) ?? []
      let faults = files.views.check(for: access.rights[.owner], changing: changing).faults
      let good = files.views.without(files: Set(faults.map(\.file)))
      var views = access.catalog.useFileViews(good, in: engine.table) ? ["views"] : []
      // Before the bindings, which must fit.
      if services.use(files.types) { views.insert("types", at: 0) }
      let leftOut = faults.map(\.withViewLeftOut)
      guard isActive else { return (views, leftOut) }
      let (hasBound, unbound) = services.reloadBindings(files.bindings, access)
      let changed = (hasBound ? ["bindings"] : []) + (scripts.hasChanged ? ["services"] : [])
      return (changed + views, scripts.warnings + leftOut + unbound)
    }
    forwarding = engine.store.mail.map { mail in
      Forwarding(
        in: engine.table, on: engine.scheduler,
        patienceMilliseconds: UInt64(configuration.cluster.patienceMilliseconds),
        bind: access.control.bind
      ) { [unowned mail] in mail.send($0, to: $1) }
    }
    services.leases?.will = { calls, owner throws(WireError) in
      try makeWill(of: calls, owner, access.control, access.rights, engine.table)
    }
    // Not in a cluster: a daemon that begins again would not get its clients from the manager.
    let descriptorStore =
      manager.storeSize > 0 && !engine.store.isShared ? manager.queue : nil
    returning = ReturningClients(manager, descriptorStore, log)
    server = SocketServer(
      engine.table, on: engine.loop, log: log, store: descriptorStore,
      admits: access.control.admits, onConnection: access.control.bind)
    managerQueue = manager.queue
    engine.table.context.sendTogether(with: SendBatch())
    fillCatalog(log)
    services.scripts?.onChange = { [unowned self] in offerScripts() }
    precondition(
      settings.options.program.keptItems.allSatisfy(access.catalog.restores),
      "a part of connections is not restored")
    try managerQueue?.start(on: engine.loop)
  }

  /// Lets all parts offer what clients can use.
  private func fillCatalog(_ log: Log) {
    let (engine, control, reload) = (engine, access.control, reload)
    let metrics = DaemonMetrics(engine.table, engine.host, engine.store, log, forwarding)
    metrics.users = { engine.measures.users }
    metrics.readers = { [readers = services.readers] in readers.figures }
    let administration = Administration(
      reload: reload.run(isCheck:), decide: control.decision(on:by:), file: { reload.path },
      clock: engine.clockControl)
    access.catalog.fill { catalog in
      services.bind(catalog, engine)
      bindMetrics(catalog) { metrics.now(callsOf: catalog) }
      if let forwarding { catalog.forward(by: forwarding) }
      bindAdministration(catalog, to: administration)
      bindActAs(catalog, to: engine.table, admit: control.admit(_:by:))
      bindKick(catalog, to: engine.table) { conn, client, caller in
        log.write(
          .notice,
          "uid \(caller.uid) pid \(caller.pid) ended connection \(conn) of uid \(client.uid)"
            + " pid \(client.pid)")
      }
    }
  }

  /// Offers the services in files, which come and go while the daemon runs.
  private func offerScripts() {
    guard let scripts = services.scripts else { return }
    access.catalog.refill(scripts)
    access.control.renew(for: table.connections.values)
  }

  deinit { access.end() }

  var loop: Loop { engine.loop }
  var store: any DaemonStore { engine.store }
  var host: ServiceHost { engine.host }
  var table: ConnectionTable { engine.table }
  var journal: JournalService { services.journal }
  var refusals: RefusalLog { access.refusals }

  /// Replays the journal into the services and connects the clients to the services.
  ///
  /// - Parameter files: The bindings and views of files; `nil` leaves what the journal knows of
  ///   bindings as it is.
  /// - Throws: ``JournalError`` when an event cannot be read and the journal may be written.
  func start(
    _ settings: Settings, _ files: DeclaredFiles?, _ log: Log, _ manager: ServiceManager
  ) throws {
    try replay(settings, log, manager)
    try checkClock(settings.options.clock)
    services.scripts?.checkStart()
    offerScripts()
    services.startTypes(files?.types ?? TypeFiles())
    if let files { startViews(files.views, log) }
    bindTable(table, to: access.catalog, bag: bag)
    forwardCommands()
    if settings.durability != nil { try join(manager) }
    engine.watch.checkQuota()
    let begin = { [unowned self] in
      if settings.durability != nil {
        journal.start()
        engine.disk?.start()
        for feature in services.features { feature.begin() }
      }
      isActive = true
      services.startBindings(files?.bindings, access, log)
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

  /// - Throws: ``JournalError`` if the clock was set before the last event: new ones would get its time.
  private func checkClock(_ setting: DaemonClock.Setting?) throws(JournalError) {
    guard let start = setting?.start, let last = host.lastTime, start < last else { return }
    throw .unavailable(
      detail: "the last event has the time \(Timestamp(microseconds: last).text): --clock takes a "
        + "later one")
  }

  /// Offers the views of files; those with faults are left out.
  private func startViews(_ views: FileViews, _ log: Log) {
    let (faults, warnings) = views.check(for: access.rights[.owner])
    for fault in faults { log.write(.error, "\(fault.withViewLeftOut)") }
    for warning in warnings { log.write(.warning, "\(warning)") }
    let files = Set(faults.map(\.file))
    _ = access.catalog.useFileViews(views.without(files: files), in: table)
  }

  /// Takes back the clients that an earlier daemon has left with the service manager.
  func restoreClients() throws {
    try returning.restore(table, server, host, services.programs)
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

  func endBindings() { services.endBindings() }

  /// Begins no more work of the daemon itself, and cancels what waits for others.
  func stopServices() {
    journal.stop()
    engine.disk?.stop()
    for feature in services.features { feature.stop() }
  }

  /// Ends the threads that requests wait for.
  func closeServices() {
    for feature in services.features { feature.close() }
  }

  /// For each service with values written by clients, the way to remove them.
  var removers: [Remover] { services.features.flatMap(\.removers) }

  /// Replays the journal, to check it.
  func replay() throws(JournalError) {
    try host.start(addLedgers: { services.scripts?.addServices() })
  }

  private func replay(_ settings: Settings, _ log: Log, _ manager: ServiceManager) throws {
    var notified: UInt64 = 0
    let report = { [store = engine.store] (seq: UInt64) in
      notified = seq
      manager.notify("EXTEND_TIMEOUT_USEC=30000000", "STATUS=replaying \(seq)/\(store.last)")
    }
    do {
      report(0)
      defer { for warning in host.startWarnings { log.write(.warning, warning) } }
      try host.start { seq in
        if seq - notified >= 100_000 { report(seq) }
      } addLedgers: {
        services.scripts?.addServices()
      }
    } catch {
      guard settings.durability == nil else { throw error }
      log.write(.error, "\(error); serving only the events before it")
    }
  }
}

extension Engine {
  /// The access of clients to the clock; `nil` if it is that of the machine.
  var clockControl: ClockControl? {
    guard clock.canBeSet, let timers = clockScheduler as? ClockScheduler else { return nil }
    return ClockControl(
      now: { [clock] in clock.now }, speed: { [clock] in clock.speed },
      set: { timers.set($0, speed: $1, ended: $2) })
  }
}
