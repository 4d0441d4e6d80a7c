internal import CSupport
internal import Glibc

/// The service manager that started this process.
///
/// It uses the protocols of `sd_notify(3)` and `sd_listen_fds(3)`. They are stable, so no library
/// is needed.
package struct ServiceManager {
  private let socket: String?

  /// The watchdog interval in milliseconds; `nil` if the manager does not ask for keep-alives.
  package let watchdogMilliseconds: UInt64?

  /// The first descriptor that the manager passed; `nil` if there is none.
  ///
  /// It was not checked yet and may not be a listening socket.
  package let listener: CInt?

  /// An invalid value of `LISTEN_FDS`; the daemon must not start with it.
  ///
  /// `nil` if it is valid.
  package let badListenerCount: String?

  /// The number of additional descriptors.
  ///
  /// They were closed, so that no client waits there forever.
  package let surplusListeners: Int

  /// Whether standard error goes to the systemd journal, where `<N>` marks the priority of a line.
  package let isLoggedByJournal: Bool

  /// A limit above the number of descriptors that a manager passes.
  private static let maxListeners: UInt32 = 4_096

  /// Reads the environment, and removes the variables that child processes must not inherit.
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

  /// Sends states such as `"READY=1"` to the manager; does nothing if there is none.
  package func notify(_ states: String...) {
    guard let socket else { return }
    let text = states.joined(separator: "\n") + "\n"
    // Ignore errors: if the manager does not listen, there is nobody to report them to.
    _ = cposix_send_datagram(socket, text, text.utf8.count)
  }

  /// Microseconds of the monotonic clock, for `RELOADING=1`.
  package static var monotonicMicroseconds: UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1000
  }

  private static func environment(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
  }
}
