internal import CSQLite
internal import Glibc

/// One connection to an SQLite file, used by one thread at a time.
final class Database {
  let pointer: OpaquePointer

  /// Milliseconds for which a call waits while somebody else, with `sqlite3` for example, writes.
  private static let patience: CInt = 1_000

  enum Mode {
    case create, readWrite, readOnly
    /// For reading only, while nobody writes; no file is made beside it.
    case still
  }

  init(path: String, _ mode: Mode) throws(SQLiteError) {
    let isStill = mode == .still || mode == .readOnly && Self.isStill(path)
    let access =
      switch mode {
      case .create: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
      case .readWrite: SQLITE_OPEN_READWRITE
      case .readOnly, .still: SQLITE_OPEN_READONLY | (isStill ? SQLITE_OPEN_URI : 0)
      }
    var pointer: OpaquePointer?
    let code = sqlite3_open_v2(
      isStill ? Self.immutable(path) : path, &pointer, access | SQLITE_OPEN_NOMUTEX, nil)
    guard code == SQLITE_OK, let pointer else {
      let error = SQLiteError(code: code, on: pointer)
      sqlite3_close_v2(pointer)
      throw error
    }
    self.pointer = pointer
    sqlite3_extended_result_codes(pointer, 1)
    sqlite3_busy_timeout(pointer, Self.patience)
  }

  deinit {
    sqlite3_close_v2(pointer)
  }

  /// Whether nobody can be writing a file: it has no write-ahead log, and none can be made, or there is
  /// no room for the index of one, or no daemon has had it, as a backup, beside which SQLite would
  /// leave files.
  ///
  /// SQLite opens such a file only when it is told so: <https://www.sqlite.org/wal.html#readonly>.
  private static func isStill(_ path: String) -> Bool {
    guard Glibc.access(path + "-wal", F_OK) != 0 else { return false }
    if Glibc.access(path + ".lock", F_OK) != 0 { return true }
    let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
    let directory = slash.map { String(path[...$0]) } ?? "."
    return Glibc.access(directory, W_OK) != 0 || !hasRoom(directory)
  }

  /// Whether there is room for what SQLite makes to read a file that has a write-ahead log: its index
  /// has 32 KiB.
  private static func hasRoom(_ directory: String) -> Bool {
    var status = statvfs()
    guard statvfs(directory, &status) == 0 else { return true }
    return UInt64(status.f_bavail) * UInt64(status.f_frsize) >= 64 << 10
  }

  /// A path as a URI that says that the file does not change.
  private static func immutable(_ path: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var uri = Array("file:".utf8)
    for byte in path.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."),
        UInt8(ascii: "-"), UInt8(ascii: "_"):
        uri.append(byte)
      default: uri += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: uri + "?immutable=1".utf8, as: UTF8.self)
  }

  /// Moves what can be moved from the log into the file.
  ///
  /// - Returns: Why the log may not be trusted any more; `nil` when it was moved, or was left where it
  ///   is because somebody reads it or there is no room. Then how many pages the log has and how many
  ///   of them are moved; -1 when that is not known.
  func moveLog() -> (failure: SQLiteError?, pages: CInt, moved: CInt) {
    var (pages, moved): (CInt, CInt) = (-1, -1)
    let code = sqlite3_wal_checkpoint_v2(pointer, nil, SQLITE_CHECKPOINT_PASSIVE, &pages, &moved)
    guard code != SQLITE_OK else { return (nil, pages, moved) }
    let error = SQLiteError(code: code, on: pointer)
    return (error.hasNoOutcome ? nil : error, -1, -1)
  }

  /// Moves all of the log into the file and makes the log empty, if nobody reads or writes meanwhile.
  ///
  /// - Returns: Whether it is empty now.
  func emptyLog() throws(SQLiteError) -> Bool {
    sqlite3_busy_timeout(pointer, 0)
    let code = sqlite3_wal_checkpoint_v2(pointer, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
    let error = code == SQLITE_OK ? nil : SQLiteError(code: code, on: pointer)
    sqlite3_busy_timeout(pointer, Self.patience)
    guard let error else { return true }
    guard error.hasNoOutcome else { throw error }
    return false
  }

  func execute(_ sql: String) throws(SQLiteError) {
    let code = sqlite3_exec(pointer, sql, nil, nil, nil)
    guard code == SQLITE_OK else { throw SQLiteError(code: code, on: pointer) }
  }

  /// The integer that a query returns in its first column; `nil` when it returns no row.
  func integer(_ sql: String) throws(SQLiteError) -> Int64? {
    let statement = try Statement(sql, on: self)
    return try statement.step() ? statement.int64(0) : nil
  }

  /// The text that a query returns in its first column; `nil` when it returns no row.
  func text(_ sql: String) throws(SQLiteError) -> String? {
    let statement = try Statement(sql, on: self)
    return try statement.step() ? statement.string(0) : nil
  }
}
