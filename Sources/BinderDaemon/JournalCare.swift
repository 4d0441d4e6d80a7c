import Adapters
import EventLoop
import EventSourcing
import Features
import Journal
import JournalPostgres
import JournalSQLite
import Model
import Signals
import Wire

extension JournalFigures {
  /// Collects the figures of a journal.
  init(of location: JournalAddress) throws(JournalError) {
    switch location {
    case .file(let path): try self.init(of: path)
    case .postgres(let settings): try self.init(of: settings.journal)
    }
  }

  private init(of journal: PostgresJournal) throws(JournalError) {
    let found = try PostgresFigures(of: journal)
    self.init(
      path: "\(journal.string)", epoch: found.epoch, first: found.first, last: found.last)
    daemon = found.daemon
    (count, streams, types, bytes) = (found.count, found.streams, found.types, found.bytes)
    snapshots = found.snapshots.map {
      Snapshot(seq: $0.seq, services: $0.services, bytes: $0.bytes)
    }
  }

  private init(of path: String) throws(JournalError) {
    let found = try JournalInspection(of: path)
    self.init(path: path, epoch: found.epoch, first: found.first, last: found.last)
    daemon = found.daemon
    count = found.count
    streams = found.streams
    dataBytes = found.dataBytes
    mostWritten = found.mostWritten.map {
      Written(stream: $0.stream, events: $0.events, bytes: $0.bytes)
    }
    types = found.types
    snapshots = found.snapshots.map {
      Snapshot(seq: $0.seq, services: $0.services, bytes: $0.bytes)
    }
    (bytes, freeBytes) = (found.bytes, found.freeBytes)
  }
}

extension DiskWatch {
  /// Creates the watch of the disk of a journal; `nil` if the journal is in a database.
  convenience init?(
    of location: JournalAddress, _ host: ServiceHost, _ store: any DaemonStore,
    on scheduler: any Scheduler
  ) {
    guard case .file(let path) = location else { return nil }
    self.init(host, on: scheduler, reserve: Limits().diskReserve) { [unowned store] in
      Signal { observer in
        store.reading(.prompt) { _ throws(JournalError) in Disk(at: path) }.observe { event in
          switch event {
          case .next(let disk):
            observer.receive(
              disk.map { DiskRoom(available: $0.available, total: $0.total) })
          case .failed: observer.receive(nil)
          case .completed: observer.complete()
          }
        }
      }
    }
  }
}

extension JournalService {
  /// Creates the maintenance service of a daemon's journal.
  ///
  /// - Parameter figures: Collects the figures of the journal, on another thread.
  convenience init(
    of store: any DaemonStore,
    _ figures: @escaping @Sendable () throws(JournalError) -> JournalFigures,
    in host: ServiceHost, on scheduler: any Scheduler, _ log: Log
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
      store.reading(.care) { _ throws(JournalError) in try figures() }
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
    onFilling = { filling in
      log.write(
        .warning,
        """
        the past of \(filling.stream) has \(filling.bytes >> 20) MiB; beyond \(filling.max >> 20) MiB its \
        oldest events are removed; to keep more or less: "retention" in binder.conf
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
