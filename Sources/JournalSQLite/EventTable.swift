internal import JSON
internal import Journal

/// Writes the rows of the `event` table, inside the caller's transaction.
final class EventTable {
  private let insert: Statement

  /// Inserts ``rows`` rows: a statement costs a third of the work.
  private let insertMany: Statement
  private let delete: Statement
  private let crc = CRC32C()

  private static let rows = 16

  init(_ database: Database, _ table: String = "main.event") throws(SQLiteError) {
    let row = "(" + EventColumns.all.map { _ in "?" }.joined(separator: ", ") + ")"
    let start = "INSERT INTO \(table) (\(EventColumns.list)) VALUES "
    insert = try Statement(start + row, on: database)
    insertMany = try Statement(
      start + Array(repeating: row, count: Self.rows).joined(separator: ", "), on: database)
    delete = try Statement("DELETE FROM \(table) WHERE seq BETWEEN ? AND ?", on: database)
  }

  func write(_ events: RecordBatch) throws(SQLiteError) {
    var i = 0
    while events.count - i >= Self.rows {
      for row in 0..<Self.rows { bind(events[i + row], to: insertMany, row) }
      try insertMany.run()
      i += Self.rows
    }
    for i in i..<events.count {
      bind(events[i], to: insert, 0)
      try insert.run()
    }
  }

  /// Binds an event to the parameters of a row of a statement.
  private func bind(_ event: RecordRow, to statement: Statement, _ row: Int) {
    var place = CInt(row * EventColumns.all.count + 1)
    for index in EventColumns.numbers.indices {
      statement.bind(event.number(index), at: place)
      place += 1
    }
    for index in EventColumns.texts.indices {
      statement.bind(inPlace: event.hasText(index) ? event.text(index).raw : nil, at: place)
      place += 1
    }
    statement.bind(Int64(crc.checksum(event.bytes.raw)), at: place)
  }

  func remove(_ run: ClosedRange<UInt64>) throws(SQLiteError) {
    delete.bind(Int64(run.lowerBound), at: 1)
    delete.bind(Int64(run.upperBound), at: 2)
    try delete.run()
  }
}
