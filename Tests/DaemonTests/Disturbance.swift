import Glibc
import TestSupport

/// What strace does to the system calls of a daemon.
enum Disturbance {
  /// Returns what starts a daemon whose system calls are disturbed.
  ///
  /// The test `needs("strace")`.
  ///
  /// - Parameter injections: As in `strace -e inject=…`.
  /// - Parameter path: Only calls on this file are disturbed; `nil` for all.
  static func wrapper(_ injections: String..., onlyOn path: String? = nil) -> [String] {
    let calls = injections.map { $0.prefix { $0 != ":" } }.joined(separator: ",")
    // -D: the daemon stays our child. The leak sanitizer cannot look into what is traced.
    return [
      "env", "ASAN_OPTIONS=detect_leaks=0", "strace", "-D", "-f", "-qq", "-o", "/dev/null",
      "-e", "trace=\(calls)",
    ] + (path.map { ["-P", $0] } ?? []) + injections.flatMap { ["-e", "inject=\($0)"] }
  }

  /// A disk that takes a while to have what it is given.
  static func slowDisk(milliseconds: Int) -> [String] {
    wrapper("fdatasync:delay_enter=\(milliseconds * 1000)")
  }
}

/// Milliseconds of a monotonic clock.
func milliseconds() -> Int {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
}
