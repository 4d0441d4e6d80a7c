import Glibc
import TestSupport

/// Disturbed system calls of a daemon, by strace.
enum Disturbance {
  /// Returns a wrapper that disturbs the system calls of a daemon.
  ///
  /// The test `needs("strace")`.
  ///
  /// - Parameter injections: As in `strace -e inject=…`.
  /// - Parameter path: The file whose calls are disturbed; `nil` for all.
  static func wrapper(_ injections: String..., onlyOn path: String? = nil) -> [String] {
    let calls = injections.map { $0.prefix { $0 != ":" } }.joined(separator: ",")
    // -D: the daemon stays our child. The leak sanitizer does not work under a tracer.
    return [
      "env", "ASAN_OPTIONS=detect_leaks=0", "strace", "-D", "-f", "-qq", "-o", "/dev/null",
      "-e", "trace=\(calls)",
    ] + (path.map { ["-P", $0] } ?? []) + injections.flatMap { ["-e", "inject=\($0)"] }
  }

  /// Returns a wrapper that simulates a disk with slow flushes.
  static func slowDisk(milliseconds: Int) -> [String] {
    wrapper("fdatasync:delay_enter=\(milliseconds * 1000)")
  }
}
