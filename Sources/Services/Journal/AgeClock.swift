/// The time by which events grow old: the clock of the day, unless that has jumped.
///
/// A clock that leaps forward by more than a day would make everything old at once. What is removed
/// does not come back, so such a leap is not believed until somebody says that it is right; meanwhile
/// events grow old by the time that the daemon has really been running.
package struct AgeClock {
  /// A day in microseconds: leaps up to here are believed.
  static let maxLeap: Int64 = 86_400_000_000

  /// Microseconds since 1970.
  package private(set) var time: Int64
  private var milliseconds: UInt64

  /// - Parameters:
  ///   - kept: What ``time`` was when it was kept last; before the first time that of the last event.
  ///   - milliseconds: Of a clock that does not jump.
  package init(kept: Int64, milliseconds: UInt64) {
    time = kept
    self.milliseconds = milliseconds
  }

  /// Goes on to now.
  ///
  /// - Parameter wall: The clock of the day, in microseconds since 1970.
  /// - Returns: By how many microseconds the clock of the day is ahead of what is believed; 0 when it
  ///   is believed.
  package mutating func advance(wall: Int64, milliseconds: UInt64) -> Int64 {
    time += Int64(milliseconds - self.milliseconds) * 1000
    self.milliseconds = milliseconds
    let ahead = wall - time
    guard ahead <= Self.maxLeap else { return ahead }
    time = max(time, wall)
    return 0
  }

  /// Believes the clock of the day.
  package mutating func believe(wall: Int64) {
    time = max(time, wall)
  }
}
