internal import Facts
internal import Journal
internal import JournalStores

/// Makes records from the rows of the table `event`, and rows from records.
struct EventRows: ~Copyable {
  private var rows = RowBuffer()
  private var decoder = RowDecoder()

  init() {}

  /// Returns the records of a result, oldest first, up to the first damaged row.
  ///
  /// - Returns: The records, and the position of the damage if there is any.
  mutating func records(_ result: PostgresResult) -> (records: [Record], damaged: UInt64?) {
    var records: [Record] = []
    records.reserveCapacity(result.count)
    for row in 0..<result.count {
      guard let record = record(result, row) else {
        return (records, UInt64(clamping: result.integer(row, 0)))
      }
      records.append(record)
    }
    return (records, nil)
  }

  /// Returns the record of a row; `nil` if its checksum does not match.
  private mutating func record(_ result: PostgresResult, _ row: Int) -> Record? {
    rows.removeAll()
    rows.begin(
      seq: UInt64(bitPattern: result.integer(row, 0)), time: result.integer(row, 1),
      version: UInt64(bitPattern: result.integer(row, 2)),
      previous: UInt64(bitPattern: result.integer(row, 3)))
    for column in 4...8 { _ = rows.append(result.bytes(row, column)) }
    guard rows.checksum == result.integer(row, 9) else { return nil }
    var offset = 0
    return decoder.record(rows.last, at: &offset)
  }

  /// Returns the checksum of a record.
  mutating func checksum(_ record: Record) -> Int64 {
    rows.removeAll()
    rows.begin(
      seq: record.seq, time: record.time, version: record.version, previous: record.previous)
    _ = rows.append(record.stream)
    _ = rows.append(record.type)
    _ = rows.append(record.data)
    _ = rows.append(record.command)
    _ = rows.append(record.meta)
    return rows.checksum
  }

  /// Adds the columns of records as arrays, without their positions, which are contiguous.
  mutating func add(_ records: [Record], to parameters: inout PostgresParameters) {
    parameters.reserve(records.reduce(0) { $0 + $1.size + 128 })
    parameters.add(records.map(\.time))
    parameters.add(records.map { Int64(clamping: $0.version) })
    parameters.add(records.map { Int64(clamping: $0.previous) })
    parameters.add(records.map { $0.stream as String? })
    parameters.add(records.map { $0.type as String? })
    parameters.add(records.map { $0.data as String? })
    parameters.add(records.map(\.command))
    parameters.add(records.map(\.meta))
    var checksums: [Int64] = []
    for record in records { checksums.append(checksum(record)) }
    parameters.add(checksums)
  }
}
