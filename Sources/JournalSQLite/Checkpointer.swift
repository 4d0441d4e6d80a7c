internal import CSQLite

/// Moves pages from the write-ahead log into the journal, on one thread.
///
/// It also detects a reader that keeps the log from shrinking.
final class Checkpointer {
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

  /// The log after the last move.
  enum Progress {
    /// Every page is moved, or it is unknown: the next commit may begin the log again, which waits
    /// for the disk.
    case mayBeComplete
    /// Pages are left, so the next commit continues the log.
    case incomplete
    /// Pages are left, because a long-running reader blocks the log.
    case held
  }

  private(set) var progress = Progress.mayBeComplete

  private let database: Database?
  private var hasFailed = false

  /// The number of moved pages and the length of the log at the first move without progress.
  private var stuck: (moved: CInt, pages: CInt)?
  private var isHeld = false

  /// The growth of a blocked log, in pages, after which it is reported: 8 MiB.
  private static let patience: CInt = 2048
  private static let pageSize = 4096

  init(path: String) {
    database = try? Database(path: path, .readWrite)
    // SQLite notices the log only after a first read on the connection.
    _ = try? database?.integer("SELECT count(*) FROM journal")
  }

  /// Moves all pages that can be moved.
  ///
  /// Returns `nil` if there is nothing to report.
  func move() -> Finding? {
    progress = .mayBeComplete
    guard let database, !hasFailed else { return nil }
    let (failure, pages, moved) = database.moveLog()
    if let failure {
      hasFailed = true
      return .failed(failure)
    }
    guard pages >= 0 else { return nil }
    guard moved < pages else {
      stuck = nil
      guard isHeld else { return nil }
      isHeld = false
      return .released
    }
    progress = isHeld ? .held : .incomplete
    guard let stuck, stuck.moved == moved else {
      stuck = (moved, pages)
      return nil
    }
    guard !isHeld, pages - stuck.pages >= Self.patience else { return nil }
    isHeld = true
    progress = .held
    return .held(bytes: Int(pages) * Self.pageSize)
  }
}
