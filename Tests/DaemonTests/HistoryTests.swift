import Glibc
import HistoryChecker
import TestSupport
import Testing

/// Row 15 of the faults, and the guarantees for commands and readers across crashes.
///
/// Random histories of 16 clients, each checked against the journal.
struct HistoryTests {
  /// The seeds; `HISTORIES=20` runs more of them, `SEED=n` repeats a failed one.
  static let seeds: [UInt64] = {
    func number(_ name: String) -> UInt64? {
      getenv(name).flatMap { UInt64(String(cString: $0)) }
    }
    return number("SEED").map { [$0] } ?? Array(1...(number("HISTORIES") ?? 2))
  }()

  @Test(arguments: seeds)
  func `15: commands run once and readers see each event once across random kills`(
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

  /// The crowd has readers that fall behind, paced subscriptions, and lists longer than a line.
  @Test(arguments: seeds)
  func `15: clients of a service manager miss nothing and get nothing twice across kills`(
    seed: UInt64
  ) throws {
    let directory = try TemporaryDirectory()
    let daemon = try LoadedDaemon(
      DaemonProcess.executable, in: directory.path, under: ManagedDaemon.manager)
    let crowd = Crowd(of: 16, at: daemon.socket, seed: seed, actionsPerSecond: 500)
    crowd.isSteady = true
    let trial = try Trial(daemon, crowd)
    if let failure = try trial.restarts(20, everyMilliseconds: 200, isKill: { $0 % 5 > 0 }) {
      Issue.record("SEED=\(seed): \(failure)")
      return
    }
    #expect(trial.events > 100)
    // A kill closes clients whose requests are in hand: of these here mostly one or none.
    #expect(crowd.dropped < 20 * 8, "\(crowd.dropped) connections were closed")
    #expect(daemon.end(SIGTERM) == 0)
  }
}
