internal import CSQLite
internal import Journal
package import Model

/// SQL on a journal, which sees the events of its tail too.
///
/// A daemon may write the journal meanwhile.
package struct JournalQuery {
  private let files: OpenJournal
  private let path: String

  package var epoch: String { files.epoch }

  /// - Throws: ``JournalError`` when the journal cannot be opened.
  package init(path: String) throws(JournalError) {
    self.path = path
    files = try OpenJournal(path: path, for: .checking)
  }

  /// Runs one statement, which must not change anything.
  ///
  /// - Parameter onRow: Called with the columns of each row as text; `nil` is NULL.
  package func run(
    _ sql: String, onRow: ([String?]) throws(JournalError) -> Void
  ) throws(JournalError) {
    let statement: Statement
    do throws(SQLiteError) {
      try files.reader.database.execute("PRAGMA query_only = ON")
      statement = try Statement(sql, on: files.reader.database)
    } catch {
      throw .unavailable(detail: "\(path): \(error.message)")
    }
    guard statement.isReadOnly, statement.columnCount > 0 else {
      throw .unavailable(detail: "\(path): only statements that read are allowed, such as SELECT")
    }
    while true {
      let hasRow: Bool
      do throws(SQLiteError) {
        hasRow = try statement.step()
      } catch {
        throw .unavailable(detail: "\(path): \(error.message)")
      }
      guard hasRow else { return try files.checkIsStill() }
      try onRow(
        (0..<statement.columnCount).map { column in
          statement.bytes(column).map { String(decoding: $0, as: UTF8.self) }
        })
    }
  }
}
