/// Delays between reconnection attempts: 0.1 s, doubling to 5 s, with jitter.
///
/// The jitter spreads the reconnections of many clients after a daemon restart.
package struct Backoff {
  private static let first: UInt64 = 100
  private static let longest: UInt64 = 5_000

  private var step = Self.first

  package init() {}

  /// Returns the next delay in milliseconds.
  ///
  /// - Parameter chance: A random number from 0 up to 1. The delay is between half of the step and
  ///   the whole step.
  package mutating func next(chance: Double) -> UInt64 {
    let pause = step / 2 + UInt64(Double(step / 2) * chance)
    step = min(step * 2, Self.longest)
    return pause
  }

  /// Returns the delay that the daemon requested, or else the next random one, in milliseconds.
  package mutating func next(requested: UInt64? = nil) -> UInt64 {
    requested ?? next(chance: Double.random(in: 0..<1))
  }

  /// Starts again with the shortest delay, after a success.
  package mutating func reset() {
    step = Self.first
  }
}
