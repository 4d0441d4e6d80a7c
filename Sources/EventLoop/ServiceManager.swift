internal import CSupport
internal import Glibc

/// The service manager that started this process.
///
/// It uses the protocols of `sd_notify(3)` and `sd_listen_fds(3)`. They are stable, so no library
/// is needed.
package struct ServiceManager {
  /// The messages to the manager; `nil` if there is none.
  package let queue: ManagerQueue?

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

  /// The descriptors that an earlier process has stored with ``ManagerQueue/store(_:as:)``, by name.
  ///
  /// The manager passes them at each start until they are removed.
  package let stored: [String: CInt]

  /// The most descriptors that the manager stores; 0 if it stores none.
  ///
  /// It is `$FDSTORE`, which systemd sets since version 254, and the unit for older versions.
  package let storeSize: Int

  /// Whether standard error goes to the systemd journal, where `<N>` marks the priority of a line.
  package let isLoggedByJournal: Bool

  /// A limit above the number of descriptors that a manager passes.
  private static let maxDescriptors: UInt32 = 1 << 20

  /// Reads the environment, and removes the variables that child processes must not inherit.
  package init() {
    let pid = String(getpid())
    queue = Self.environment("NOTIFY_SOCKET").map { ManagerQueue(to: $0) }
    let isWatched = Self.environment("WATCHDOG_PID").map { $0 == pid } ?? true
    let usec = Self.environment("WATCHDOG_USEC").flatMap { UInt64($0) }
    watchdogMilliseconds = isWatched ? usec.map { max(1, $0 / 1000) } : nil
    let count = Self.environment("LISTEN_PID") == pid ? Self.environment("LISTEN_FDS") : nil
    let isGood = count.flatMap { UInt32($0) }.map { $0 <= Self.maxDescriptors } ?? false
    badListenerCount = isGood ? nil : count
    let passed = Passed(
      isGood ? count.flatMap { Int($0) } ?? 0 : 0, names: Self.environment("LISTEN_FDNAMES") ?? "")
    (listener, surplusListeners, stored) = (passed.listener, passed.closed, passed.stored)
    storeSize = queue == nil ? 0 : Self.environment("FDSTORE").flatMap { Int($0) } ?? 0
    var identity = [CChar](repeating: 0, count: 64)
    let isKnown = cposix_identity(STDERR_FILENO, &identity, identity.count) == 0
    let stream = Self.environment("JOURNAL_STREAM")
    isLoggedByJournal =
      isKnown
      && stream == String(decoding: identity.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
    for name in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES", "NOTIFY_SOCKET", "FDSTORE"] {
      unsetenv(name)
    }
  }

  /// The descriptors that the manager has passed, from number 3 on.
  private struct Passed {
    private(set) var listener: CInt?
    private(set) var closed = 0
    private(set) var stored: [String: CInt] = [:]

    init(_ count: Int, names: String) {
      let names = names.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
      for i in 0..<count {
        let descriptor = CInt(3 + i)
        if i < names.count, names[i].hasPrefix(ManagerQueue.storedPrefix) {
          // Child processes must not inherit it.
          _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
          let former = stored.updateValue(
            descriptor, forKey: String(names[i].dropFirst(ManagerQueue.storedPrefix.count)))
          if let former { close(former) }
        } else if listener == nil {
          listener = descriptor
        } else if close(descriptor) == 0 {
          closed += 1
        }
      }
    }
  }

  /// Sends states such as `"READY=1"` to the manager, in order and after what was sent before; does
  /// nothing if there is none.
  package func notify(_ states: String...) {
    queue?.notify(states.joined(separator: "\n") + "\n")
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
