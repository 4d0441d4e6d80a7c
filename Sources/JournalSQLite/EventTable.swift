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
    row.removeAll()
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

/// The bytes of records in the `event` table, one after the other, and their checksums.
///
/// A checksum covers the content of a record, not its storage in SQLite. It covers `seq`, `time`,
/// `version`, `previous` as eight bytes each, little-endian. Then follow `stream`, `type`, `data`,
/// `command`, `meta`, each as its length in four bytes (0xFFFFFFFF for NULL) and its UTF-8.
struct RowBuffer: ~Copyable {
  private var bytes: UnsafeMutableRawBufferPointer
  private var count = 0

  /// The start of the last record.
  private var start = 0
  private let crc = CRC32C()

  init() {
    bytes = .allocate(byteCount: 4096, alignment: 16)
  }

  deinit {
    bytes.deallocate()
  }

  /// The range of one text in the buffer; `nil` is NULL.
  typealias Field = Range<Int>?

  /// Begins the next record.
  mutating func begin(seq: UInt64, time: Int64, version: UInt64, previous: UInt64) {
    start = count
    append(seq.littleEndian)
    append(time.littleEndian)
    append(version.littleEndian)
    append(previous.littleEndian)
  }

  /// Appends a text and returns its range.
  mutating func append(_ text: String?) -> Field {
    guard var text else {
      append(UInt32.max)
      return nil
    }
    return text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
  }

  mutating func append(_ text: UnsafeRawBufferPointer?) -> Field {
    guard let text else {
      append(UInt32.max)
      return nil
    }
    append(UInt32(text.count).littleEndian)
    reserve(text.count)
    let start = count
    UnsafeMutableRawBufferPointer(rebasing: bytes[start...]).copyMemory(from: text)
    count += text.count
    return start..<count
  }

  /// The checksum of the last record.
  var checksum: Int64 { Int64(crc.checksum(last)) }

  /// The bytes of the last record, valid until the next change.
  var last: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[start..<count]) }

  /// The bytes of all records, valid until the next change.
  var all: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[..<count]) }

  /// Removes the last record.
  mutating func removeLast() { count = start }

  mutating func removeAll() { (count, start) = (0, 0) }

  /// The bytes of a field, valid until the next change.
  subscript(field: Field) -> UnsafeRawBufferPointer? {
    field.map { UnsafeRawBufferPointer(rebasing: bytes[$0]) }
  }

  private mutating func append(_ number: some FixedWidthInteger) {
    reserve(8)
    bytes.storeBytes(of: number, toByteOffset: count, as: type(of: number))
    count += number.bitWidth / 8
  }

  private mutating func reserve(_ extra: Int) {
    guard count + extra > bytes.count else { return }
    let larger = UnsafeMutableRawBufferPointer.allocate(
      byteCount: max(2 * bytes.count, count + extra), alignment: 16)
    larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<count]))
    bytes.deallocate()
    bytes = larger
  }
}
