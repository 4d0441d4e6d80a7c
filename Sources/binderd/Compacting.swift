import EventLoop
import EventSourcing
import Facts
import Glibc
import Signals

/// Removes events that retention does not keep, from a journal that no daemon has open.
///
/// - Returns: The exit code.
func compactJournal(_ options: Options, _ log: Log, _ manager: ServiceManager) throws -> CInt {
  let settings = try Settings(reading: options)
  if case .file(let path) = try settings.journal { try JournalFile(path: path).checkKind() }
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
