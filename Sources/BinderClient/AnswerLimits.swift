/// For how long a client waits for a daemon.
public struct AnswerLimits: Equatable, Sendable {
  /// The moment after which nothing is waited for any more, whatever it is.
  public var deadline: Deadline

  /// For how many milliseconds one answer is waited for; `nil` for as long as it takes.
  public var milliseconds: UInt64?

  /// After how many milliseconds of silence at the beginning of a connection that is told; `nil` for
  /// never.
  public var noteMilliseconds: UInt64?

  /// Limits; without any, a client waits for as long as it takes.
  public init(
    deadline: Deadline = .never, milliseconds: UInt64? = nil, noteMilliseconds: UInt64? = nil
  ) {
    self.deadline = deadline
    self.milliseconds = milliseconds
    self.noteMilliseconds = noteMilliseconds
  }

  /// Up to when an answer is waited for that is asked for now.
  func end(_ asked: Deadline) -> Deadline {
    let end = Deadline.earlier(asked, deadline)
    return milliseconds.map { .earlier(end, Deadline(inMilliseconds: $0)) } ?? end
  }
}
