import Connections
import EventLoop
import EventSourcing
import Features
import Glibc
import Journal

/// Shuts the daemon down in order.
///
/// The order is: no new clients, no new requests, pending replies, the end of the bindings, `closing`,
/// a snapshot, the journal. The disk gets all the time that it needs; clients that do not read their replies get a
/// short time. A second signal ends the wait for clients, a third ends the process. A signal within
/// a second of a counted one is ignored.
final class Shutdown {
  /// The time for which replies wait for slow clients, in milliseconds.
  private static let graceMilliseconds: UInt64 = 2_000

  /// The interval of requests to the service manager for more time, in milliseconds.
  private static let extensionMilliseconds: UInt64 = 1_000

  /// The time within which several signals count as one, in milliseconds.
  ///
  /// Stopping a process group, or with two commands, may send several signals for one shutdown.
  private static let signalMilliseconds: UInt64 = 1_000

  private let daemon: Daemon
  private let manager: ServiceManager
  private var signals = 0
  private var lastSignal: UInt64 = 0

  init(_ daemon: Daemon, _ manager: ServiceManager) {
    self.daemon = daemon
    self.manager = manager
  }

  /// Handles a signal to stop.
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

  /// Finishes requests in progress, closes connections and the journal; called after the loop
  /// stopped.
  func finish() {
    // A daemon that became the active one now would start again what the next lines stop.
    daemon.store.stopContending()
    daemon.server.stopListening()
    daemon.stopServices()
    daemon.table.stopReading()
    var deadline = daemon.loop.milliseconds + Self.graceMilliseconds
    wait { [self] in
      // Time spent waiting for the disk does not count against the clients.
      if isWriting { deadline = daemon.loop.milliseconds + Self.graceMilliseconds }
      guard !isWriting else { return false }
      guard daemon.table.hasUnfinished else {
        // Send what became durable at the end of this turn.
        daemon.table.flush()
        return !isWriting && !daemon.table.hasUnfinished
      }
      guard signals > 1 || daemon.loop.milliseconds >= deadline else { return false }
      // Send the replies that the disk released in this turn, and run requests that waited for it.
      daemon.table.flush()
      return !isWriting
    }
    // Nothing that a binding writes from here on would reach the clients.
    daemon.endBindings()
    daemon.table.leaveAll()
    daemon.closeServices()
    daemon.refusals.finish()
    if signals < 2, daemon.store.refusal == nil {
      daemon.host.saveSnapshots()
    }
    wait { [self] in !isWriting }
    daemon.resign()
    daemon.store.close()
    manager.queue?.finish()
  }

  /// Whether the disk has not received all events and snapshots yet.
  private var isWriting: Bool {
    daemon.store.refusal == nil
      && (daemon.store.durable < daemon.store.last || daemon.store.waitingSnapshots > 0)
  }

  /// Runs the loop until a condition holds, and asks the service manager for more time meanwhile.
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

/// Returns the shell command that stops a daemon.
///
/// For a service it also stops the socket, because the next client would start the service again.
func stopCommand(for pid: Int32) -> String {
  // Only a process started by systemd itself is its service; a child of a shell within one is not.
  guard let parent = parent(of: pid), lines(of: "/proc/\(parent)/comm").first == "systemd",
    let group = lines(of: "/proc/\(pid)/cgroup").last?.split(separator: ":").last,
    let unit = group.split(separator: "/").last, unit.hasSuffix(".service")
  else { return "kill \(pid)" }
  let manager = group.contains("/user@") ? "systemctl --user" : "systemctl"
  return "\(manager) stop \(unit.dropLast("service".count))socket \(unit)"
}

/// Returns field 4 of `/proc/PID/stat`, after the program name, which may contain any character.
private func parent(of pid: Int32) -> Int32? {
  guard let line = lines(of: "/proc/\(pid)/stat").first, let name = line.lastIndex(of: ")") else {
    return nil
  }
  let fields = line[name...].split(separator: " ")
  return fields.count > 2 ? Int32(fields[2]) : nil
}

private func lines(of path: String) -> [Substring] {
  let file = open(path, O_RDONLY | O_CLOEXEC)
  guard file >= 0 else { return [] }
  defer { close(file) }
  var bytes = [UInt8](repeating: 0, count: 4096)
  let count = max(0, read(file, &bytes, bytes.count))
  return String(decoding: bytes[..<count], as: UTF8.self).split(separator: "\n")
}
