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

/// The services of a daemon, and the features in which clients can use them.
struct DaemonServices {
  private let standard: StandardFeatures

  /// The services in files; `nil` if the program does not have them.
  let scripts: ScriptsService?
  let journal: JournalService

  /// The features, with their actions at the start and the stop.
  let features: [Feature]

  private let daemon: DaemonService

  var leases: LeasesService? { standard.leases }
  var programs: Programs? { standard.programs }
  var readers: ReaderHolders { standard.readers }

  /// Creates the services and their features.
  init(
    of program: Program, _ engine: Engine, _ configuration: Configuration, _ files: ScriptFiles,
    _ log: Log
  ) throws {
    let (host, scheduler, table) = (engine.host, engine.scheduler, engine.table)
    let (location, measures) = (engine.location, engine.measures)
    standard = StandardFeatures(program.services, in: host, on: scheduler, table.context) {
      Process.nanoseconds
    }
    standard.leases?.onFailure = { lease, reason in
      log.write(.warning, "the will of \(lease) was not run: \(reason)")
    }
    standard.liveBindings?.time = .local(engine.clock)
    standard.liveBindings?.scheduler = engine.clockScheduler
    scripts =
      program.services.contains(.scripts)
      ? ScriptsService(in: host, Lua(), files) : nil
    scripts?.addWork = { [context = table.context] in context.addSteps(for: Process.user, $0) }
    scripts?.onMessage = { text, isError in log.write(isError ? .error : .notice, text) }
    journal = JournalService(
      of: engine.store, { () throws(JournalError) in try JournalFigures(of: location) }, in: host,
      on: scheduler, log)
    journal.boot = Process.bootID
    daemon = DaemonService(
      on: scheduler, stats: { measures.now }, connections: { measures.connections },
      streams: StreamMeter(host) { Process.nanoseconds }, slow: { table.slowLog.shown },
      users: { measures.users })
    var features = standard.features
    if let scripts { features.append(.scripts(scripts)) }
    if program.services.contains(.system) {
      let machine = LinuxProbe()
      features.append(.system(SystemService(machine, on: scheduler), close: machine.close))
    }
    let parts = ProgramParts(
      host: host, loop: engine.loop, scheduler: scheduler, configuration: configuration,
      isOffline: engine.isOffline)
    self.features = features + (try program.features(parts))
  }

  /// Uses a configuration, before the start and after each reload.
  func configure(_ configuration: Configuration) {
    journal.retention = configuration.retention
    for feature in features { feature.configure(configuration) }
  }

  /// Adds what the services offer to the catalogue.
  func bind(_ catalog: Catalog, _ engine: Engine) {
    let measures = engine.measures
    standard.bindEngine(catalog, measures.server) { measures.now }
    for feature in features { feature.bind(catalog) }
    bindDaemon(catalog, to: daemon)
    catalog.offerSource(
      "daemon/journal", "What is done to the journal now, and how far.", journal.progress)
    bindJournal(catalog, to: journal)
    guard let node = engine.location.node else { return }
    let store = engine.store
    let state = PolledValue(every: 1, on: engine.scheduler) { [unowned store] in
      ClusterState(of: node, store)
    }
    bindCluster(catalog, to: state)
  }

  // MARK: Types

  /// Uses the types of files; returns whether they have changed.
  func use(_ files: TypeFiles) -> Bool { standard.types.use(files.types) }

  /// Returns a warning for each value that does not fit the types of the journal or of files.
  func misfits(with files: TypeFiles, _ access: DaemonAccess) -> [ConfigurationFault] {
    standard.types.misfits(with: files.types, for: access.rights[.owner])
  }

  /// Uses the types of the journal, and those of files.
  func startTypes(_ files: TypeFiles) {
    if !use(files) { standard.types.refresh() }
  }

  // MARK: Bindings

  /// Starts the bindings of the journal, and those of files unless they are `nil`.
  func startBindings(_ files: BindFiles?, _ access: DaemonAccess, _ log: Log) {
    guard let bindings = standard.bindings, let liveBindings = standard.liveBindings else { return }
    let rights = access.rights[.owner]
    restoreBindings(rights, bindings, liveBindings) { log.write(.warning, $0) }
    guard let files else { return }
    for fault in loadBindings(rights, liveBindings, files).faults {
      log.write(.warning, "\(fault)")
    }
  }

  /// Ends the bindings in memory, with their timers.
  func endBindings() { standard.liveBindings?.end() }

  /// Returns which of the bindings, services and types of files a reload would change.
  func changes(with files: DeclaredFiles, isActive: Bool) -> [String] {
    var changes: [String] = []
    if isActive, let live = standard.liveBindings, changesBindings(live, files.bindings) {
      changes.append("bindings")
    }
    if isActive, let scripts, scripts.hasOtherTexts(than: files.scripts) {
      changes.append("services")
    }
    if standard.types.differs(from: files.types.types) { changes.append("types") }
    return changes
  }

  /// Starts and ends bindings so that those of files are as the files say.
  ///
  /// - Returns: Whether some have changed, and the faults of those that cannot run.
  func reloadBindings(
    _ files: BindFiles, _ access: DaemonAccess
  ) -> (hasChanged: Bool, faults: [ConfigurationFault]) {
    guard let bindings = standard.bindings, let liveBindings = standard.liveBindings else {
      return (false, [])
    }
    let rights = access.rights[.owner]
    let loaded = loadBindings(rights, liveBindings, files)
    let lost = warnings(of: bindings, for: rights, access.control.role(ofUser:))
    return (loaded.hasChanged, loaded.faults + lost)
  }
}
