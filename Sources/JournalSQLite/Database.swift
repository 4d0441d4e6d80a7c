internal import CSQLite
internal import Glibc

/// One connection to an SQLite file, used by one thread at a time.
final class Database {
  let pointer: OpaquePointer

  /// Milliseconds for which a call waits while somebody else, with `sqlite3` for example, writes.
  private static let patience: CInt = 1_000

  enum Mode {
    case create, readWrite, readOnly
  }

  init(path: String, _ mode: Mode) throws(SQLiteError) {
    let isStill = mode == .readOnly && Self.isStill(path)
    let access =
      switch mode {
      case .create: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
      case .readWrite: SQLITE_OPEN_READWRITE
      case .readOnly: SQLITE_OPEN_READONLY | (isStill ? SQLITE_OPEN_URI : 0)
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

  /// Whether nobody can be writing a file: it has no write-ahead log, and none can be made.
  ///
  /// SQLite opens such a file only when it is told so: <https://www.sqlite.org/wal.html#readonly>.
  private static func isStill(_ path: String) -> Bool {
    guard Glibc.access(path + "-wal", F_OK) != 0 else { return false }
    let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
    let directory = slash.map { String(path[...$0]) } ?? "."
    return Glibc.access(directory, W_OK) != 0
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
  ///   is because somebody reads it or there is no room.
  func moveLog() -> SQLiteError? {
    let code = sqlite3_wal_checkpoint_v2(pointer, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
    guard code != SQLITE_OK else { return nil }
    let error = SQLiteError(code: code, on: pointer)
    return error.hasNoOutcome ? nil : error
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
