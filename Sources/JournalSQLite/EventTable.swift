internal import JSON
internal import Journal

/// Writes the rows of the `event` table, inside the caller's transaction.
final class EventTable {
  private let insert: Statement
  private let delete: Statement
  private let crc = CRC32C()

  init(_ database: Database, _ table: String = "main.event") throws(SQLiteError) {
    insert = try Statement(
      """
      INSERT INTO \(table) (\(EventColumns.list))
      VALUES (\(EventColumns.all.map { _ in "?" }.joined(separator: ", ")))
      """, on: database)
    delete = try Statement("DELETE FROM \(table) WHERE seq BETWEEN ? AND ?", on: database)
  }

  func write(_ events: RecordBatch) throws(SQLiteError) {
    for i in 0..<events.count { try write(events[i]) }
  }

  private func write(_ row: RecordRow) throws(SQLiteError) {
    var place: CInt = 1
    for index in EventColumns.numbers.indices {
      insert.bind(row.number(index), at: place)
      place += 1
    }
    for index in EventColumns.texts.indices {
      insert.bind(inPlace: row.hasText(index) ? row.text(index).raw : nil, at: place)
      place += 1
    }
    insert.bind(Int64(crc.checksum(row.bytes.raw)), at: place)
    try insert.run()
  }

  func remove(_ run: ClosedRange<UInt64>) throws(SQLiteError) {
    delete.bind(Int64(run.lowerBound), at: 1)
    delete.bind(Int64(run.upperBound), at: 2)
    try delete.run()
  }
}
