import Connections
import EventLoop
import Glibc
import JournalSQLite
import Server
import Services

/// Ends the daemon in order: no new clients, no new requests, answers, `closing`, a snapshot, the
/// journal.
///
/// A second signal leaves out what takes time, a third ends the process at once.
final class Shutdown {
  private static let graceMilliseconds: UInt64 = 2_000

  private let daemon: Daemon
  private let manager: ServiceManager
  private var signals = 0
  private var deadline: UInt64 = 0

  init(_ daemon: Daemon, _ manager: ServiceManager) {
    self.daemon = daemon
    self.manager = manager
  }

  /// Takes a signal to end.
  func request() {
    signals += 1
    guard signals == 1 else {
      if signals > 2 { exit(EXIT_FAILURE) }
      deadline = 0
      return
    }
    manager.notify("STOPPING=1")
    daemon.loop.stop()
  }

  /// Answers what is in flight, says goodbye and leaves the journal well; after the loop has stopped.
  func finish() {
    daemon.server.stopListening()
    daemon.hub.stopReading()
    deadline = daemon.loop.milliseconds + Self.graceMilliseconds
    wait { [daemon] in !daemon.hub.hasUnfinished && daemon.store.durable == daemon.store.last }
    daemon.hub.closeAll(.shutdown)
    if signals == 1, daemon.store.refusal == nil {
      daemon.host.saveSnapshots()
    }
    daemon.store.close()
  }

  /// Runs the loop until a condition holds, or the time is over.
  private func wait(until isDone: () -> Bool) {
    guard let tick = try? EventLoop.Timer(on: daemon.loop, onFire: {}) else { return }
    tick.start(afterMilliseconds: 5, everyMilliseconds: 5)
    while !isDone(), daemon.loop.milliseconds < deadline { daemon.loop.runOnce() }
    tick.close()
  }
}
