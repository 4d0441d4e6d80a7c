/// The time for the age of events: the wall clock, unless it has jumped ahead.
///
/// If the wall clock jumps ahead by more than a day, all events would expire at once, and removed
/// events cannot be restored. The jump is accepted if the kernel reports a synchronized clock.
/// After a boot, one jump of up to a year is also accepted, because the machine may have been
/// off. Otherwise events age by the time since boot, including sleep, until ``believe(_:)`` is
/// called.
package struct AgeClock {
  /// A reading of the machine's clocks.
  package struct Reading {
    /// The wall clock, in microseconds since 1970.
    let wall: Int64

    /// Milliseconds since boot, including sleep.
    let milliseconds: UInt64

    /// The identifier of this boot.
    let boot: String

    /// Whether the kernel reports a synchronized wall clock.
    let isSynchronized: Bool

    package init(wall: Int64, milliseconds: UInt64, boot: String, isSynchronized: Bool) {
      (self.wall, self.milliseconds) = (wall, milliseconds)
      (self.boot, self.isSynchronized) = (boot, isSynchronized)
    }
  }

  /// A day in microseconds: the largest jump that is always accepted.
  static let maxLeap: Int64 = 86_400_000_000

  /// A year in microseconds: the longest time that the machine may have been off.
  static let maxAbsence: Int64 = 366 * maxLeap

  /// The accepted time, in microseconds since 1970.
  package private(set) var time: Int64
  private var milliseconds: UInt64
  private let boot: String

  /// Whether the machine may have been off since ``time``, without an accepted wall clock since.
  private var wasOff: Bool

  /// - Parameters:
  ///   - kept: The last value of ``kept``; `nil` at the first start.
  ///   - lastTime: The time of the last event, used at the first start; `nil` if there is none.
  ///   - now: The current reading of the clocks.
  package init(kept: String?, lastTime: Int64?, _ now: Reading) {
    let parts = kept?.split(separator: " ") ?? []
    time = parts.first.flatMap { Int64($0) } ?? lastTime ?? now.wall
    (milliseconds, boot) = (now.milliseconds, now.boot)
    wasOff = parts.count < 3 || parts[2] != now.boot
    // Time since boot counts even if the daemon was not running.
    if !wasOff, let before = UInt64(parts[1]), before < milliseconds { milliseconds = before }
  }

  /// The state to store for the next start.
  package var kept: String { "\(time) \(milliseconds) \(boot)" }

  /// Advances to the current time.
  ///
  /// - Returns: The microseconds by which the wall clock is ahead of the accepted time; 0 if the
  ///   wall clock was accepted.
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

  /// Accepts the wall clock.
  package mutating func believe(_ now: Reading) {
    time = max(time, now.wall)
    wasOff = false
  }
}
