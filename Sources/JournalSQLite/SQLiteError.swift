internal import CSQLite
internal import Glibc
internal import Journal

/// An SQLite call that failed.
struct SQLiteError: Error, Equatable {
  /// The extended result code, see <https://www.sqlite.org/rescode.html>.
  let code: CInt

  /// The `errno` of the system call behind it; 0 when there was none.
  let systemCode: CInt

  /// What SQLite says about it; may name the file, never the content.
  let message: String

  /// - Parameter systemCode: `errno` as it was right after the call. SQLite's own
  ///   `sqlite3_system_errno` says 0 for a write that failed within a commit.
  init(code: CInt, on database: OpaquePointer?, systemCode: CInt = errno) {
    self.code = code
    self.systemCode = code & 0xFF == SQLITE_IOERR || code & 0xFF == SQLITE_CANTOPEN ? systemCode : 0
    message = String(cString: database.map { sqlite3_errmsg($0) } ?? sqlite3_errstr(code))
  }

  /// A row that does not say what was written.
  init(damage message: String) {
    code = SQLITE_CORRUPT
    systemCode = 0
    self.message = message
  }

  /// A position as it stands in a column.
  ///
  /// - Throws: Damage where it is none.
  static func position(_ value: Int64) throws(SQLiteError) -> UInt64 {
    guard value >= 0 else { throw SQLiteError(damage: "\(value) is no position") }
    return UInt64(value)
  }

  /// Whether there was no room: the write has failed whole and may be tried again.
  var isNoSpace: Bool {
    code & 0xFF == SQLITE_FULL || [ENOSPC, EDQUOT, EFBIG].contains(systemCode)
  }

  /// Whether somebody else wrote for longer than is waited.
  var isBusy: Bool { code & 0xFF == SQLITE_BUSY || code & 0xFF == SQLITE_LOCKED }

  /// Whether the disk did not confirm what was written.
  ///
  /// Some file systems, as NFS, say only then that there is no room; the write may be found all the
  /// same.
  var isSync: Bool { code == SQLITE_IOERR | 4 << 8 || code == SQLITE_IOERR | 5 << 8 }

  /// Whether a transaction that failed so has certainly changed nothing.
  var hasNoOutcome: Bool { (isNoSpace && !isSync) || isBusy }

  /// Whether what was read is damaged.
  var isCorrupt: Bool {
    code & 0xFF == SQLITE_CORRUPT || code & 0xFF == SQLITE_NOTADB
  }

  /// What a client is told of a write that failed.
  var refusal: JournalError {
    let names = [
      ENOSPC: "ENOSPC", EDQUOT: "EDQUOT", EFBIG: "EFBIG", EIO: "EIO", EROFS: "EROFS",
      EACCES: "EACCES",
    ]
    return .readOnly(
      reason: names[systemCode] ?? general, outcome: hasNoOutcome ? .none : .unknown)
  }

  /// The reason where the system has given none.
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
    return "SQLite \(code): \(message)\(system)"
  }
}
