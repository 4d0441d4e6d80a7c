/// Why a journal cannot do what it was asked.
package enum JournalError: Error, Equatable, Sendable {
  /// Whether a write that failed may have happened after all.
  package enum Outcome: String, Sendable {
    /// Nothing was written; it may be tried again.
    case none

    /// It may be found written after a restart.
    case unknown
  }

  /// It takes no writes: `reason` is `"ENOSPC"`, `"EIO"`, … or `"read-only"`.
  case readOnly(reason: String, outcome: Outcome)

  /// A record, or what should be one, does not read back.
  case corrupt(seq: UInt64, detail: String)

  /// A record says something that this program is too old for, and that must not be passed over.
  case notUnderstood(seq: UInt64, detail: String)

  /// The file is of a newer make; nothing was touched.
  case newerFormat(found: Int, supported: Int)

  /// The file is something else.
  case notAJournal(path: String)

  /// Another daemon has it; `owner` says which.
  case locked(owner: String)

  /// A position before the first that is kept, or after the last.
  case outOfRange(first: UInt64, last: UInt64)

  /// The file cannot be opened or read.
  case unavailable(detail: String)
}

extension JournalError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .readOnly(let reason, _): "the journal takes no writes: \(reason)"
    case .corrupt(let seq, let detail): "record \(seq) of the journal is damaged: \(detail)"
    case .notUnderstood(let seq, let detail): "event \(seq): \(detail)"
    case .newerFormat(let found, let supported):
      "the journal has format \(found), this program knows up to \(supported)"
    case .notAJournal(let path): "\(path) is not a journal of binderd"
    case .locked(let owner): "the journal is in use by \(owner)"
    case .outOfRange(let first, let last): "the journal holds positions \(first) to \(last)"
    case .unavailable(let detail): detail
    }
  }
}
