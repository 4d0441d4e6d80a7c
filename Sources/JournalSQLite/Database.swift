internal import CSQLite

/// One connection to an SQLite file, used by one thread at a time.
final class Database {
  let pointer: OpaquePointer

  enum Mode {
    case create, readWrite, readOnly
  }

  init(path: String, _ mode: Mode) throws(SQLiteError) {
    let access =
      switch mode {
      case .create: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
      case .readWrite: SQLITE_OPEN_READWRITE
      case .readOnly: SQLITE_OPEN_READONLY
      }
    var pointer: OpaquePointer?
    let code = sqlite3_open_v2(path, &pointer, access | SQLITE_OPEN_NOMUTEX, nil)
    guard code == SQLITE_OK, let pointer else {
      let error = SQLiteError(code: code, on: pointer)
      sqlite3_close_v2(pointer)
      throw error
    }
    self.pointer = pointer
    sqlite3_extended_result_codes(pointer, 1)
  }

  deinit {
    sqlite3_close_v2(pointer)
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
