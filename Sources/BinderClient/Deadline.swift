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
