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
