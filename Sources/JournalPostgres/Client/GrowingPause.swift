/// The pause before the next attempt, which doubles from 100 ms to 2 s while attempts fail.
struct GrowingPause {
  private static let (shortest, longest) = (UInt64(100), UInt64(2_000))
  private var milliseconds = shortest

  /// Returns the pause in milliseconds, and doubles the next one.
  mutating func next() -> UInt64 {
    defer { milliseconds = min(2 * milliseconds, Self.longest) }
    return milliseconds
  }

  mutating func reset() { milliseconds = Self.shortest }
}
