internal import Glibc
internal import Journal
internal import Model

/// The source of the events that are not in the database.
enum TailSource: Sendable {
  /// In the tail that this process writes.
  case process(Tail)
  /// In the files; see ``TailOnDisk``.
  case disk(isComplete: Bool)
}

/// The tail of a journal as its files have it, for a process that does not write it.
///
/// Another process may be writing it meanwhile.
struct TailOnDisk {
  private let path: String
  private let isComplete: Bool

  /// - Parameter isComplete: Whether the machine has not restarted since it was written.
  init(of path: String, isComplete: Bool) { (self.path, self.isComplete) = (path, isComplete) }

  /// Returns the events that the database does not have.
  func rest(besides database: Database) throws(SQLiteError) -> TailContents.Rest {
    guard let salt = try Schema.salt(in: database) else { return TailContents.Rest() }
    var rest = try read(database, salt)
    // A block that another process is writing may look damaged.
    for _ in 0..<Self.tries where rest.damage != nil {
      usleep(1_000)
      rest = try read(database, salt)
    }
    return rest
  }

  private static let tries = 20

  private func read(_ database: Database, _ salt: UInt64) throws(SQLiteError) -> TailContents.Rest {
    let contents: TailContents
    do throws(JournalError) {
      // Before the database: what is not in the files any more is in the database.
      contents = try TailContents(of: path)
    } catch {
      throw SQLiteError(call: "read", "\(error)")
    }
    let last = try database.integer("SELECT max(seq) FROM main.event") ?? 0
    return contents.rest(
      after: try SQLiteError.position(last), salt: salt, isComplete: isComplete)
  }

  /// Makes the table `event` of a connection have the events of the tail too, as of now.
  ///
  /// - Returns: The events that the database does not have.
  @discardableResult
  func show(in database: Database) throws(SQLiteError) -> TailContents.Rest {
    let rest = try rest(besides: database)
    let isShown = try database.integer("SELECT count(*) FROM temp.sqlite_schema") ?? 0 > 0
    guard isShown || !rest.batches.isEmpty else { return rest }
    // A temporary view hides the table. Events that the database has meanwhile come from there.
    if !isShown {
      let columns = EventColumns.list
      try database.execute(
        """
        PRAGMA temp_store = MEMORY;
        CREATE TEMP TABLE tail AS SELECT \(columns) FROM main.event WHERE 0;
        CREATE UNIQUE INDEX temp.tail_seq ON tail (seq);
        CREATE TEMP VIEW event AS
          SELECT \(columns) FROM main.event UNION ALL
          SELECT \(columns) FROM temp.tail
          WHERE seq > (SELECT ifnull(max(seq), 0) FROM main.event);
        """)
    }
    try database.execute("BEGIN; DELETE FROM temp.tail")
    let table = try EventTable(database, "temp.tail")
    for batch in rest.batches { try table.write(batch) }
    try database.execute("COMMIT")
    return rest
  }
}
