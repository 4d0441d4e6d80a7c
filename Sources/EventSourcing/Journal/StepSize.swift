internal import Journal

/// The number of events that a compaction step examines.
///
/// It adapts to the duration of the last steps.
///
/// A commit that arrives during a step waits until its end, 5 ms at most. The speed of the disk
/// under its current load shows only afterwards.
struct StepSize {
  private(set) var count = 64

  private static let smallest = 8

  /// The target duration of a step in nanoseconds.
  ///
  /// It is well under 5 ms, so that an outlier still fits.
  private static let limit: UInt64 = 2_000_000

  /// Adapts the size to the duration of a step, in nanoseconds.
  ///
  /// - Returns: Whether planned steps are too large and must be planned again.
  mutating func adapt(to nanoseconds: UInt64) -> Bool {
    guard nanoseconds <= Self.limit else {
      defer { count = max(Self.smallest, count / 2) }
      return count > Self.smallest
    }
    if nanoseconds < Self.limit / 4 { count = min(Removal.maxCount, count * 2) }
    return false
  }
}
