internal import EventLoop
internal import JSON
internal import Journal
internal import Model

/// Reads the journal on its own connection.
///
/// Each page is a separate statement. One long cursor would keep checkpoints from resetting the
/// write-ahead log.
final class SQLiteReader: JournalReader {
  let database: Database
  private let forward: Statement
  private let single: Statement
  private let edges: Statement
  private let moment: Statement
  private let removals: RemovalIndex?
  private var decoder = RecordDecoder()
  private let crc = CRC32C()

  /// The tail that this process writes, whose events may not be in the database yet.
  var tail: Tail?

  init(_ database: Database, _ tail: Tail? = nil) throws(SQLiteError) {
    self.database = database
    self.tail = tail
    let columns = EventColumns.list
    forward = try Statement(
      "SELECT \(columns) FROM event WHERE seq > ? ORDER BY seq LIMIT ?", on: database)
    single = try Statement("SELECT \(columns) FROM event WHERE seq = ?", on: database)
    edges = try Statement(
      """
      SELECT (SELECT seq FROM event ORDER BY seq LIMIT 1),
        (SELECT seq FROM event ORDER BY seq DESC LIMIT 1)
      """, on: database)
    moment = try Statement(
      "SELECT seq, time FROM event WHERE seq >= ? ORDER BY seq LIMIT 1", on: database)
    removals = try RemovalIndex(database)
  }

  // MARK: Events

  func records(after seq: UInt64, limit: Int) throws(JournalError) -> [Record] {
    try records(after: seq, limit: limit, bytes: .max)
  }

  /// Returns records after a position, oldest first, like ``records(after:limit:)``.
  ///
  /// - Parameter bytes: The size of the rows at which reading stops.
  func records(
    after seq: UInt64, limit: Int, bytes: Int
  ) throws(JournalError) -> [Record] {
    var records: [Record] = []
    let rows = RecordBatch()
    _ = try read(after: seq, limit: limit, bytes: bytes, into: rows) {
      records.append(decoder.record(rows[0]))
      // The memory need not grow with the number of records.
      rows.removeAll(keepingCapacity: .max)
    }
    return records
  }

  /// Returns the rows after a position, like ``records(after:limit:bytes:)``.
  func page(
    after seq: UInt64, limit: Int, bytes: Int
  ) throws(JournalError) -> RecordBatch {
    let rows = RecordBatch()
    try read(after: seq, limit: limit, bytes: bytes, into: rows) {}
    return rows
  }

  /// Reads rows after a position.
  ///
  /// - Parameter onRow: Called after each.
  private func read(
    after seq: UInt64, limit: Int, bytes: Int, into rows: RecordBatch, _ onRow: () -> Void
  ) throws(JournalError) {
    guard seq < Int64.max else { return }
    // Read first: what is not pending any more is in the database.
    let pending = tail?.pending ?? []
    var expected = seq + 1
    var (count, size) = (0, 0)
    do throws(SQLiteError) {
      defer { forward.reset() }
      forward.bind(Int64(clamping: seq), at: 1)
      forward.bind(Int64(limit), at: 2)
      while size < bytes, try forward.step() {
        let before = rows.byteCount
        guard let found = load(forward, into: rows) else { throw SQLiteReader.damaged }
        guard try isNext(found, expected) else {
          rows.removeLast(1)
          throw SQLiteReader.damaged
        }
        expected = found + 1
        size += rows.byteCount - before
        count += 1
        onRow()
      }
      for batch in pending where batch.last >= expected {
        for i in 0..<batch.count where batch[i].seq >= expected {
          guard count < limit, size < bytes else { return }
          guard batch[i].seq == expected else { throw SQLiteReader.damaged }
          rows.append(batch[i])
          expected += 1
          size += batch[i].bytes.count
          count += 1
          onRow()
        }
      }
    } catch {
      // Return the rows before the damage now; the next call throws.
      if size == 0 { throw journalError(error, at: expected) }
    }
  }

  /// Returns whether a position is the next one: all positions skipped must have been removed.
  private func isNext(_ seq: UInt64, _ expected: UInt64) throws(SQLiteError) -> Bool {
    if seq == expected { return true }
    // A repeated row: a page is in the wrong place.
    guard seq > expected else { return false }
    // A journal of an older format records no removals; its beginning may have been removed.
    guard let removals else {
      return try SQLiteError.position(database.integer(Self.oldest) ?? 0) == seq
    }
    return try removals.explains(Int64(clamping: expected)...Int64(clamping: seq - 1))
  }

  private static let oldest = "SELECT min(seq) FROM event"

  /// Returns the first retained position; 1 if there is none.
  func firstPosition() throws(SQLiteError) -> UInt64 {
    if let removals { return UInt64(try removals.firstPosition()) }
    return try SQLiteError.position(database.integer(Self.oldest) ?? 1)
  }

  /// Counts the removed events after the first position, and finds other missing events.
  func checkRemovals() throws(SQLiteError) -> (count: UInt64, damages: [String]) {
    guard let removals else { return (0, []) }
    return try removals.check(on: database)
  }

  func lastRemoval(of service: String, upTo seq: UInt64) throws(JournalError) -> UInt64 {
    do throws(SQLiteError) {
      return try SQLiteError.position(
        removals?.lastRemoval(of: service, upTo: Int64(clamping: seq)) ?? 0)
    } catch {
      throw journalError(error, at: 0)
    }
  }

  func records(
    ofStream stream: String, from seq: UInt64, limit: Int
  ) throws(JournalError) -> [Record] {
    var records: [Record] = []
    var next = seq
    while next > 0, records.count < limit {
      guard let record = try record(at: next), record.stream == stream else { break }
      records.append(record)
      next = record.previous
    }
    return records
  }

  /// Returns the record at a position; `nil` if it was removed.
  private func record(at seq: UInt64) throws(JournalError) -> Record? {
    let pending = tail?.pending ?? []
    do throws(SQLiteError) {
      defer { single.reset() }
      single.bind(Int64(clamping: seq), at: 1)
      guard try single.step() else {
        guard let batch = pending.first(where: { $0.last >= seq }), batch.first <= seq else {
          return nil
        }
        return decoder.record(batch[Int(seq - batch.first)])
      }
      let rows = RecordBatch()
      guard load(single, into: rows) != nil else { throw SQLiteReader.damaged }
      return decoder.record(rows[0])
    } catch {
      throw journalError(error, at: seq)
    }
  }

  /// Appends the current row and returns its position.
  ///
  /// Returns `nil` and appends nothing if its checksum does not match.
  private func load(_ statement: Statement, into rows: RecordBatch) -> UInt64? {
    rows.begin { statement.int64(CInt($0)) }
    var column = CInt(EventColumns.numbers.count)
    for _ in EventColumns.texts {
      if let text = statement.bytes(column) {
        rows.append(text.bindMemory(to: UInt8.self).span)
      } else {
        rows.appendNone()
      }
      column += 1
    }
    let row = rows[rows.count - 1]
    let (seq, checksum) = (row.seq, Int64(crc.checksum(row.bytes.raw)))
    guard checksum == statement.int64(column) else {
      rows.removeLast(1)
      return nil
    }
    return seq
  }

  func bounds() throws(JournalError) -> (first: UInt64, last: UInt64) {
    let pending = tail?.pending ?? []
    do throws(SQLiteError) {
      defer { edges.reset() }
      guard try edges.step() else { return (1, 0) }
      let last = try edges.position(1)
      return (
        last == 0 ? pending.first?.first ?? 1 : try edges.position(0),
        max(last, pending.last?.last ?? 0)
      )
    } catch {
      throw journalError(error, at: 0)
    }
  }

  func position(at time: Int64) throws(JournalError) -> UInt64 {
    // Binary search, because times never decrease.
    let bounds = try bounds()
    var (low, high) = (bounds.first, bounds.last + 1)
    while low < high {
      let middle = low + (high - low) / 2
      if let found = try self.moment(from: middle), found.seq < high, found.time <= time {
        low = found.seq + 1
      } else {
        high = middle
      }
    }
    return low - 1
  }

  /// Returns the first retained event at or after a position.
  private func moment(from seq: UInt64) throws(JournalError) -> (seq: UInt64, time: Int64)? {
    let pending = tail?.pending ?? []
    do throws(SQLiteError) {
      defer { moment.reset() }
      moment.bind(Int64(clamping: seq), at: 1)
      guard try moment.step() else {
        guard let batch = pending.first(where: { $0.last >= seq }) else { return nil }
        let row = batch[Int(max(seq, batch.first) - batch.first)]
        return (row.seq, row.time)
      }
      let found = try moment.position(0)
      guard found >= seq else { throw Self.damaged }
      return (found, moment.int64(1))
    } catch {
      throw journalError(error, at: seq)
    }
  }

  // MARK: Snapshots

  func snapshot(of service: String, upTo seq: UInt64) throws(JournalError) -> Snapshot? {
    do throws(SQLiteError) {
      let candidates = try Statement(
        """
        SELECT seq, parts, schema FROM snapshot
        WHERE +service = ? AND seq <= ? AND part = 0 ORDER BY seq DESC
        """, on: database)
      candidates.bind(service, at: 1)
      candidates.bind(Int64(clamping: seq), at: 2)
      while try candidates.step() {
        let at = candidates.int64(0)
        guard let data = try parts(of: service, at: at, count: Int(candidates.int64(1))) else {
          continue
        }
        return Snapshot(
          service: service, seq: try SQLiteError.position(at), schema: Int(candidates.int64(2)),
          data: data)
      }
      return nil
    } catch {
      throw journalError(error, at: seq)
    }
  }

  /// Joins the parts of a snapshot; returns `nil` if one is missing or damaged.
  private func parts(
    of service: String, at seq: Int64, count: Int
  ) throws(SQLiteError) -> String? {
    let select = try Statement(
      """
      SELECT part, data, crc FROM snapshot
      WHERE +service = ? AND seq = ? ORDER BY service, seq, part
      """, on: database)
    select.bind(service, at: 1)
    select.bind(seq, at: 2)
    let capacity = min(max(count, 1), Self.maxParts) * SnapshotTable.partSize
    var (expected, failure): (Int64, SQLiteError?) = (0, nil)
    // Straight into the string, because a snapshot may be large.
    let data = String(unsafeUninitializedCapacity: capacity) { bytes in
      do throws(SQLiteError) {
        let crc = CRC32C()
        var size = 0
        while try select.step() {
          guard select.int64(0) == expected, let part = select.bytes(1),
            part.count <= capacity - size, Int64(crc.checksum(part)) == select.int64(2)
          else {
            expected = -1
            break
          }
          UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(bytes)[size...])
            .copyMemory(from: part)
          (size, expected) = (size + part.count, expected + 1)
        }
        return size
      } catch {
        failure = error
        return 0
      }
    }
    if let failure { throw failure }
    return expected == count ? data : nil
  }

  /// The greatest number of parts of a snapshot: 4 GiB.
  private static let maxParts = 16 * 1024

  // MARK: Errors

  /// The error for a row that is missing or whose checksum does not match.
  private static let damaged = SQLiteError(damage: "its checksum does not match, or it is missing")

  private func journalError(_ error: SQLiteError, at seq: UInt64) -> JournalError {
    if error.isNoSpace { return error.refusal }
    return error.isCorrupt
      ? .corrupt(seq: seq, detail: error.message) : .unavailable(detail: "\(error)")
  }
}

/// A factory for readers: if opening fails, every reading throws the error.
enum FailingReader {
  static func open(_ path: String, _ tail: TailSource) -> any JournalReader {
    do throws(JournalError) {
      return try OpenJournal.openReader(path, tail)
    } catch {
      return Closed(error: error)
    }
  }

  private struct Closed: JournalReader {
    let error: JournalError

    func records(after seq: UInt64, limit: Int) throws(JournalError) -> [Record] { throw error }
    func records(
      ofStream stream: String, from seq: UInt64, limit: Int
    ) throws(JournalError) -> [Record] { throw error }
    func snapshot(of service: String, upTo seq: UInt64) throws(JournalError) -> Snapshot? {
      throw error
    }
    func position(at time: Int64) throws(JournalError) -> UInt64 { throw error }
    func bounds() throws(JournalError) -> (first: UInt64, last: UInt64) { throw error }
    func lastRemoval(of service: String, upTo seq: UInt64) throws(JournalError) -> UInt64 {
      throw error
    }
  }
}
