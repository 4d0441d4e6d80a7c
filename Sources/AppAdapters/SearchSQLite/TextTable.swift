internal import Apps
internal import CSQLite

/// Texts in an in-memory SQLite database, found by their words
/// (<https://www.sqlite.org/fts5.html>).
///
/// Only one thread may use it.
final class TextTable {
  /// An SQLite call that failed.
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  private let pointer: OpaquePointer

  init() throws(Failure) {
    var pointer: OpaquePointer?
    let code = sqlite3_open_v2(
      ":memory:", &pointer, SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX, nil)
    guard code == SQLITE_OK, let pointer else {
      let message = pointer.map { String(cString: sqlite3_errmsg($0)) }
      sqlite3_close_v2(pointer)
      throw Failure(description: message ?? "SQLite \(code)")
    }
    self.pointer = pointer
    try run("CREATE TABLE names (n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE)")
    try run(
      "CREATE VIRTUAL TABLE texts USING fts5(text, tokenize = 'unicode61 remove_diacritics 2')")
  }

  deinit {
    sqlite3_close_v2(pointer)
  }

  /// Applies changes in one transaction.
  func apply(_ changes: [SearchChange]) throws(Failure) {
    try run("BEGIN")
    do throws(Failure) {
      for change in changes { try apply(change) }
      try run("COMMIT")
    } catch {
      try run("ROLLBACK")
      throw error
    }
  }

  private func apply(_ change: SearchChange) throws(Failure) {
    switch change {
    case .put(let text):
      try run("INSERT INTO names (id) VALUES (?1) ON CONFLICT DO NOTHING", [text.id])
      try run("DELETE FROM texts WHERE rowid = (SELECT n FROM names WHERE id = ?1)", [text.id])
      try run(
        "INSERT INTO texts (rowid, text) SELECT n, ?2 FROM names WHERE id = ?1",
        [text.id, text.text.withSeparateCharacters])
    case .remove(let id):
      try run("DELETE FROM texts WHERE rowid = (SELECT n FROM names WHERE id = ?1)", [id])
      try run("DELETE FROM names WHERE id = ?1", [id])
    case .removeAll(let id):
      // Ids from `id/` up to `id0` begin with `id/`, because 0 follows the slash in ASCII.
      let all = "id = ?1 OR id >= ?1 || '/' AND id < ?1 || '0'"
      try run("DELETE FROM texts WHERE rowid IN (SELECT n FROM names WHERE \(all))", [id])
      try run("DELETE FROM names WHERE \(all)", [id])
    }
  }

  /// Returns the texts that contain all words of a term, best match first.
  ///
  /// The last word can be incomplete. Each result has the id of a text and a snippet around the
  /// words.
  func find(_ term: String, limit: Int) throws(Failure) -> [SearchText] {
    guard let match = Self.match(term) else { return [] }
    let query = """
      SELECT id, snippet(texts, 0, '', '', '…', 24) FROM texts JOIN names ON n = texts.rowid
      WHERE texts MATCH ?1 ORDER BY rank, n LIMIT \(limit)
      """
    var found: [SearchText] = []
    try run(query, [match]) { found.append(SearchText(id: $0, text: $1.withoutSeparators)) }
    return found
  }

  /// Returns a term as an FTS5 query; `nil` if it contains no word.
  private static func match(_ term: String) -> String? {
    let words = term.split { !$0.isLetter && !$0.isNumber }
    // Within quotes, several table words form a phrase. A letter can contain a quote, for example
    // after a combining prefix; it is doubled within a string.
    let quoted = words.map { word in
      "\""
        + String(word).withSeparateCharacters.unicodeScalars.map {
          $0 == "\"" ? "\"\"" : String($0)
        }.joined() + "\""
    }
    return words.isEmpty ? nil : quoted.joined(separator: " ") + "*"
  }

  private func run(
    _ sql: String, _ texts: [String] = [], each row: (String, String) -> Void = { _, _ in }
  ) throws(Failure) {
    var statement: OpaquePointer?
    guard sqlite3_prepare_v2(pointer, sql, -1, &statement, nil) == SQLITE_OK else { throw failure }
    defer { sqlite3_finalize(statement) }
    for (i, text) in texts.enumerated() {
      // SQLITE_TRANSIENT, so that SQLite copies the text. Swift does not import this C cast.
      let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
      sqlite3_bind_text(statement, CInt(i + 1), text, CInt(text.utf8.count), transient)
    }
    while true {
      switch sqlite3_step(statement) {
      case SQLITE_ROW: row(column(0, of: statement), column(1, of: statement))
      case SQLITE_DONE: return
      default: throw failure
      }
    }
  }

  private func column(_ i: CInt, of statement: OpaquePointer?) -> String {
    sqlite3_column_text(statement, i).map { String(cString: $0) } ?? ""
  }

  private var failure: Failure { Failure(description: String(cString: sqlite3_errmsg(pointer))) }
}

// Some scripts have no spaces between words. For the table, each of their characters is a word, and
// a search finds its characters wherever they follow each other.
extension String {
  /// The zero-width space, put between characters and words.
  private static let separator: Character = "\u{200B}"

  /// The text with a separator on each side of characters of such scripts.
  var withSeparateCharacters: String {
    guard unicodeScalars.contains(where: \.isOfScriptWithoutSpaces) else { return self }
    var text = ""
    var wasSeparate = false
    for character in self {
      let isSeparate = character.unicodeScalars.first?.isOfScriptWithoutSpaces == true
      if (isSeparate || wasSeparate) && !text.isEmpty { text.append(Self.separator) }
      text.append(character)
      wasSeparate = isSeparate
    }
    return text
  }

  var withoutSeparators: String {
    contains(Self.separator) ? filter { $0 != Self.separator } : self
  }
}

extension Unicode.Scalar {
  fileprivate var isOfScriptWithoutSpaces: Bool {
    switch value {
    case 0x0E00..<0x0F00, 0x1000..<0x10A0, 0x1780..<0x1800: true  // Thai and Lao, Burmese, Khmer
    case 0x3040..<0x3100, 0x31F0..<0x3200, 0xFF66..<0xFFA0: true  // kana
    case 0x3005, 0x3400..<0x4DC0, 0x4E00..<0xA000, 0xF900..<0xFB00: true  // Han
    case 0x20000..<0x32000: true  // rare Han
    default: false
    }
  }
}
