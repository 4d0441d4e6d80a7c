package import EventLoop

/// Writes down what clients were refused, and not more than a log can bear.
///
/// Each user has some lines in hand, and one more after a while; what is not written is counted in
/// the next line.
package final class RefusalLog {
  /// Lines that a user has in hand.
  private static let burst = 8

  /// Milliseconds after which there is one more.
  private static let interval: UInt64 = 10_000

  /// Users that are told apart; all others share.
  private static let users = 256

  private struct Account {
    var lines = burst
    var since: UInt64
    var dropped = 0
  }

  private let log: Log
  private let now: () -> UInt64
  private var accounts: [UInt32: Account] = [:]

  /// - Parameter now: Milliseconds of a monotonic clock.
  package init(_ log: Log, now: @escaping () -> UInt64) {
    self.log = log
    self.now = now
  }

  package func write(uid: UInt32, pid: Int32, _ what: String) {
    let key = accounts[uid] != nil || accounts.count < Self.users ? uid : UInt32.max
    let now = now()
    var account = accounts[key] ?? Account(since: now)
    let earned = Int((now - account.since) / Self.interval)
    account.lines = min(Self.burst, account.lines + earned)
    account.since += UInt64(earned) * Self.interval
    defer { accounts[key] = account }
    guard account.lines > 0 else {
      account.dropped += 1
      return
    }
    account.lines -= 1
    let before = account.dropped > 0 ? "; \(account.dropped) more were not written" : ""
    account.dropped = 0
    log.write(.warning, "refused uid \(uid) pid \(pid): \(what)\(before)")
  }
}
