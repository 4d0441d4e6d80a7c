import Configuration
import Connections
import Console
import EventLoop
import EventSourcing
import Glibc
import Journal
import Model
import Signals
import Wire

/// Runs the daemon until it is stopped.
///
/// A daemon that has lost its part in a cluster begins again, as one that follows.
///
/// - Returns: The exit code.
func runDaemon(_ options: Options, _ log: Log, _ manager: ServiceManager) throws -> CInt {
  while true {
    if let code = try runOnce(options, log, manager) { return code }
    // The shutdown has blocked them.
    Process.allowSignals()
  }
}

/// Creates the daemon and runs it until it is stopped.
///
/// - Returns: The exit code; `nil` if it begins again.
private func runOnce(
  _ options: Options, _ log: Log, _ manager: ServiceManager
) throws -> CInt? {
  let file = ConfigurationFile(options)
  let settings = try Settings(reading: options)
  let files = try DeclaredFiles(settings)
  for warning in settings.configuration.warnings { log.write(.warning, "\(warning)") }
  if case .file(let path) = try settings.journal {
    let journal = JournalFileCheck(path: path)
    try journal.checkKind()
    if settings.durability != nil {
      try journal.makeDirectory()
      try journal.checkDirectory(for: options.program)
    }
  }
  for fault in files.viewFaults { log.write(.error, "\(fault.withViewLeftOut)") }
  for fault in files.scriptFaults {
    log.write(.error, "\(fault); the file is not used, but the text of the journal if it has one")
  }
  let daemon = try Daemon(settings, file, log, manager, scripts: files.scripts)
  if let few = settings.configuration.limits.warning(descriptors: Process.descriptorLimit) {
    log.write(.warning, few)
  }
  let shutdown = Shutdown(daemon, manager)
  var signals: [ProcessSignal] = []
  do {
    try daemon.start(settings, files, log, manager)
    // Before the first client, so that every shutdown from now on is in order.
    signals = try watchSignals(on: daemon, shutdown)
    try daemon.restoreClients()
    try listen(daemon, settings, log, manager)
  } catch {
    for signal in signals { signal.close() }
    daemon.abandon()
    throw error
  }
  defer {
    // Another signal to stop has no effect after the shutdown.
    Process.blockSignals()
    for signal in signals { signal.close() }
    daemon.loop.run()
  }
  return try serve(daemon, shutdown, log, manager, settings.options.program)
}

private func watchSignals(on daemon: Daemon, _ shutdown: Shutdown) throws -> [ProcessSignal] {
  try [
    ProcessSignal(SIGTERM, on: daemon.loop) { shutdown.request() },
    ProcessSignal(SIGINT, on: daemon.loop) { shutdown.request() },
    // The reload has already logged any faults.
    ProcessSignal(SIGHUP, on: daemon.loop) { _ = try? daemon.reload.run() },
  ]
}

/// Uses the socket of the service manager, or creates one.
private func listen(
  _ daemon: Daemon, _ settings: Settings, _ log: Log, _ manager: ServiceManager
) throws {
  if manager.surplusListeners > 0 {
    log.write(
      .warning, "one socket is served; \(manager.surplusListeners) more from the manager are closed"
    )
  }
  if let count = manager.badListenerCount {
    throw SocketListener.PathError.badDescriptorCount(count)
  }
  if let listener = manager.listener {
    // A daemon of a cluster may begin again, and needs it then.
    try daemon.server.listen(on: daemon.store.isShared ? dup(listener) : listener)
  } else {
    let access = settings.configuration.socketAccess(user: Process.user, .system)
    // Users who may connect must be able to reach the socket.
    do throws(SystemError) {
      try makeDirectory(of: settings.socketPath, mode: access.group == nil ? 0o700 : 0o755)
    } catch {
      throw SocketListener.PathError.system(error)
    }
    try daemon.server.listen(
      at: settings.socketPath, mode: access.mode, group: access.group)
  }
}

/// Runs the loop of a started daemon.
private func serve(
  _ daemon: Daemon, _ shutdown: Shutdown, _ log: Log, _ manager: ServiceManager,
  _ program: Program
) throws -> CInt? {
  let loop = daemon.loop
  let watchdog = try EventLoop.Timer(on: loop) { manager.notify("WATCHDOG=1") }
  if let limit = manager.watchdogMilliseconds {
    watchdog.start(afterMilliseconds: 0, everyMilliseconds: max(1, limit / 2))
  }
  var code: CInt? = 0
  let failure = daemon.host.failed.observeNext { fault in
    log.write(.error, "\(fault); exiting to be restarted", .journalFailed)
    code = EX_IOERR
    loop.stop()
  }
  let leave = { (role: StoreRole) in
    guard case .over(let reason) = role else { return }
    log.write(.warning, "this daemon begins again: \(reason)")
    // The clients that the manager has kept can be taken back only once.
    code = manager.stored.isEmpty ? nil : EX_IOERR
    loop.stop()
  }
  let end = daemon.store.roles.observeNext { leave($0) }
  log.write(
    .notice,
    "\(program.name) \(Release.version) serves \(daemon.server.path), journal at \(daemon.host.durable)",
    .started)
  manager.notify("READY=1", "STATUS=serving")
  Process.releaseProgram()
  // It may have lost its part while it started.
  leave(daemon.store.role)
  if code == 0 { loop.run() }
  // The daemon gives its lease back when it stops.
  end.dispose()
  shutdown.finish()
  failure.dispose()
  watchdog.close()
  return code
}
