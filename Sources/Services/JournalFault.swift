package import Journal

/// Why the journal could not do what somebody asked of the services.
package enum JournalFault: Error, Equatable, Sendable {
  /// It takes no writes; `reason` is `"ENOSPC"`, `"EIO"`, `"read-only"`, …
  ///
  /// When `mayBeWritten`, what was asked for may be found done after a restart.
  case readOnly(reason: String, mayBeWritten: Bool)

  /// An event does not read back.
  case damaged(seq: UInt64, detail: String)

  /// An event says something that this program is too old for.
  case notUnderstood(seq: UInt64, detail: String)

  /// The position is not one of those that are kept.
  case outOfRange(first: UInt64, last: UInt64)

  /// It cannot be read at all.
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
