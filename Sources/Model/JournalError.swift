/// An error of the journal, as its store reports it and services pass it on.
package enum JournalError: Error, Equatable, Sendable {
  /// Whether a failed write may have taken effect.
  package enum Outcome: String, Sendable {
    /// Nothing was written; the write may be tried again.
    case none

    /// The write may turn out to have succeeded after a restart.
    case unknown
  }

  /// The journal refuses writes.
  ///
  /// `reason` is `"ENOSPC"`, `"EIO"`, … or `"read_only"`; `"disk_reserve"` and
  /// `"journal_rate_user"` concern only users who are no administrators.
  case readOnly(reason: String, outcome: Outcome)

  /// Another daemon writes the journal; `active` is its name, and `address` where clients reach it.
  ///
  /// `active` is `nil` while no daemon writes, and `address` if that daemon tells none.
  case following(active: String?, address: String?)

  /// An event is damaged or missing.
  case corrupt(seq: UInt64, detail: String)

  /// An event needs a newer version of this program and must not be skipped.
  case notUnderstood(seq: UInt64, detail: String)

  /// The file has a newer format; nothing was changed.
  case newerFormat(found: Int, supported: Int)

  /// The file is not a journal.
  case notAJournal(path: String)

  /// Another process holds the journal; `owner` names it.
  case locked(owner: String)

  /// The position is before the first retained one or after the last one.
  case outOfRange(first: UInt64, last: UInt64)

  /// The file cannot be opened or read.
  case unavailable(detail: String)
}

extension JournalError {
  /// The journal is in a database that does not answer now.
  package static let databaseAway = JournalError.readOnly(reason: "database", outcome: .none)

  /// The journal is in a database that did not answer for too long, so the outcome of an earlier write
  /// is unknown.
  package static let interrupted = JournalError.readOnly(reason: "interrupted", outcome: .unknown)
}

extension JournalError {
  /// Returns the error of a daemon that is started on the journal of another one.
  ///
  /// - Parameters:
  ///   - journal: The name of the journal.
  ///   - owner: The name of the daemon that the journal belongs to.
  ///   - name: The name of the daemon that was started.
  package static func foreign(
    _ journal: String, of owner: String, to name: String
  ) -> JournalError {
    .unavailable(
      detail: "\(journal) is the journal of \(owner), not of \(name); start \(owner) on it, "
        + "or name another journal with --journal; a copy for \(name): \(owner) --export FILE, "
        + "then \(name) --import FILE --adopt")
  }
}

extension JournalError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .interrupted:
      "the database has been away for too long; the command may have run, and may still run. "
        + "Repeat it with the same cmd"
    case .readOnly("disk_reserve", _):
      "the disk of the journal is nearly full, and the rest (disk_reserve) is for administrators; "
        + "ask one to make room"
    case .readOnly("journal_rate_user", _):
      "the user writes more to the journal than journal_rate_user allows"
    case .readOnly(let reason, _): "the journal takes no writes: \(reason)"
    case .following(let active?, let address?):
      "this daemon only follows '\(active)', which takes writes at \(address)"
    case .following(let active?, nil): "this daemon only follows '\(active)', which takes writes"
    case .following(nil, _): "this daemon only follows, and no daemon takes writes yet"
    case .corrupt(let seq, let detail): "event \(seq) of the journal is damaged: \(detail)"
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
