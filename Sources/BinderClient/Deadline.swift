internal import Glibc

/// A point in time at which waiting ends.
public struct Deadline: Equatable, Sendable {
  /// Milliseconds of the monotonic clock; the maximum means never.
  private let end: UInt64

  private init(end: UInt64) {
    self.end = end
  }

  /// Creates a deadline in a number of milliseconds from now.
  public init(inMilliseconds milliseconds: UInt64) {
    let (end, overflow) = Self.now.addingReportingOverflow(milliseconds)
    self.end = overflow ? .max : end
  }

  /// A deadline that never passes.
  public static let never = Deadline(end: .max)

  /// Whether the deadline has passed.
  public var isOver: Bool { end != .max && Self.now >= end }

  /// The remaining milliseconds as `poll` expects them; -1 for no limit.
  package var pollTime: CInt {
    guard end != .max else { return -1 }
    let now = Self.now
    return now >= end ? 0 : CInt(min(end - now, UInt64(CInt.max)))
  }

  /// Returns the later of a deadline and a number of milliseconds from now.
  public static func later(
    _ deadline: Deadline, inMilliseconds milliseconds: UInt64
  ) -> Deadline {
    let other = Deadline(inMilliseconds: milliseconds)
    return deadline.end < other.end ? other : deadline
  }

  /// Returns the earlier of two deadlines.
  package static func earlier(_ a: Deadline, _ b: Deadline) -> Deadline { a.end < b.end ? a : b }

  /// The monotonic clock in milliseconds.
  private static var now: UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1000 + UInt64(time.tv_nsec) / 1_000_000
  }
}

/// Limits on how long a client waits for the daemon.
public struct AnswerLimits: Equatable, Sendable {
  /// The deadline for everything the client waits for.
  public var deadline: Deadline

  /// The timeout for one answer in milliseconds; `nil` for none.
  public var milliseconds: UInt64?

  /// The silence after connecting, in milliseconds, after which ``BinderClient/onNote`` is called;
  /// `nil` for never.
  public var noteMilliseconds: UInt64?

  /// Creates limits.
  ///
  /// By default, a client waits without limit.
  public init(
    deadline: Deadline = .never, milliseconds: UInt64? = nil, noteMilliseconds: UInt64? = nil
  ) {
    self.deadline = deadline
    self.milliseconds = milliseconds
    self.noteMilliseconds = noteMilliseconds
  }

  /// Returns the deadline for an answer requested now.
  func end(_ asked: Deadline) -> Deadline {
    let end = Deadline.earlier(asked, deadline)
    return milliseconds.map { .earlier(end, Deadline(inMilliseconds: $0)) } ?? end
  }
}

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
