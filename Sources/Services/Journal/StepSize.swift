internal import Journal

/// How many events a step of a compaction looks through: by how long the last ones have taken.
///
/// A commit that comes within a step waits until it is over, for 5 ms at the most. How much that is
/// on the disk at hand, and beside what else it does, shows only when it is done.
struct StepSize {
  private(set) var count = 64

  private static let smallest = 8

  /// What a step is to stay below, in nanoseconds: so far from 5 ms that one larger than those before
  /// is still within.
  private static let limit: UInt64 = 2_000_000

  /// Takes in how long a step took, in nanoseconds.
  ///
  /// - Returns: Whether the next ones are to be smaller than those that were found already.
  mutating func adapt(to nanoseconds: UInt64) -> Bool {
    guard nanoseconds <= Self.limit else {
      defer { count = max(Self.smallest, count / 2) }
      return count > Self.smallest
    }
    if nanoseconds < Self.limit / 4 { count = min(Removal.maxCount, count * 2) }
    return false
  }
}
