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

  /// Takes no more signals to end or to read the configuration: for a process that is done and has
  /// only to exit.
  package static func blockSignals() {
    var signals = sigset_t()
    sigemptyset(&signals)
    for signal in [SIGTERM, SIGINT, SIGHUP] { sigaddset(&signals, signal) }
    pthread_sigmask(SIG_BLOCK, &signals, nil)
  }

  /// The user that this process runs as.
  package static var user: UInt32 { geteuid() }

  /// All groups of a user that the system knows; none for a user that it does not know.
  package static func groups(ofUser uid: UInt32) -> [UInt32] {
    var (entry, found) = (passwd(), UnsafeMutablePointer<passwd>?.none)
    var text = [CChar](repeating: 0, count: 16 << 10)
    guard getpwuid_r(uid, &entry, &text, text.count, &found) == 0, found != nil,
      let name = entry.pw_name
    else { return [] }
    var groups = [gid_t](repeating: 0, count: 1 << 16)
    var count = CInt(groups.count)
    guard getgrouplist(name, entry.pw_gid, &groups, &count) >= 0 else { return [entry.pw_gid] }
    return Array(groups.prefix(Int(count)))
  }

  /// The name of a user; `nil` when the system knows none.
  package static func name(ofUser user: UInt32) -> String? {
    var entry = passwd()
    var found: UnsafeMutablePointer<passwd>?
    var text = [CChar](repeating: 0, count: 16 << 10)
    guard getpwuid_r(user, &entry, &text, text.count, &found) == 0, found != nil else { return nil }
    return String(cString: entry.pw_name)
  }

  /// Whether this process may connect to other machines: a service manager may forbid sockets of the
  /// Internet (`RestrictAddressFamilies=`), which then cannot even be made.
  package static var mayUseNetwork: Bool {
    [AF_INET, AF_INET6].contains { family in
      let descriptor = socket(family, CInt(SOCK_STREAM.rawValue) | O_CLOEXEC, 0)
      if descriptor >= 0 { close(descriptor) }
      return descriptor >= 0
    }
  }

  package static var id: Int32 { getpid() }

  /// Milliseconds of a monotonic clock, now.
  package static var milliseconds: UInt64 { nanoseconds / 1_000_000 }

  /// Nanoseconds of a monotonic clock, now.
  package static var nanoseconds: UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  /// Milliseconds since the machine was started, those in which it slept as well.
  package static var bootMilliseconds: UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_BOOTTIME, &time)
    return UInt64(time.tv_sec) * 1000 + UInt64(time.tv_nsec) / 1_000_000
  }

  /// The identity of this start of the machine; `"unknown"` where the kernel does not tell it.
  package static var bootID: String {
    let file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return "unknown" }
    defer { _ = close(file) }
    var bytes = [UInt8](repeating: 0, count: 36)
    let count = max(0, read(file, &bytes, bytes.count))
    return count == 0 ? "unknown" : String(decoding: bytes[..<count], as: UTF8.self)
  }

  /// Whether the kernel says that the clock of the day is kept right; not where it may not be asked.
  package static var isClockSynchronized: Bool { cposix_is_clock_synchronized() == 1 }

  /// How many arguments the process was started with, its name counted: what the C runtime knows.
  package static var argumentCount: Int { Int(cposix_argument_count()) }

  /// Asks the file system to write an empty file in place, where it would else need room for each
  /// change: who maps it into memory would be killed by a change on a full disk.
  package static func writeInPlace(_ file: Int32) {
    _ = cposix_write_in_place(file)
  }

  /// Microseconds since 1970.
  package static var now: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
  }
}
