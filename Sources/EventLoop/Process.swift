internal import CPosix
internal import Glibc

/// Settings of this process as a whole.
package enum Process {
  /// Lets the C library give memory back to the system, ignores the signals that would end the
  /// process where a call can fail instead, allows as many descriptors as may be, and keeps the
  /// files that are made to this user.
  ///
  /// - Returns: How many descriptors there may be.
  package static func prepare() -> Int {
    cposix_keep_heap_small()
    umask(0o077)
    // A parent may have blocked signals, and the block is inherited.
    var none = sigset_t()
    sigemptyset(&none)
    sigprocmask(SIG_SETMASK, &none, nil)
    signal(SIGPIPE, SIG_IGN)
    signal(SIGXFSZ, SIG_IGN)
    // Until somebody listens to it: to read the configuration again is no reason to end.
    signal(SIGHUP, SIG_IGN)
    return Int(max(0, cposix_raise_descriptor_limit()))
  }

  /// The user that this process runs as.
  package static var user: UInt32 { geteuid() }

  /// The name of a user; `nil` when the system knows none.
  package static func name(ofUser user: UInt32) -> String? {
    var entry = passwd()
    var found: UnsafeMutablePointer<passwd>?
    var text = [CChar](repeating: 0, count: 16 << 10)
    guard getpwuid_r(user, &entry, &text, text.count, &found) == 0, found != nil else { return nil }
    return String(cString: entry.pw_name)
  }

  package static var id: Int32 { getpid() }

  /// Milliseconds of a monotonic clock, now.
  package static var milliseconds: UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1000 + UInt64(time.tv_nsec) / 1_000_000
  }

  /// Microseconds since 1970.
  package static var now: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
  }
}
