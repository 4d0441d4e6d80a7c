internal import CSupport
internal import Clibuv
internal import Glibc
package import Model

/// Process-wide settings and facts.
package enum Process {
  /// Begins a program: checks what it has inherited from its parent (`cposix_start`).
  ///
  /// - Returns: The words of the command line, without the program name.
  package static func start() -> [String] {
    cposix_start()
    return (1..<max(1, cposix_argument_count())).compactMap { place in
      cposix_argument(place).map { String(cString: $0) }
    }
  }

  /// Lowers the priority of the calling thread, and of threads that it makes.
  package static func lowerPriority() { cposix_lower_thread_priority() }

  /// Runs a function on a thread that has only the processor time that nobody else wants, and waits for
  /// it.
  ///
  /// While all processors are in use it gets nearly none, and a thread cannot be raised again.
  package static func runWhenIdle(_ body: () -> Void) {
    withoutActuallyEscaping(body) { body in
      var body = body
      withUnsafeMutablePointer(to: &body) { pointer in
        cposix_run_when_idle(
          { $0?.assumingMemoryBound(to: (() -> Void).self).pointee() }, pointer)
      }
    }
  }

  /// Writes the buffered output of `print` to stdout.
  ///
  /// - Throws: ``OutputFailure`` if stdout is closed or has no room.
  package static func flushOutput() throws(OutputFailure) {
    let status = cposix_flush_output()
    guard status == 0 else { throw OutputFailure(code: -status) }
  }

  /// The path of this program, also without `/proc`.
  package static var program: String { String(cString: cposix_program()) }

  /// The home directory of this user: `$HOME`, otherwise that of the account; `nil` if neither is an
  /// absolute path.
  package static var home: String? {
    if let home = getenv("HOME").map({ String(cString: $0) }), !home.isEmpty {
      return home.hasPrefix("/") ? home : nil
    }
    var entry = passwd()
    var found: UnsafeMutablePointer<passwd>?
    var text = [CChar](repeating: 0, count: 16 << 10)
    guard getpwuid_r(getuid(), &entry, &text, text.count, &found) == 0, found != nil,
      let home = entry.pw_dir.map({ String(cString: $0) }), home.hasPrefix("/")
    else { return nil }
    return home
  }

  /// Prepares the process for running as a daemon.
  ///
  /// Makes the C library return freed memory to the system and sets the umask to 077. Ignores
  /// `SIGPIPE`, `SIGXFSZ` and `SIGHUP`. Raises the limit of open descriptors.
  ///
  /// - Returns: The maximum number of open descriptors.
  package static func prepare() -> Int {
    cposix_keep_heap_small()
    umask(0o077)
    signal(SIGPIPE, SIG_IGN)
    signal(SIGXFSZ, SIG_IGN)
    // Until a handler is installed: a request to reload must not end the process.
    signal(SIGHUP, SIG_IGN)
    return Int(max(0, cposix_raise_descriptor_limit()))
  }

  /// Blocks `SIGTERM`, `SIGINT` and `SIGHUP`, for a process that is about to exit.
  package static func blockSignals() {
    var signals = sigset_t()
    sigemptyset(&signals)
    for signal in [SIGTERM, SIGINT, SIGHUP] { sigaddset(&signals, signal) }
    pthread_sigmask(SIG_BLOCK, &signals, nil)
  }

  /// Delivers the signals of ``blockSignals()`` again.
  package static func allowSignals() {
    var signals = sigset_t()
    sigemptyset(&signals)
    for signal in [SIGTERM, SIGINT, SIGHUP] { sigaddset(&signals, signal) }
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
  }

  /// The most descriptors that this process may have open.
  package static var descriptorLimit: Int {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    return Int(clamping: limit.rlim_cur)
  }

  /// The name of this machine; `nil` if it has none.
  package static var hostName: String? {
    var text = [CChar](repeating: 0, count: 256)
    guard gethostname(&text, text.count - 1) == 0, text[0] != 0 else { return nil }
    return String(
      decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }.prefix(64), as: UTF8.self)
  }

  /// The effective uid of this process.
  package static var user: UInt32 { geteuid() }

  /// This process as the caller of a command.
  package static var peer: Peer { Peer(uid: user, pid: id) }

  /// Returns all groups of a user; empty if the user is unknown.
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

  /// Returns the name of a user; `nil` if the user is unknown.
  package static func name(ofUser user: UInt32) -> String? {
    var entry = passwd()
    var found: UnsafeMutablePointer<passwd>?
    var text = [CChar](repeating: 0, count: 16 << 10)
    guard getpwuid_r(user, &entry, &text, text.count, &found) == 0, found != nil else { return nil }
    return String(cString: entry.pw_name)
  }

  /// Whether this process may create Internet sockets.
  ///
  /// A service manager may forbid them (`RestrictAddressFamilies=`).
  package static var mayUseNetwork: Bool {
    [AF_INET, AF_INET6].contains { family in
      let descriptor = socket(family, CInt(SOCK_STREAM.rawValue) | O_CLOEXEC, 0)
      if descriptor >= 0 { close(descriptor) }
      return descriptor >= 0
    }
  }

  package static var id: Int32 { getpid() }

  /// Milliseconds of the monotonic clock.
  package static var milliseconds: UInt64 { nanoseconds / 1_000_000 }

  /// Nanoseconds of the monotonic clock.
  package static var nanoseconds: UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  /// Blocks the calling thread.
  package static func pause(milliseconds: UInt64) { usleep(useconds_t(milliseconds * 1000)) }

  /// The processor time of this process in nanoseconds.
  package static var cpuNanoseconds: UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  /// Milliseconds since the system booted, including time in suspend.
  package static var bootMilliseconds: UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_BOOTTIME, &time)
    return UInt64(time.tv_sec) * 1000 + UInt64(time.tv_nsec) / 1_000_000
  }

  /// The ID of this boot of the system; `"unknown"` if the kernel does not provide one.
  package static var bootID: String {
    let file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return "unknown" }
    defer { _ = close(file) }
    var bytes = [UInt8](repeating: 0, count: 36)
    let count = max(0, read(file, &bytes, bytes.count))
    return count == 0 ? "unknown" : String(decoding: bytes[..<count], as: UTF8.self)
  }

  /// Whether the kernel reports a synchronized clock; where it may not be asked, whether
  /// systemd-timesyncd has set the clock since the boot.
  package static var isClockSynchronized: Bool { cposix_is_clock_synchronized() == 1 }

  /// Asks a copy-on-write file system to overwrite an empty file in place.
  ///
  /// Otherwise each change needs free space, and on a full disk a process that maps the file would
  /// be killed.
  package static func writeInPlace(_ file: Int32) {
    _ = cposix_write_in_place(file)
  }

  /// Has the disk begin to write the changed pages of a file, once those of the last call are written.
  ///
  /// So there are never many of them, for which another process would wait when it flushes its file.
  package static func beginWriting(_ file: Int32) { cposix_begin_writing(file) }

  /// Releases the memory of the program's code, most of which only a start runs.
  package static func releaseProgram() {
    cposix_release_program()
  }

  /// Microseconds since 1970.
  package static var now: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
  }
}

/// Calls back when the process receives a signal such as `SIGTERM`.
///
/// It does not keep the loop running.
package final class ProcessSignal {
  private var onSignal: (() -> Void)?
  private var handle: Handle<uv_signal_t>?

  /// Starts to listen for a signal.
  ///
  /// - Parameters:
  ///   - number: The signal, for example `SIGTERM`.
  ///   - onSignal: Called on the loop's thread; several signals in a row may cause one call.
  package init(
    _ number: CInt, on loop: Loop, onSignal: @escaping () -> Void
  ) throws(SystemError) {
    self.onSignal = onSignal
    let handle = try Handle<uv_signal_t>("uv_signal_init", owner: self) {
      uv_signal_init(loop.pointer, $0)
    }
    try handle.check("uv_signal_start", uv_signal_start(handle.raw, signalArrived, number))
    handle.unreference()
    self.handle = handle
  }

  package func close() {
    handle?.close()
    handle = nil
    onSignal = nil
  }

  fileprivate func arrived() {
    onSignal?()
  }
}

private func signalArrived(_ signal: UnsafeMutablePointer<uv_signal_t>?, _ number: CInt) {
  owner(of: signal?.pointee.data, as: ProcessSignal.self).arrived()
}
