internal import CSQLite

/// Moves what is written from the log into the journal, and finds out when somebody keeps the log from
/// getting shorter; used by one thread.
final class Checkpointer {
  /// What somebody should hear of.
  enum Finding {
    /// No second try: what the disk has refused once it may then have lost without a word.
    case failed(SQLiteError)
    /// Somebody reads on without an end; the log has so many bytes.
    case held(bytes: Int)
    /// The log can be begun anew.
    case released
  }

  private let database: Database?
  private var hasFailed = false

  /// How much of the log was moved, and how long it was then, when no more could be moved for the
  /// first time.
  private var stuck: (moved: CInt, pages: CInt)?
  private var isHeld = false

  /// By how many pages the log grows without being moved until somebody hears of it: 8 MiB.
  private static let patience: CInt = 2048
  private static let pageSize = 4096

  init(path: String) {
    database = try? Database(path: path, .readWrite)
    // A connection that has read nothing yet does not know that there is a log, and moves nothing.
    _ = try? database?.integer("SELECT count(*) FROM journal")
  }

  /// Moves what can be moved.
  func move() -> Finding? {
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
    guard let stuck, stuck.moved == moved else {
      stuck = (moved, pages)
      return nil
    }
    guard !isHeld, pages - stuck.pages >= Self.patience else { return nil }
    isHeld = true
    return .held(bytes: Int(pages) * Self.pageSize)
  }
}
