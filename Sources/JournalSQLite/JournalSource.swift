internal import CSQLite
package import Journal
package import Model

/// Reads a whole journal, consistent as of one moment, while a daemon may write it.
///
/// Most pages are read in separate transactions, so that the log can be reset. One transaction
/// covers the last events, the removals, the notes and the snapshots, so that they match.
package struct JournalSource: JournalOrigin {
  package let path: String
  private let files: OpenJournal

  private static let pageSize = 1000
  private static let pageBytes = 1 << 20

  /// The number of events to leave for the last transaction.
  private static let rest: UInt64 = 10_000

  /// - Throws: ``JournalError`` when the journal cannot be opened.
  package init(path: String) throws(JournalError) {
    self.path = path
    files = try OpenJournal(path: path, for: .checking)
  }

  package var name: String { path }

  /// The last position that a copy of rows may reach; later events belong to the last transaction.
  var lastOfRows: UInt64 { files.last - min(files.last, Self.rest) }

  /// The path under which SQLite attaches the file to another connection, which only reads it.
  var uri: String { Database.uri(path, files.isStill ? "immutable=1" : "mode=ro") }

  /// Returns the position of a moment.
  ///
  /// - Throws: ``JournalError`` if the journal does not hold the moment.
  package func position(of moment: JournalCut.Moment) throws(JournalError) -> UInt64 {
    switch moment {
    case .position(let seq):
      guard seq <= last, seq + 1 >= first else { throw .outOfRange(first: first, last: last) }
      return seq
    case .time(let time):
      let seq = try files.reader.position(at: time)
      guard seq >= first || last < first else {
        throw .unavailable(detail: "\(name) has no events that are so old")
      }
      return seq
    }
  }
  package var daemon: String { files.notes.daemon }
  package var epoch: String { files.epoch }
  package var first: UInt64 { files.first }
  package var last: UInt64 { files.last }

  package func read(
    after seq: UInt64, onPage: (UInt64) -> Void,
    _ body: (JournalPart) throws(JournalError) -> Void
  ) throws(JournalError) {
    var position = max(files.first - 1, seq)
    while position + Self.rest < files.last {
      guard let end = try page(after: position, body) else { break }
      position = end
      onPage(position)
    }
    let database = files.reader.database
    do throws(SQLiteError) {
      try files.showTail()
      try database.execute("BEGIN")
    } catch {
      throw .unavailable(detail: "\(path): \(error)")
    }
    defer { sqlite3_exec(database.pointer, "ROLLBACK", nil, nil, nil) }
    while let end = try page(after: position, body) { position = end }
    onPage(position)
    let removals: KnownRemovals
    let notes: [JournalNote: String]
    do throws(SQLiteError) {
      removals = try KnownRemovals(database)
      notes = try OpenJournal.notes(in: database)
    } catch {
      throw failure(error)
    }
    try body(.removals(removals))
    try body(.notes(notes))
    try readSnapshots(database, body)
    try files.checkIsStill()
  }

  private func failure(_ error: SQLiteError) -> JournalError {
    error.isCorrupt
      ? .corrupt(seq: 0, detail: error.message) : .unavailable(detail: "\(path): \(error)")
  }

  private func page(
    after seq: UInt64, _ body: (JournalPart) throws(JournalError) -> Void
  ) throws(JournalError) -> UInt64? {
    let records = try files.reader.records(
      after: seq, limit: Self.pageSize, bytes: Self.pageBytes)
    guard let last = records.last else { return nil }
    try body(.events(records))
    return last.seq
  }

  private func readSnapshots(
    _ database: Database, _ body: (JournalPart) throws(JournalError) -> Void
  ) throws(JournalError) {
    var found: [(service: String, seq: UInt64)] = []
    do throws(SQLiteError) {
      let rows = try Statement(
        "SELECT service, seq FROM snapshot WHERE part = 0 ORDER BY seq, service", on: database)
      while try rows.step() { found.append((rows.string(0), try rows.position(1))) }
    } catch {
      throw failure(error)
    }
    for (service, seq) in found {
      let snapshot = try files.reader.snapshot(of: service, upTo: seq)
      if let snapshot, snapshot.seq == seq { try body(.snapshot(snapshot)) }
    }
  }
}
