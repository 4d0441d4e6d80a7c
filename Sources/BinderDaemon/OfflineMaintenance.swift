import API
import EventLoop
import EventSourcing
internal import Features
import Glibc
import Journal
import Model
import Signals

/// Removes the values that match a pattern, from a journal that no daemon has open.
///
/// It also works for a journal whose state is too large for a daemon to start on.
///
/// - Returns: The exit code.
func removeValues(
  _ pattern: Pattern, _ options: Options, _ log: Log, _ manager: ServiceManager
) throws -> CInt {
  let settings = try Settings(reading: options)
  if case .file(let path) = try settings.journal { try JournalFileCheck(path: path).checkKind() }
  let daemon = try Daemon(settings, ConfigurationFile(options), log, manager)
  defer { daemon.abandon() }
  try daemon.host.start()
  try daemon.join(manager)
  let before = daemon.host.stateBytes
  var count = 0
  for remover in daemon.removers {
    for name in remover.names() where pattern.matches(name) {
      _ = try daemon.host.perform(Command(method: remover.method, caller: daemon.host.daemon)) {
        try remover.remove(name)
        return nil
      }
      count += 1
      if daemon.host.isBehind { try reachDisk(daemon) }
    }
  }
  try reachDisk(daemon)
  // So that the next start loads only the remaining values.
  daemon.host.saveSnapshots()
  let freed = max(0, before - daemon.host.stateBytes)
  print("\(count) values removed, \(freed) bytes of state freed; their history is kept")
  return count > 0 ? EXIT_SUCCESS : EXIT_FAILURE
}

/// Waits until all recorded events are durable.
private func reachDisk(_ daemon: Daemon) throws(JournalError) {
  daemon.store.submit()
  while daemon.host.durable < daemon.host.last, daemon.host.refusal == nil {
    daemon.loop.runOnce()
  }
  if let refusal = daemon.host.refusal { throw refusal }
}

/// Removes events that retention does not keep, from a journal that no daemon has open.
///
/// - Returns: The exit code.
func compactJournal(_ options: Options, _ log: Log, _ manager: ServiceManager) throws -> CInt {
  let settings = try Settings(reading: options)
  if case .file(let path) = try settings.journal { try JournalFileCheck(path: path).checkKind() }
  let daemon = try Daemon(settings, ConfigurationFile(options), log, manager)
  defer { daemon.abandon() }
  try daemon.start(settings, nil, log, manager)
  if let before = options.before, before > daemon.host.durable {
    let end = daemon.host.durable
    log.write(.error, "position \(before) is beyond the end of the journal (\(end))")
    return EXIT_FAILURE
  }
  var result: Result<JournalService.Compacted, JournalError>?
  let compaction = daemon.journal.compact(before: options.before, isForced: options.isForced)
  let observation = compaction.observe { event in
    switch event {
    case .next(let compacted): result = .success(compacted)
    case .failed(let fault): result = .failure(fault)
    case .completed: break
    }
  }
  while result == nil { daemon.loop.runOnce() }
  observation.dispose()
  daemon.resign()
  switch result {
  case .success(let done)?:
    print("\(done.removed) events removed in \(done.steps) steps; the first is \(done.first)")
    return EXIT_SUCCESS
  case .failure(let fault)?:
    log.write(.error, "\(fault)")
    return EXIT_FAILURE
  case nil: return EXIT_FAILURE
  }
}
