internal import Glibc

/// A moment up to which something is waited for.
public struct Deadline: Equatable, Sendable {
  /// Milliseconds of the monotonic clock; the largest is never.
  private let end: UInt64

  private init(end: UInt64) {
    self.end = end
  }

  /// The moment so many milliseconds from now.
  public init(inMilliseconds milliseconds: UInt64) {
    let (end, overflow) = Self.now.addingReportingOverflow(milliseconds)
    self.end = overflow ? .max : end
  }

  /// No moment at all.
  public static let never = Deadline(end: .max)

  /// Whether it is over.
  public var isOver: Bool { end != .max && Self.now >= end }

  /// Milliseconds left, as `poll` takes them: -1 is without end.
  package var pollTime: CInt {
    guard end != .max else { return -1 }
    let now = Self.now
    return now >= end ? 0 : CInt(min(end - now, UInt64(CInt.max)))
  }

  /// The later of a deadline and the moment so many milliseconds from now.
  public static func later(
    _ deadline: Deadline, inMilliseconds milliseconds: UInt64
  ) -> Deadline {
    let other = Deadline(inMilliseconds: milliseconds)
    return deadline.end < other.end ? other : deadline
  }

  /// The earlier of two.
  static func earlier(_ a: Deadline, _ b: Deadline) -> Deadline { a.end < b.end ? a : b }

  /// Milliseconds of the monotonic clock.
  private static var now: UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1000 + UInt64(time.tv_nsec) / 1_000_000
  }
}
