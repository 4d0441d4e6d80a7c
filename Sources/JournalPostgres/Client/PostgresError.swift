internal import CPostgres

/// An error of a PostgreSQL server, or of the connection to it.
package struct PostgresError: Error, Equatable, Sendable {
  /// The SQLSTATE, see <https://www.postgresql.org/docs/15/errcodes-appendix.html>.
  ///
  /// Empty if the connection was lost, or was never made.
  package let code: String

  /// The first line of the message, without values of the journal and without passwords.
  package let message: String

  /// The function of the server that has sent it, which is the same in all languages.
  private let source: String

  package init(code: String = "", message: String, source: String = "") {
    (self.code, self.message, self.source) = (code, message, source)
  }

  /// Creates the error of a failed result or of a notice.
  init(_ result: OpaquePointer?) {
    func field(_ name: Character) -> String? {
      let code = name.asciiValue.map { CInt($0) } ?? 0
      return cpostgres_error_field(result, code).map { String(cString: $0) }
    }
    self.init(
      code: field("C") ?? "", message: field("M") ?? "the server gave no reason",
      source: field("R") ?? "")
  }

  /// Creates the error of a tool that refuses to go on.
  static func refused(_ message: String) -> PostgresError {
    PostgresError(code: PostgresSchema.Code.refused, message: message)
  }

  /// Creates the error of a connection, from libpq's message.
  ///
  /// If the server has refused the connection, its SQLSTATE is in the message, as in
  /// `FATAL:  28P01: password authentication failed`.
  static func lost(_ message: String) -> PostgresError {
    let line = message.split(whereSeparator: \.isNewline).first ?? "the connection was lost"
    let words = line.split(separator: " ", omittingEmptySubsequences: false)
    // The severity, which ends with a colon and may be in any language, then an empty word.
    let mark = words.indices.dropFirst(2).first { i in
      words[i].utf8.count == 6 && words[i].last == ":" && words[i - 1].isEmpty
        && words[i - 2].last == ":"
    }
    guard let mark else { return PostgresError(message: String(line)) }
    let text = words[(mark + 1)...].joined(separator: " ")
    var place = words[..<(mark - 2)]
    if place.last == "failed:" { place = place.dropLast() }
    return PostgresError(
      code: String(words[mark].dropLast()),
      message: place.isEmpty ? text : place.joined(separator: " ") + ": " + text)
  }
}

extension PostgresError {
  /// Whether the connection cannot be used any more.
  package var isLost: Bool { code.isEmpty || code.hasPrefix("08") || code.hasPrefix("57P") }

  /// Whether another attempt to connect with the same settings cannot succeed, because an
  /// administrator must change something first.
  ///
  /// 28: wrong user or password; 3D: no such database; 42: no right, or a missing table.
  package var isLasting: Bool { ["28", "3D", "42"].contains { code.hasPrefix($0) } }

  /// Whether the same statement may succeed a moment later on the same connection.
  ///
  /// 40: a deadlock or a conflict; 55: a lock, for example; 57014: somebody has cancelled it.
  var isTemporary: Bool { ["40", "55", "57014"].contains { code.hasPrefix($0) } }

  /// Whether another attempt to connect must wait longer: a right or a setting is wrong, or the
  /// server is full.
  var isSlow: Bool { isLasting || code.hasPrefix("53") }

  /// Whether a warning with a commit says that the server has not waited for its standbys.
  var isUnreplicatedCommit: Bool { source == "SyncRepWaitForLSN" }
}

extension PostgresError: CustomStringConvertible {
  package var description: String {
    code.isEmpty || code == PostgresSchema.Code.refused ? message : "\(message) (SQLSTATE \(code))"
  }
}
