/// How long a client waits before it tries again: 0.1 s, doubling to 5 s, with jitter, so that a
/// thousand clients of a daemon that has restarted do not all come at once.
package struct Backoff {
  private static let first: UInt64 = 100
  private static let longest: UInt64 = 5_000

  private var step = Self.first

  package init() {}

  /// The next pause in milliseconds.
  ///
  /// - Parameter chance: From 0 up to 1; the pause is between half of the step and all of it.
  package mutating func next(chance: Double) -> UInt64 {
    let pause = step / 2 + UInt64(Double(step / 2) * chance)
    step = min(step * 2, Self.longest)
    return pause
  }

  /// Begins anew, after a success.
  package mutating func reset() {
    step = Self.first
  }
}
