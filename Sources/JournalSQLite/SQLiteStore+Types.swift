extension SQLiteStore {
  /// The state of the write-ahead log while another process reads in one long transaction.
  package enum LogNotice: Equatable, Sendable {
    /// The log has grown to `bytes` and cannot be reset; `path` is the journal.
    case held(bytes: Int, path: String)
    /// The log can be reset again.
    case released
  }

  /// The durations of commits since the previous call of ``takeCommitTimes()``.
  package struct CommitTimes: Equatable {
    package var commits = 0
    package var events = 0
    package var totalNanoseconds: UInt64 = 0
    package var maxNanoseconds: UInt64 = 0

    package var meanMilliseconds: Double {
      commits == 0 ? 0 : Double(totalNanoseconds / UInt64(commits) / 1000) / 1000
    }

    package var maxMilliseconds: Double { Double(maxNanoseconds / 1000) / 1000 }
  }
}
