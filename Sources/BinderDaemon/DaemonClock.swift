import EventLoop

/// The clock of the events and of the bindings: that of the machine, or one that was set and runs
/// faster, in a private daemon.
struct DaemonClock: Sendable {
  /// The clock as it was set; `nil` for that of the machine.
  struct Setting: Equatable, Sendable {
    /// The highest speed.
    static let fastest = 100_000.0

    /// The time at the start in microseconds since 1970; `nil` for the present.
    var start: Int64?

    /// The seconds that pass in one second.
    var speed = 1.0
  }

  private let start: Int64
  private let begun: UInt64

  /// The seconds that pass in one second.
  let speed: Double
  private let isSet: Bool

  /// Starts the clock.
  init(_ setting: Setting?) {
    start = setting?.start ?? Process.now
    speed = setting?.speed ?? 1
    isSet = setting != nil
    begun = Process.nanoseconds
  }

  /// Microseconds since 1970.
  var now: Int64 {
    guard isSet else { return Process.now }
    return start + Int64(Double(Process.nanoseconds - begun) / 1000 * speed)
  }
}
