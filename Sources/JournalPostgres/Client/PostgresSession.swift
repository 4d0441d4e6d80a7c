internal import CPostgres
internal import Glibc

/// One session with a server: a connection of libpq, used by one thread.
///
/// None of its calls waits. Its owner watches ``descriptor`` and calls it when the server has sent
/// something.
final class PostgresSession {
  private let pointer: OpaquePointer

  /// Called for each notice of the server, for example a warning with an append.
  var onNotice: (PostgresError) -> Void = { _ in }

  /// The statements that the server has prepared, by name.
  private var prepared: Set<String> = []

  /// The next step of connecting.
  enum Step {
    case read, write, done
  }

  /// Begins to connect.
  ///
  /// - Throws: The reason, if libpq is not installed, or if the options are wrong.
  init(_ options: PostgresOptions) throws(PostgresError) {
    try Self.load()
    var connection: OpaquePointer?
    let names = options.all.map { $0.name.withCString { strdup($0) } }
    let values = options.all.map { $0.value.withCString { strdup($0) } }
    defer { for text in names + values { free(text) } }
    connection = cpostgres_connect_start(
      names.map { UnsafePointer($0) } + [nil], values.map { UnsafePointer($0) } + [nil])
    guard let connection else { throw .lost("no memory for a connection") }
    pointer = connection
    cpostgres_on_notice(pointer, noticeReceived, Unmanaged.passUnretained(self).toOpaque())
    guard cpostgres_status(pointer) != CONNECTION_BAD else { throw failure }
  }

  deinit {
    cpostgres_finish(pointer)
  }

  /// Loads libpq.
  ///
  /// - Throws: The reason, if it is not installed.
  static func load() throws(PostgresError) {
    if let fault = cpostgres_load() {
      throw PostgresError(code: "42000", message: String(cString: fault))
    }
  }

  /// The descriptor to watch; another one after each step of connecting.
  var descriptor: CInt { cpostgres_socket(pointer) }

  /// The last error of the connection.
  var failure: PostgresError {
    if cpostgres_needs_password(pointer) {
      return PostgresError(code: "28P01", message: "the server asks for a password")
    }
    return .lost(String(cString: cpostgres_message(pointer)))
  }

  /// Takes the next step of connecting.
  func connect() throws(PostgresError) -> Step {
    switch cpostgres_connect_poll(pointer) {
    case PGRES_POLLING_READING: return .read
    case PGRES_POLLING_WRITING: return .write
    case PGRES_POLLING_OK:
      guard cpostgres_enter_pipeline(pointer) else { throw failure }
      return .done
    default: throw failure
    }
  }

  /// The version of the server, for example 150004 for 15.4.
  var serverVersion: Int { Int(cpostgres_server_version(pointer)) }

  /// Returns a setting that the server reports by itself; `nil` if it does not.
  func setting(_ name: String) -> String? {
    cpostgres_parameter(pointer, name).map { String(cString: $0) }
  }

  /// Whether the server takes no writes, because it is a standby or set so.
  var isReadOnly: Bool {
    setting("in_hot_standby") == "on" || setting("default_transaction_read_only") == "on"
  }

  // MARK: Statements

  /// Sends a statement, and what prepares it if this session has not run it yet.
  ///
  /// The number of results is the return value; a synchronization follows them.
  func send(_ statement: PostgresStatement, _ parameters: PostgresParameters)
    throws(PostgresError) -> Int
  {
    var results = 1
    if prepared.insert(statement.name).inserted {
      guard cpostgres_send_prepare(pointer, statement.name, statement.text) else { throw failure }
      results = 2
    }
    let isSent = parameters.withPointers { count, values, lengths in
      cpostgres_send_prepared(pointer, statement.name, count, values, lengths)
    }
    guard isSent, cpostgres_sync(pointer) else { throw failure }
    return results
  }

  /// Sends a statement with texts as parameters, and with texts as results.
  func send(text statement: String, _ parameters: [String]) throws(PostgresError) {
    let copies = parameters.map { $0.withCString { strdup($0) } }
    defer { for copy in copies { free(copy) } }
    let values = copies.map { UnsafePointer<CChar>($0) }
    guard cpostgres_send_text(pointer, statement, CInt(values.count), values),
      cpostgres_sync(pointer)
    else { throw failure }
  }

  /// Forgets a statement that failed to be prepared.
  func forget(_ statement: PostgresStatement) { prepared.remove(statement.name) }

  /// Sends waiting bytes.
  ///
  /// - Returns: Whether all of them were sent; otherwise call it when the descriptor is writable.
  func flush() throws(PostgresError) -> Bool {
    switch cpostgres_flush(pointer) {
    case 0: return true
    case 1: return false
    default: throw failure
    }
  }

  /// Reads what the server has sent.
  func receive() throws(PostgresError) {
    guard cpostgres_consume(pointer) else { throw failure }
  }

  /// Whether the next result has not arrived yet.
  var isBusy: Bool { cpostgres_is_busy(pointer) }

  /// Returns the next result; `nil` at the end of the results of one statement.
  func nextResult() -> PostgresResult? {
    cpostgres_result(pointer).map { PostgresResult(adopting: $0) }
  }

  /// Returns the next notification; `nil` if there is none.
  func nextNotification() -> (channel: String, text: String)? {
    guard let notification = cpostgres_notification(pointer) else { return nil }
    defer { cpostgres_free(notification) }
    return (
      String(cString: notification.pointee.relname), String(cString: notification.pointee.extra)
    )
  }
}

/// A statement that a session prepares when it is first run.
struct PostgresStatement: Sendable {
  /// The name, unique in the program.
  let name: String
  let text: String
}

private func noticeReceived(_ owner: UnsafeMutableRawPointer?, _ notice: OpaquePointer?) {
  guard let owner else { return }
  let session = Unmanaged<PostgresSession>.fromOpaque(owner).takeUnretainedValue()
  session.onNotice(PostgresError(notice))
}
