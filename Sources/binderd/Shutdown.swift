import Connections
import EventLoop
import Glibc
import JournalSQLite
import SearchSQLite
import Server
import Services

/// Ends the daemon in order: no new clients, no new requests, answers, `closing`, a snapshot, the
/// journal.
///
/// The disk gets the time that it needs, clients that do not take their answers a short one. After
/// a second signal clients are not waited for any more; a third ends the process at once. Signals that
/// come within a second of one that was counted are not counted.
final class Shutdown {
  /// For how long answers wait for clients to take them.
  private static let graceMilliseconds: UInt64 = 2_000

  /// How often the service manager is asked for more time.
  private static let extensionMilliseconds: UInt64 = 1_000

  /// Within how many milliseconds signals are taken for one: whoever stops a group of processes, or
  /// runs two commands that do, means one end.
  private static let signalMilliseconds: UInt64 = 1_000

  private let daemon: Daemon
  private let manager: ServiceManager
  private var signals = 0
  private var lastSignal: UInt64 = 0

  init(_ daemon: Daemon, _ manager: ServiceManager) {
    self.daemon = daemon
    self.manager = manager
  }

  /// Takes a signal to end.
  func request() {
    let now = daemon.loop.milliseconds
    guard signals == 0 || now - lastSignal >= Self.signalMilliseconds else { return }
    signals += 1
    lastSignal = now
    guard signals == 1 else {
      if signals > 2 { exit(EXIT_FAILURE) }
      return
    }
    manager.notify("STOPPING=1")
    daemon.loop.stop()
  }

  /// Answers what is in flight, says goodbye and leaves the journal well; after the loop has stopped.
  func finish() {
    daemon.server.stopListening()
    daemon.journal.stop()
    daemon.stopFetching()
    daemon.index.stop()
    daemon.sessions.marks.finish()
    daemon.hub.stopReading()
    var deadline = daemon.loop.milliseconds + Self.graceMilliseconds
    wait { [self] in
      // The time of the disk is not that of the clients.
      if isWriting { deadline = daemon.loop.milliseconds + Self.graceMilliseconds }
      guard !isWriting else { return false }
      guard daemon.hub.hasUnfinished else { return true }
      guard signals > 1 || daemon.loop.milliseconds >= deadline else { return false }
      // What the disk has brought in this turn leaves, and requests that waited for it are run.
      daemon.hub.flush()
      return !isWriting
    }
    daemon.hub.closeAll(.shutdown)
    daemon.stopWorking()
    daemon.refusals.finish()
    if signals < 2, daemon.store.refusal == nil {
      daemon.host.saveSnapshots()
    }
    wait { [self] in !isWriting }
    daemon.store.close()
  }

  /// Whether the disk does not have all yet that it is to have.
  private var isWriting: Bool {
    daemon.store.refusal == nil
      && (daemon.store.durable < daemon.store.last || daemon.store.waitingSnapshots > 0)
  }

  /// Runs the loop until a condition holds; meanwhile the service manager hears that it takes a
  /// while.
  private func wait(until isDone: () -> Bool) {
    guard let tick = try? EventLoop.Timer(on: daemon.loop, onFire: {}) else { return }
    tick.start(afterMilliseconds: 5, everyMilliseconds: 5)
    var told = daemon.loop.milliseconds
    while !isDone() {
      daemon.loop.runOnce()
      guard daemon.loop.milliseconds - told >= Self.extensionMilliseconds else { continue }
      told = daemon.loop.milliseconds
      manager.notify("EXTEND_TIMEOUT_USEC=10000000", "STATUS=waiting for the disk")
    }
    tick.close()
  }
}
