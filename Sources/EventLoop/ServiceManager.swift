internal import CPosix
internal import Glibc

/// The service manager that has started this process, by the protocol of `sd_notify(3)` and
/// `sd_listen_fds(3)`: a stable interface, so no library is needed for it.
package struct ServiceManager {
  private let socket: String?

  /// Milliseconds within which the manager wants to hear of a process that lives; `nil` when it does
  /// not ask.
  package let watchdogMilliseconds: UInt64?

  /// The socket that the manager has bound for this process, the first if there are several; it is
  /// not known yet whether it is one.
  package let listener: CInt?

  /// A number of descriptors that is none; the daemon must not start with it.
  package let badListenerCount: String?

  /// How many more there were: they are closed, so that nobody waits for an answer there.
  package let surplusListeners: Int

  /// Whether standard error goes to the journal, where `<N>` before a line is its priority.
  package let isLoggedByJournal: Bool

  /// More descriptors than any manager hands over.
  private static let maxListeners: UInt32 = 4_096

  /// Reads the environment, and takes out of it what is not for children.
  package init() {
    let pid = String(getpid())
    socket = Self.environment("NOTIFY_SOCKET")
    let isWatched = Self.environment("WATCHDOG_PID").map { $0 == pid } ?? true
    let usec = Self.environment("WATCHDOG_USEC").flatMap { UInt64($0) }
    watchdogMilliseconds = isWatched ? usec.map { max(1, $0 / 1000) } : nil
    let count = Self.environment("LISTEN_PID") == pid ? Self.environment("LISTEN_FDS") : nil
    let isGood = count.flatMap { UInt32($0) }.map { $0 <= Self.maxListeners } ?? false
    badListenerCount = isGood ? nil : count
    if let count = isGood ? count.flatMap({ CInt($0) }) : nil, count > 0 {
      listener = 3
      surplusListeners = Int(cposix_close_from(4, count - 1))
    } else {
      (listener, surplusListeners) = (nil, 0)
    }
    var identity = [CChar](repeating: 0, count: 64)
    let isKnown = cposix_identity(STDERR_FILENO, &identity, identity.count) == 0
    let stream = Self.environment("JOURNAL_STREAM")
    isLoggedByJournal =
      isKnown
      && stream == String(decoding: identity.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
    for name in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES", "NOTIFY_SOCKET"] { unsetenv(name) }
  }

  /// Tells the manager a state, for example `"READY=1"`; does nothing without one.
  package func notify(_ states: String...) {
    guard let socket else { return }
    let text = states.joined(separator: "\n") + "\n"
    // A manager that does not listen is told nothing; there is nobody to tell of that either.
    _ = cposix_send_datagram(socket, text, text.utf8.count)
  }

  /// Microseconds of the clock by which `RELOADING=1` is told.
  package static var monotonicMicroseconds: UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1000
  }

  private static func environment(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
  }
}
