internal import CSQLite

/// A prepared statement, finalized with its last reference.
final class Statement {
  private let database: Database
  private let pointer: OpaquePointer

  init(_ sql: String, on database: Database) throws(SQLiteError) {
    var pointer: OpaquePointer?
    let code = sqlite3_prepare_v3(
      database.pointer, sql, -1, CUnsignedInt(SQLITE_PREPARE_PERSISTENT), &pointer, nil)
    guard code == SQLITE_OK, let pointer else {
      throw SQLiteError(code: code, on: database.pointer)
    }
    self.database = database
    self.pointer = pointer
  }

  deinit {
    sqlite3_finalize(pointer)
  }

  // MARK: Parameters, indexed from 1 as in SQLite

  func bind(_ value: Int64, at index: CInt) {
    sqlite3_bind_int64(pointer, index, value)
  }

  /// Binds text; SQLite copies it.
  func bind(_ value: String, at index: CInt) {
    sqlite3_bind_text(pointer, index, value, CInt(value.utf8.count), transient)
  }

  /// Binds text that must stay in place until the statement is stepped; `nil` is NULL.
  func bind(inPlace value: UnsafeRawBufferPointer?, at index: CInt) {
    guard let value else {
      sqlite3_bind_null(pointer, index)
      return
    }
    // An empty buffer may have no address, which SQLite would take for NULL.
    let start = value.baseAddress?.assumingMemoryBound(to: CChar.self)
    sqlite3_bind_text(pointer, index, start ?? emptyText, CInt(value.count), nil)
  }

  // MARK: Running

  /// Steps to the next row.
  ///
  /// - Returns: Whether there is one; after the last row the statement is reset.
  func step() throws(SQLiteError) -> Bool {
    let code = sqlite3_step(pointer)
    if code == SQLITE_ROW { return true }
    let error = code == SQLITE_DONE ? nil : SQLiteError(code: code, on: database.pointer)
    sqlite3_reset(pointer)
    if let error { throw error }
    return false
  }

  /// Runs a statement that returns no rows.
  func run() throws(SQLiteError) {
    while try step() {}
  }

  func reset() {
    sqlite3_reset(pointer)
  }

  // MARK: Columns, indexed from 0 as in SQLite

  func int64(_ column: CInt) -> Int64 { sqlite3_column_int64(pointer, column) }

  /// Returns a position of the journal.
  ///
  /// - Throws: Damage if the column holds a negative number.
  func position(_ column: CInt) throws(SQLiteError) -> UInt64 {
    try SQLiteError.position(int64(column))
  }

  /// Returns the bytes of a text column, valid until the next step; `nil` is NULL.
  func bytes(_ column: CInt) -> UnsafeRawBufferPointer? {
    guard let start = sqlite3_column_text(pointer, column) else { return nil }
    return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(pointer, column)))
  }

  func string(_ column: CInt) -> String {
    bytes(column).map { String(decoding: $0, as: UTF8.self) } ?? ""
  }
}

/// `SQLITE_TRANSIENT`, a cast in C that Swift does not import.
nonisolated(unsafe) private let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

/// The address for an empty text.
nonisolated(unsafe) private let emptyText = UnsafePointer<CChar>(
  UnsafeMutablePointer<CChar>.allocate(capacity: 1))
