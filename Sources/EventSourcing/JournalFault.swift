package import Journal

/// An error of the journal, as reported by services.
package enum JournalFault: Error, Equatable, Sendable {
  /// The journal accepts no writes; `reason` is `"ENOSPC"`, `"EIO"`, `"read-only"`, …
  ///
  /// If `mayBeWritten`, the rejected events may turn out to be written after a restart.
  case readOnly(reason: String, mayBeWritten: Bool)

  /// An event cannot be read back.
  case damaged(seq: UInt64, detail: String)

  /// An event requires a newer version of this program.
  case notUnderstood(seq: UInt64, detail: String)

  /// The position is outside the retained range.
  case outOfRange(first: UInt64, last: UInt64)

  /// The journal cannot be read.
  case unavailable(detail: String)

  package init(_ error: JournalError) {
    switch error {
    case .readOnly(let reason, let outcome):
      self = .readOnly(reason: reason, mayBeWritten: outcome == .unknown)
    case .corrupt(let seq, let detail): self = .damaged(seq: seq, detail: detail)
    case .notUnderstood(let seq, let detail): self = .notUnderstood(seq: seq, detail: detail)
    case .outOfRange(let first, let last): self = .outOfRange(first: first, last: last)
    case .newerFormat, .notAJournal, .locked, .unavailable: self = .unavailable(detail: "\(error)")
    }
  }
}

extension JournalFault: CustomStringConvertible {
  package var description: String {
    switch self {
    case .readOnly(let reason, _): "the journal takes no writes: \(reason)"
    case .damaged(let seq, let detail): "event \(seq) of the journal is damaged: \(detail)"
    case .notUnderstood(let seq, let detail): "event \(seq): \(detail)"
    case .outOfRange(let first, let last): "the journal holds positions \(first) to \(last)"
    case .unavailable(let detail): detail
    }
  }
}
