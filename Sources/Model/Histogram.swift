/// A cumulative histogram of durations.
///
/// All histograms have the same bounds, from one microsecond to ten seconds.
package struct Histogram: Equatable, Sendable {
  /// The upper bounds of the buckets in nanoseconds; longer durations are only in ``count``.
  package static let bounds: [UInt64] = [
    1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000,
    5_000_000, 10_000_000, 25_000_000, 50_000_000, 100_000_000, 250_000_000, 500_000_000,
    1_000_000_000, 2_500_000_000, 5_000_000_000, 10_000_000_000,
  ]

  /// The number of durations in each bucket alone.
  private var counts = [UInt64](repeating: 0, count: bounds.count)

  /// The number of all durations.
  package private(set) var count: UInt64 = 0

  /// The sum of all durations in nanoseconds.
  package private(set) var nanoseconds: UInt64 = 0

  package init() {}

  /// Adds a duration in nanoseconds.
  package mutating func add(_ duration: UInt64) {
    count &+= 1
    nanoseconds &+= duration
    if let bucket = Self.bounds.firstIndex(where: { duration <= $0 }) { counts[bucket] &+= 1 }
  }

  /// Each bound with the number of durations up to it, shortest first.
  package var buckets: [(bound: UInt64, count: UInt64)] {
    var sum: UInt64 = 0
    return zip(Self.bounds, counts).map { bound, count in
      sum += count
      return (bound, sum)
    }
  }
}
