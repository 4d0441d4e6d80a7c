/// The time by which events grow old: the clock of the day, unless that has jumped.
///
/// A clock that leaps forward by more than a day would make everything old at once, and what is
/// removed does not come back. Such a leap is believed when the kernel says that the clock is kept
/// right, and once after a start of the machine, which may have been off for up to a year. Otherwise
/// events grow old by the time that has passed since the machine was started, asleep or not, until
/// somebody says that the clock is right.
package struct AgeClock {
  /// What is asked of the clocks of the machine.
  package struct Reading {
    /// The clock of the day, in microseconds since 1970.
    let wall: Int64

    /// Milliseconds since the start of the machine, those in which it slept as well.
    let milliseconds: UInt64

    /// The identity of this start of the machine.
    let boot: String

    /// Whether the kernel says that the clock of the day is kept right.
    let isSynchronized: Bool

    package init(wall: Int64, milliseconds: UInt64, boot: String, isSynchronized: Bool) {
      (self.wall, self.milliseconds) = (wall, milliseconds)
      (self.boot, self.isSynchronized) = (boot, isSynchronized)
    }
  }

  /// A day in microseconds: leaps up to here are believed.
  static let maxLeap: Int64 = 86_400_000_000

  /// A year: for so long a machine may have been off.
  static let maxAbsence: Int64 = 366 * maxLeap

  /// Microseconds since 1970.
  package private(set) var time: Int64
  private var milliseconds: UInt64
  private let boot: String

  /// Whether the machine may have been off since ``time``, and its clock has not been right since.
  private var wasOff: Bool

  /// - Parameters:
  ///   - kept: What ``kept`` was last; `nil` before the first time.
  ///   - lastTime: The time of the last event, to begin with; `nil` when there is none.
  package init(kept: String?, lastTime: Int64?, _ now: Reading) {
    let parts = kept?.split(separator: " ") ?? []
    time = parts.first.flatMap { Int64($0) } ?? lastTime ?? now.wall
    (milliseconds, boot) = (now.milliseconds, now.boot)
    wasOff = parts.count < 3 || parts[2] != now.boot
    // While the machine runs no time is lost, whether the daemon does or not.
    if !wasOff, let before = UInt64(parts[1]), before < milliseconds { milliseconds = before }
  }

  /// What is kept of it for the next start.
  package var kept: String { "\(time) \(milliseconds) \(boot)" }

  /// Goes on to now.
  ///
  /// - Returns: By how many microseconds the clock of the day is ahead of what is believed; 0 when it
  ///   is believed.
  package mutating func advance(to now: Reading) -> Int64 {
    time += Int64(clamping: max(now.milliseconds, milliseconds) - milliseconds) * 1000
    milliseconds = max(now.milliseconds, milliseconds)
    let ahead = now.wall - time
    let isPlausible = wasOff && ahead <= Self.maxAbsence
    guard ahead <= Self.maxLeap || now.isSynchronized || isPlausible else { return ahead }
    if ahead >= 0 { wasOff = false }
    time = max(time, now.wall)
    return 0
  }

  /// Believes the clock of the day.
  package mutating func believe(_ now: Reading) {
    time = max(time, now.wall)
    wasOff = false
  }
}
