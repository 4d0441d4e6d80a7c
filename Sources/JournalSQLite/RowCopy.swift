internal import CSQLite
internal import EventLoop
internal import Glibc
internal import Journal
package import Model

extension JournalSource {
  /// Copies the events up to a position into a new journal, without looking into them; the last ones of
  /// the journal are left for ``read(after:onPage:_:)``.
  ///
  /// A damaged event is damaged in the copy too.
  ///
  /// - Parameters:
  ///   - end: The last position; `nil` for all events.
  ///   - onStep: Called with the last position after each step, to show progress and to pause; returns
  ///     whether to go on. If not, another call goes on.
  /// - Returns: The position after which ``read(after:onPage:_:)`` passes on what is left.
  package func copyRows(
    into builder: JournalBuilder, upTo end: UInt64?, onStep: (UInt64) -> Bool
  ) throws(JournalError) -> UInt64 {
    let copied = try builder.copyRows(
      of: uri, upTo: min(end ?? .max, lastOfRows), onStep: onStep)
    return copied == end ? last : copied
  }
}

extension JournalBuilder {
  /// The number of rows that are copied at once: the work of half a millisecond.
  private static let rowsAtOnce = 500

  /// The number of steps after which the disk is given the pages, so that others never wait for many.
  private static let stepsBeforeWriting = 16

  /// Copies the events of another file up to a position, without looking into them.
  ///
  /// Reads in short transactions, as ``JournalSource/read(after:onPage:_:)`` does. Events that only
  /// the tail of the other journal has are not copied.
  ///
  /// - Parameters:
  ///   - uri: The other file, as SQLite attaches it.
  ///   - end: The last position.
  ///   - onStep: Called with the last position after each step; returns whether to go on.
  /// - Returns: The position after which events are left to copy; `end` if there are none up to it.
  fileprivate func copyRows(
    of uri: String, upTo end: UInt64, onStep: (UInt64) -> Bool
  ) throws(JournalError) -> UInt64 {
    guard let database else { preconditionFailure("added to a journal that is finished") }
    let file = open(partial, O_RDONLY | O_CLOEXEC)
    defer { if file >= 0 { _ = close(file) } }
    var position: UInt64 = 0
    do throws(SQLiteError) {
      let attach = try Statement("ATTACH ? AS origin", on: database)
      attach.bind(uri, at: 1)
      try attach.run()
      defer { sqlite3_exec(database.pointer, "DETACH origin", nil, nil, nil) }
      let columns = EventColumns.list
      let copy = try Statement(
        """
        INSERT INTO main.event (\(columns)) SELECT \(columns) FROM origin.event
        WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT \(Self.rowsAtOnce)
        """, on: database)
      position = try lastPosition(database)
      var steps = 0
      while position < end {
        copy.bind(Int64(clamping: position), at: 1)
        copy.bind(Int64(clamping: end), at: 2)
        try copy.run()
        let copied = Int(sqlite3_changes64(database.pointer))
        guard copied > 0 else { break }
        count += copied
        position = try lastPosition(database)
        steps += 1
        if steps.isMultiple(of: Self.stepsBeforeWriting) { Process.beginWriting(file) }
        guard onStep(position) else { return position }
      }
      let last = try database.integer("SELECT max(seq) FROM origin.event") ?? 0
      return try SQLiteError.position(last) >= end ? end : position
    } catch {
      throw error.isCorrupt
        ? .corrupt(seq: position + 1, detail: error.message)
        : error.isNoSpace ? error.refusal : .unavailable(detail: "\(partial): \(error)")
    }
  }

  private func lastPosition(_ database: Database) throws(SQLiteError) -> UInt64 {
    try SQLiteError.position(database.integer("SELECT max(seq) FROM main.event") ?? 0)
  }
}
