internal import JSON
internal import Journal

/// Writes the rows of the `event` table, inside the caller's transaction.
final class EventTable {
  private let insert: Statement
  private let delete: Statement
  private let crc = CRC32C()

  init(_ database: Database) throws(SQLiteError) {
    insert = try Statement(
      """
      INSERT INTO event (seq, time, version, previous, stream, type, data, command, meta, crc)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """, on: database)
    delete = try Statement("DELETE FROM event WHERE seq BETWEEN ? AND ?", on: database)
  }

  func write(_ events: RecordBatch) throws(SQLiteError) {
    for i in 0..<events.count { try write(events[i]) }
  }

  private func write(_ row: RecordRow) throws(SQLiteError) {
    insert.bind(Int64(row.seq), at: 1)
    insert.bind(row.time, at: 2)
    insert.bind(Int64(row.version), at: 3)
    insert.bind(Int64(row.previous), at: 4)
    insert.bind(inPlace: row.stream.raw, at: 5)
    insert.bind(inPlace: row.type.raw, at: 6)
    insert.bind(inPlace: row.data.raw, at: 7)
    insert.bind(inPlace: row.hasCommand ? row.command.raw : nil, at: 8)
    insert.bind(inPlace: row.hasMeta ? row.meta.raw : nil, at: 9)
    insert.bind(Int64(crc.checksum(row.bytes.raw)), at: 10)
    try insert.run()
  }

  func remove(_ run: ClosedRange<UInt64>) throws(SQLiteError) {
    delete.bind(Int64(run.lowerBound), at: 1)
    delete.bind(Int64(run.upperBound), at: 2)
    try delete.run()
  }
}
