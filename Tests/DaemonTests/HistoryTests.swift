import Glibc
import HistoryChecker
import TestSupport
import Testing

/// Row 15 of the faults, and what is promised of commands and readers across crashes: histories of 16
/// clients at random, each held against the journal.
struct HistoryTests {
  /// `HISTORIES=20` makes more of them; a seed that has failed is given as `SEED=n`.
  static let seeds: [UInt64] = {
    func number(_ name: String) -> UInt64? {
      getenv(name).flatMap { UInt64(String(cString: $0)) }
    }
    return number("SEED").map { [$0] } ?? Array(1...(number("HISTORIES") ?? 2))
  }()

  @Test(arguments: seeds)
  func `15: whatever is killed, commands are done once and readers see each event once`(
    seed: UInt64
  ) throws {
    let directory = try TemporaryDirectory()
    let daemon = try LoadedDaemon(DaemonProcess.executable, in: directory.path)
    let crowd = Crowd(of: 16, at: daemon.socket, seed: seed, actionsPerSecond: 500)
    let trial = try Trial(daemon, crowd)
    for end in [
      Trial.End.daemonKilled, .clientsKilled, .allKilled, .daemonEnded, .daemonKilled,
    ] {
      if let failure = try trial.round(milliseconds: 700, end) {
        Issue.record("SEED=\(seed): \(failure)")
        return
      }
    }
    #expect(try trial.isUnchanged().0)
    #expect(trial.events > 100)
    #expect(daemon.end(SIGTERM) == 0)
  }
}
