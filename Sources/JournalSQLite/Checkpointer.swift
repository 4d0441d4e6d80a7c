internal import CSQLite

/// Moves pages from the write-ahead log into the database.
///
/// It also detects a reader that keeps the log from shrinking.
struct Checkpointer {
  /// A result that the daemon should report.
  enum Finding {
    /// A checkpoint failed.
    ///
    /// It is not retried, because the disk may have lost the data silently.
    case failed(SQLiteError)
    /// A long-running reader blocks the log, which has grown to `bytes`.
    case held(bytes: Int)
    /// The reader has ended, so the log can be reset.
    case released
  }

  /// The number of moved pages and the length of the log at the first move without progress.
  private var stuck: (moved: CInt, pages: CInt)?

  /// Whether a long-running reader blocks the log.
  private(set) var isHeld = false

  /// The growth of a blocked log, in pages, after which it is reported: 8 MiB.
  private static let patience: CInt = 2048
  private static let pageSize = 4096

  /// Moves all pages that can be moved.
  ///
  /// Returns `nil` if there is nothing to report.
  mutating func move(_ database: Database) -> Finding? {
    let (failure, pages, moved) = database.moveLog()
    if let failure { return .failed(failure) }
    guard pages >= 0 else { return nil }
    guard moved < pages else {
      stuck = nil
      guard isHeld else { return nil }
      isHeld = false
      return .released
    }
    guard let stuck, stuck.moved == moved else {
      stuck = (moved, pages)
      return nil
    }
    guard !isHeld, pages - stuck.pages >= Self.patience else { return nil }
    isHeld = true
    return .held(bytes: Int(pages) * Self.pageSize)
  }
}
