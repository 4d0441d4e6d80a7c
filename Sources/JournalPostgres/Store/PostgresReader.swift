internal import EventLoop
internal import Glibc
internal import Journal
internal import Model

/// Reads the journal on a connection of its own, and makes another when it was lost.
///
/// It waits for the server, so it belongs to a thread that may wait. It reads only from a server
/// that takes writes: a standby may show events that a failover takes back.
final class PostgresReader: JournalReader {
  /// The time for which it tries to reach a server, in milliseconds.
  private let patienceMilliseconds: UInt64
  private let string: ConnectionString

  /// Whether it reads for clients, which may ask again when the server is back.
  private let isServing: Bool
  private var session: PostgresThreadSession?
  private let rows = EventRows()

  /// Whether the last failure may pass by itself.
  private var mayRetry = false

  /// The last range of removed events found, because gaps are usually close together.
  private var known: ClosedRange<UInt64>?

  /// The size of a page, in bytes.
  private static let pageBytes: Int64 = 1 << 20

  init(
    _ string: ConnectionString, isServing: Bool = false, patienceMilliseconds: UInt64 = 10_000
  ) {
    (self.string, self.isServing) = (string, isServing)
    self.patienceMilliseconds = patienceMilliseconds
  }

  // MARK: Connection

  /// Runs a statement; repeats it on another connection if the connection was lost.
  func run(
    _ statement: PostgresStatement, _ add: (inout PostgresParameters) -> Void = { _ in }
  ) throws(JournalError) -> PostgresResult {
    var parameters = PostgresParameters()
    add(&parameters)
    let end = Process.milliseconds + patienceMilliseconds
    while true {
      do throws(JournalError) {
        return try once(statement, parameters)
      } catch {
        guard session == nil, mayRetry, Process.milliseconds < end else { throw error }
        usleep(100_000)
      }
    }
  }

  private func once(
    _ statement: PostgresStatement, _ parameters: PostgresParameters
  ) throws(JournalError) -> PostgresResult {
    let session: PostgresThreadSession
    do throws(PostgresDialer.Failure) {
      if let open = self.session { session = open } else { session = try .init(string) }
    } catch {
      mayRetry = !error.isLasting
      throw failure("\(error)")
    }
    self.session = session
    do throws(PostgresError) {
      return try session.run(statement, parameters)
    } catch {
      mayRetry = error.isLost
      if error.isLost { self.session = nil }
      throw failure("\(error)")
    }
  }

  private func failure(_ reason: String) -> JournalError {
    isServing && mayRetry
      ? .databaseAway : .unavailable(detail: "\(string): \(reason)")
  }

  // MARK: Events

  func records(after seq: UInt64, limit: Int) throws(JournalError) -> [Record] {
    var records: [Record] = []
    // A page also ends where its bytes do.
    while records.count < limit {
      let page = try self.page(after: records.last?.seq ?? seq, limit: limit - records.count)
      if page.isEmpty { break }
      records += page.records
    }
    return records
  }

  /// Returns events after a position, at most `limit` and about a megabyte; none only at the end.
  func page(after seq: UInt64, limit: Int) throws(JournalError) -> RecordBatch {
    guard seq < Int64.max else { return RecordBatch() }
    let result = try run(.events) {
      $0.add(seq)
      $0.add(Int64(limit))
      $0.add(Self.pageBytes)
    }
    let (events, damaged) = rows.events(result)
    var expected = seq + 1
    for i in 0..<events.count {
      let found = events[i].seq
      if found != expected, try !isRemoved(expected...max(expected, found - 1)) {
        guard i > 0 else { throw .corrupt(seq: expected, detail: Self.damage) }
        events.removeLast(events.count - i)
        return events
      }
      expected = found + 1
    }
    // The events before the damage now; the next call throws.
    if let damaged, events.isEmpty { throw .corrupt(seq: damaged, detail: Self.damage) }
    return events
  }

  private static let damage = "its checksum does not match, or it is missing"

  /// Returns whether all positions of a range were removed.
  func isRemoved(_ range: ClosedRange<UInt64>) throws(JournalError) -> Bool {
    if let known, known.contains(range.lowerBound), known.contains(range.upperBound) { return true }
    let first = try number(ofKey: "first") ?? 1
    var position = max(range.lowerBound, first)
    guard position <= range.upperBound else { return true }
    let result = try run(.removals) {
      $0.add(position)
      $0.add(range.upperBound)
    }
    for row in 0..<result.count {
      let last = UInt64(clamping: result.integer(row, 1))
      let found = UInt64(clamping: result.integer(row, 0))...last
      guard found.lowerBound <= position else { return false }
      known = found
      position = max(position, found.upperBound + 1)
    }
    return position > range.upperBound
  }

  func records(
    ofStream stream: String, from seq: UInt64, limit: Int
  ) throws(JournalError) -> [Record] {
    guard seq > 0, limit > 0 else { return [] }
    let result = try run(.stream) {
      $0.add(seq)
      $0.add(stream)
      $0.add(Int64(limit))
    }
    let (events, damaged) = rows.events(result)
    if let damaged { throw .corrupt(seq: damaged, detail: Self.damage) }
    return events.records
  }

  func bounds() throws(JournalError) -> (first: UInt64, last: UInt64) {
    let result = try run(.bounds)
    let last = UInt64(clamping: result.integer(0, 1))
    return (last == 0 ? 1 : UInt64(clamping: result.integer(0, 0)), last)
  }

  func position(at time: Int64) throws(JournalError) -> UInt64 {
    // Binary search, because times never decrease.
    let bounds = try bounds()
    var (low, high) = (bounds.first, bounds.last + 1)
    while low < high {
      let middle = low + (high - low) / 2
      let result = try run(.moment) { $0.add(middle) }
      if !result.isEmpty, case let seq = UInt64(clamping: result.integer(0, 0)), seq < high,
        result.integer(0, 1) <= time
      {
        low = seq + 1
      } else {
        high = middle
      }
    }
    return low - 1
  }

  // MARK: Values and snapshots

  /// Returns a value of the table `journal`; `nil` if there is none.
  func value(ofKey key: String) throws(JournalError) -> String? {
    let result = try run(.value) { $0.add(key) }
    return result.isEmpty ? nil : result.text(0, 0)
  }

  private func number(ofKey key: String) throws(JournalError) -> UInt64? {
    try value(ofKey: key).flatMap { UInt64($0) }
  }

  func lastRemoval(of service: String, upTo seq: UInt64) throws(JournalError) -> UInt64 {
    guard let newest = try number(ofKey: RemovalKey.text(service)) else { return 0 }
    if newest <= seq { return newest }
    let result = try run(.removedOf) {
      $0.add(seq)
      $0.add(" \(service) ")
    }
    let before = try (number(ofKey: "first") ?? 1) - 1
    let within = result.isEmpty ? 0 : min(UInt64(clamping: result.integer(0, 0)), seq)
    return max(min(before, seq), within)
  }

  func snapshot(of service: String, upTo seq: UInt64) throws(JournalError) -> Snapshot? {
    let candidates = try run(.snapshots) {
      $0.add(service)
      $0.add(seq)
    }
    for row in 0..<candidates.count {
      let at = UInt64(clamping: candidates.integer(row, 0))
      let count = candidates.integer(row, 1)
      guard let data = try parts(of: service, at: at, count: count) else { continue }
      return Snapshot(
        service: service, seq: at, schema: Int(candidates.integer(row, 2)), data: data)
    }
    return nil
  }

  /// Joins the parts of a snapshot; returns `nil` if one is missing or damaged.
  private func parts(
    of service: String, at seq: UInt64, count: Int64
  ) throws(JournalError) -> String? {
    let result = try run(.parts) {
      $0.add(service)
      $0.add(seq)
    }
    return Self.join(result, count: count)
  }

  /// Joins the parts of a snapshot.
  static func join(_ result: PostgresResult, count: Int64) -> String? {
    guard result.count == count else { return nil }
    let crc = CRC32C()
    var bytes: [UInt8] = []
    for row in 0..<result.count {
      guard result.integer(row, 0) == row, let part = result.bytes(row, 1),
        Int64(crc.checksum(part)) == result.integer(row, 2)
      else { return nil }
      bytes += part
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
