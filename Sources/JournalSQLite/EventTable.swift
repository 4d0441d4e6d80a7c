internal import Journal

/// Writes the rows of the `event` table, inside the caller's transaction.
final class EventTable {
  private let insert: Statement
  private let delete: Statement
  private var row = RowBuffer()

  init(_ database: Database) throws(SQLiteError) {
    insert = try Statement(
      """
      INSERT INTO event (seq, time, version, previous, stream, type, data, command, meta, crc)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """, on: database)
    delete = try Statement("DELETE FROM event WHERE seq BETWEEN ? AND ?", on: database)
  }

  func write(_ record: Record) throws(SQLiteError) {
    row.begin(
      seq: record.seq, time: record.time, version: record.version, previous: record.previous)
    let stream = row.append(record.stream)
    let type = row.append(record.type)
    let data = row.append(record.data)
    let command = row.append(record.command)
    let meta = row.append(record.meta)
    insert.bind(Int64(record.seq), at: 1)
    insert.bind(record.time, at: 2)
    insert.bind(Int64(record.version), at: 3)
    insert.bind(Int64(record.previous), at: 4)
    insert.bind(inPlace: row[stream], at: 5)
    insert.bind(inPlace: row[type], at: 6)
    insert.bind(inPlace: row[data], at: 7)
    insert.bind(inPlace: row[command], at: 8)
    insert.bind(inPlace: row[meta], at: 9)
    insert.bind(row.checksum, at: 10)
    try insert.run()
  }

  func remove(_ run: ClosedRange<UInt64>) throws(SQLiteError) {
    delete.bind(Int64(run.lowerBound), at: 1)
    delete.bind(Int64(run.upperBound), at: 2)
    try delete.run()
  }
}
