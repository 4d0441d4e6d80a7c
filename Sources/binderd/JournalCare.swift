import EventLoop
import EventSourcing
import Facts
import Features
import Glibc
import Journal
import JournalSQLite
import Signals
import Wire

extension JournalFigures {
  /// Collects the figures of a journal.
  init(of path: String) throws(JournalError) {
    let found = try JournalInspection(of: path)
    self.init(path: path, epoch: found.epoch, first: found.first, last: found.last)
    count = found.count
    streams = found.streams
    types = found.types
    snapshots = found.snapshots.map {
      Snapshot(seq: $0.seq, services: $0.services, bytes: $0.bytes)
    }
    (bytes, freeBytes) = (found.bytes, found.freeBytes)
  }
}

extension JournalService {
  /// Creates the maintenance service of a daemon's journal.
  convenience init(
    of store: SQLiteStore, at path: String, in host: ServiceHost, on scheduler: any Scheduler,
    _ log: Log
  ) {
    let boot = Process.bootID
    self.init(
      in: host, on: scheduler,
      {
        AgeClock.Reading(
          wall: Process.now, milliseconds: Process.bootMilliseconds, boot: boot,
          isSynchronized: Process.isClockSynchronized)
      })
    count = { [unowned store] in
      store.reading(.care) { _ throws(JournalError) in try JournalFigures(of: path) }
    }
    onLeap = { ahead in
      log.write(
        .warning,
        """
        the clock jumped \(ahead / 3_600_000_000) hours ahead; age-based retention is paused; if the time \
        is right: bindctl journal compact --force
        """)
    }
    onFuture = { time, ahead in
      log.write(
        .warning,
        """
        the last event has the time \(Timestamp(microseconds: time).text), \(ahead / 3_600_000_000) hours \
        ahead of the clock; new events get the same time until the clock reaches it; to repair it: \
        binderd --export, correct 'time' in the lines, binderd --import
        """)
    }
    onCompaction = { result in
      switch result {
      case .success(let done):
        log.write(
          .info,
          "removed \(done.removed) events in \(done.steps) steps; the first is \(done.first)")
      case .failure(let fault): log.write(.warning, "cannot remove events: \(fault)")
      }
    }
  }
}

/// Removes events that retention does not keep, from a journal that no daemon has open.
///
/// - Returns: The exit code.
func compact(_ options: Options, _ log: Log, _ manager: ServiceManager) throws -> CInt {
  let settings = try Settings(reading: options)
  try JournalFile(path: settings.journalPath).checkKind()
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
