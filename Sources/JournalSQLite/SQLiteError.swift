internal import CSQLite
internal import Glibc
internal import Journal
internal import Model

/// A failed SQLite call, or a failed system call on the tail.
struct SQLiteError: Error, Equatable {
  /// The extended result code, see <https://www.sqlite.org/rescode.html>.
  ///
  /// A system call has the one that SQLite has for it.
  let code: CInt

  /// The `errno` of the system call behind it; 0 when there was none.
  let systemCode: CInt

  /// SQLite's message; it may contain the file name, but never content.
  let message: String

  /// Whether a system call failed, and none of SQLite.
  private let isCall: Bool

  /// - Parameter systemCode: The `errno` right after the call. SQLite's own `sqlite3_system_errno`
  ///   returns 0 for a write that failed within a commit.
  init(code: CInt, on database: OpaquePointer?, systemCode: CInt = errno) {
    self.code = code
    self.systemCode = code & 0xFF == SQLITE_IOERR || code & 0xFF == SQLITE_CANTOPEN ? systemCode : 0
    message = String(cString: database.map { sqlite3_errmsg($0) } ?? sqlite3_errstr(code))
    isCall = false
  }

  /// Creates an error for a failed system call on a file.
  ///
  /// - Parameter isFlush: Whether the call may have had an effect in spite of its failure.
  init(call: String, _ path: String, code: CInt = errno, isFlush: Bool = false) {
    self.code = SQLITE_IOERR | (isFlush ? 4 : 3) << 8
    systemCode = code
    message = "\(call) \(path)"
    isCall = true
  }

  /// Creates an error for a damaged row.
  init(damage message: String) {
    code = SQLITE_CORRUPT
    systemCode = 0
    self.message = message
    isCall = false
  }

  /// Converts a column to a position.
  ///
  /// - Throws: Damage if it is negative.
  static func position(_ value: Int64) throws(SQLiteError) -> UInt64 {
    guard value >= 0 else { throw SQLiteError(damage: "\(value) is not a position") }
    return UInt64(value)
  }

  /// Whether the disk was full: the whole write failed and may be tried again.
  var isNoSpace: Bool {
    code & 0xFF == SQLITE_FULL || [ENOSPC, EDQUOT, EFBIG].contains(systemCode)
  }

  /// Whether another process held the lock for too long.
  var isBusy: Bool { code & 0xFF == SQLITE_BUSY || code & 0xFF == SQLITE_LOCKED }

  /// Whether flushing to the disk failed.
  ///
  /// Some file systems, such as NFS, report a full disk only then. The write may have succeeded.
  var isSync: Bool { code == SQLITE_IOERR | 4 << 8 || code == SQLITE_IOERR | 5 << 8 }

  /// Whether a transaction that failed with this error has certainly changed nothing.
  var hasNoOutcome: Bool { (isNoSpace && !isSync) || isBusy }

  /// Whether the data that was read is damaged.
  var isCorrupt: Bool {
    code & 0xFF == SQLITE_CORRUPT || code & 0xFF == SQLITE_NOTADB
  }

  /// The error to return to clients for a failed write.
  var refusal: JournalError {
    let names = [
      ENOSPC: "ENOSPC", EDQUOT: "EDQUOT", EFBIG: "EFBIG", EIO: "EIO", EROFS: "EROFS",
      EACCES: "EACCES",
    ]
    return .readOnly(
      reason: names[systemCode] ?? general, outcome: hasNoOutcome ? .none : .unknown)
  }

  /// The reason to report if there is no system error.
  private var general: String {
    switch code & 0xFF {
    case SQLITE_FULL: "ENOSPC"
    case SQLITE_IOERR: "EIO"
    case SQLITE_BUSY, SQLITE_LOCKED: "BUSY"
    default: "SQLITE"
    }
  }
}

extension SQLiteError: CustomStringConvertible {
  var description: String {
    let system = systemCode == 0 ? "" : ", \(String(cString: strerror(systemCode)))"
    return (isCall ? "" : "SQLite \(code): ") + message + system
  }
}
