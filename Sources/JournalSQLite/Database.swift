internal import CSQLite
internal import Glibc

/// A connection to an SQLite file, used by one thread at a time.
final class Database {
  let pointer: OpaquePointer

  enum Mode {
    case create, readWrite, readOnly
    /// As `create`; other files can be attached by URI.
    case build
    /// Read-only, while nobody writes.
    ///
    /// SQLite creates no files beside it.
    case still
  }

  init(path: String, _ mode: Mode, patience: CInt = 1_000) throws(SQLiteError) {
    let isStill = mode == .still || mode == .readOnly && Self.isStill(path)
    let access =
      switch mode {
      case .create: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
      case .build: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI
      case .readWrite: SQLITE_OPEN_READWRITE
      case .readOnly, .still: SQLITE_OPEN_READONLY | (isStill ? SQLITE_OPEN_URI : 0)
      }
    var pointer: OpaquePointer?
    let code = sqlite3_open_v2(
      isStill ? Self.uri(path, "immutable=1") : mode == .build ? Self.uri(path, "mode=rwc") : path,
      &pointer, access | SQLITE_OPEN_NOMUTEX, nil)
    guard code == SQLITE_OK, let pointer else {
      let error = SQLiteError(code: code, on: pointer)
      sqlite3_close_v2(pointer)
      throw error
    }
    (self.pointer, self.patience) = (pointer, patience)
    sqlite3_extended_result_codes(pointer, 1)
    sqlite3_busy_timeout(pointer, patience)
  }

  deinit {
    sqlite3_close_v2(pointer)
  }

  /// Returns whether nobody can be writing a file, so that SQLite may treat it as immutable.
  ///
  /// This is true without a write-ahead log if one of these holds: there is no lock file, as beside
  /// a backup, where SQLite would leave files; the directory is not writable; or the disk has no
  /// room for the log's index. SQLite must be asked explicitly:
  /// <https://www.sqlite.org/wal.html#readonly>.
  private static func isStill(_ path: String) -> Bool {
    guard Glibc.access(path + "-wal", F_OK) != 0 else { return false }
    if Glibc.access(path + ".lock", F_OK) != 0 { return true }
    let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
    let directory = slash.map { String(path[...$0]) } ?? "."
    return Glibc.access(directory, W_OK) != 0 || !hasRoom(directory)
  }

  /// Returns whether there is room for the 32 KiB index that SQLite creates to read a file with a
  /// write-ahead log.
  private static func hasRoom(_ directory: String) -> Bool {
    var status = statvfs()
    guard statvfs(directory, &status) == 0 else { return true }
    return UInt64(status.f_bavail) * UInt64(status.f_frsize) >= 64 << 10
  }

  /// Returns a path as an SQLite URI with a parameter such as `immutable=1`.
  static func uri(_ path: String, _ parameter: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    // Otherwise a path that begins with two slashes would begin with the name of a host.
    var uri = Array((path.hasPrefix("/") ? "file://" : "file:").utf8)
    for byte in path.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."),
        UInt8(ascii: "-"), UInt8(ascii: "_"):
        uri.append(byte)
      default: uri += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: uri, as: UTF8.self) + "?" + parameter
  }

  /// The time, in milliseconds, for which a call waits for another writer such as `sqlite3`.
  var patience: CInt {
    didSet { sqlite3_busy_timeout(pointer, patience) }
  }

  /// Sets whether the log stays as it is when this connection is closed as the last one.
  ///
  /// Otherwise SQLite then moves the readable part of the log into the file and removes the log.
  func keepLogOnClose(_ isKept: Bool) {
    _ = csqlite_keep_log_on_close(pointer, isKept ? 1 : 0)
  }

  /// Moves as many pages as possible from the log into the file.
  ///
  /// - Returns: The failure, the number of pages in the log, and how many of them are moved.
  ///   `failure` is `nil` unless the log cannot be trusted any more: a busy reader or a full disk
  ///   is not a failure. The page counts are -1 if they are unknown.
  func moveLog() -> (failure: SQLiteError?, pages: CInt, moved: CInt) {
    var (pages, moved): (CInt, CInt) = (-1, -1)
    let code = sqlite3_wal_checkpoint_v2(pointer, nil, SQLITE_CHECKPOINT_PASSIVE, &pages, &moved)
    guard code != SQLITE_OK else { return (nil, pages, moved) }
    let error = SQLiteError(code: code, on: pointer)
    return (error.hasNoOutcome ? nil : error, -1, -1)
  }

  /// Moves the whole log into the file and truncates the log, unless a reader or writer prevents
  /// it.
  ///
  /// - Parameter isWaiting: Whether to wait for them, as for another writer.
  /// - Returns: Whether the log is empty now.
  func emptyLog(waiting isWaiting: Bool = false) throws(SQLiteError) -> Bool {
    let patience = patience
    if !isWaiting { self.patience = 0 }
    defer { self.patience = patience }
    let code = sqlite3_wal_checkpoint_v2(pointer, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
    let error = code == SQLITE_OK ? nil : SQLiteError(code: code, on: pointer)
    guard let error else { return true }
    guard error.hasNoOutcome else { throw error }
    return false
  }

  func execute(_ sql: String) throws(SQLiteError) {
    let code = sqlite3_exec(pointer, sql, nil, nil, nil)
    guard code == SQLITE_OK else { throw SQLiteError(code: code, on: pointer) }
  }

  /// Returns the integer in the first column of a query; `nil` if the query returns no row.
  func integer(_ sql: String) throws(SQLiteError) -> Int64? {
    let statement = try Statement(sql, on: self)
    return try statement.step() ? statement.int64(0) : nil
  }

  /// Returns the text in the first column of a query; `nil` if the query returns no row.
  func text(_ sql: String) throws(SQLiteError) -> String? {
    let statement = try Statement(sql, on: self)
    return try statement.step() ? statement.string(0) : nil
  }
}

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

  /// Whether it changes no database.
  var isReadOnly: Bool { sqlite3_stmt_readonly(pointer) != 0 }

  // MARK: Columns, indexed from 0 as in SQLite

  var columnCount: CInt { sqlite3_column_count(pointer) }

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
