internal import Journal

/// Writes the rows of the `snapshot` table, one part at a time, so that commits wait only briefly.
final class SnapshotTable {
  /// The size of a part in bytes.
  static let partSize = 256 * 1024

  private let database: Database
  private let insert: Statement
  private let delete: Statement
  private let crc = CRC32C()

  init(_ database: Database) throws(SQLiteError) {
    self.database = database
    insert = try Statement(
      "INSERT OR REPLACE INTO snapshot VALUES (?, ?, ?, ?, ?, ?, ?)", on: database)
    delete = try Statement(
      "DELETE FROM snapshot WHERE service = ? AND seq = ? AND part = ?", on: database)
  }

  /// A snapshot split into parts, the last one first.
  ///
  /// It is invalid until the first part is written.
  struct Parts {
    let snapshot: Snapshot
    private let bytes: [UInt8]
    let count: Int

    /// The index of the part to write next.
    private(set) var next: Int

    init(_ snapshot: Snapshot) {
      self.snapshot = snapshot
      bytes = Array(snapshot.data.utf8)
      count = max(1, (bytes.count + SnapshotTable.partSize - 1) / SnapshotTable.partSize)
      next = count - 1
    }

    fileprivate var range: Range<Int> {
      next * SnapshotTable.partSize..<min(bytes.count, (next + 1) * SnapshotTable.partSize)
    }

    fileprivate func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
      bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[range])) }
    }

    /// Advances to the next part.
    ///
    /// - Returns: Whether there is one.
    mutating func advance() -> Bool {
      next -= 1
      return next >= 0
    }
  }

  func write(_ parts: Parts) throws(SQLiteError) {
    let snapshot = parts.snapshot
    let result = parts.withBytes { slice in
      insert.bind(snapshot.service, at: 1)
      insert.bind(Int64(snapshot.seq), at: 2)
      insert.bind(Int64(parts.next), at: 3)
      insert.bind(Int64(parts.count), at: 4)
      insert.bind(Int64(snapshot.schema), at: 5)
      insert.bind(inPlace: slice, at: 6)
      insert.bind(Int64(crc.checksum(slice)), at: 7)
      return Result { () throws(SQLiteError) in try insert.run() }
    }
    try result.get()
  }

  /// One part of a snapshot.
  struct Part {
    let service: String
    let seq: Int64
    let part: Int64
  }

  func remove(_ part: Part) throws(SQLiteError) {
    delete.bind(part.service, at: 1)
    delete.bind(part.seq, at: 2)
    delete.bind(part.part, at: 3)
    try delete.run()
  }

  /// Returns the parts of surplus snapshots of a service, after a new one was saved.
  func surplus(after snapshot: Snapshot) throws(SQLiteError) -> [Part] {
    let select = try Statement(
      "SELECT seq, parts FROM snapshot WHERE +service = ? AND part = 0 ORDER BY seq DESC",
      on: database)
    select.bind(snapshot.service, at: 1)
    var kept: [SnapshotThinning.Kept] = []
    while try select.step() {
      kept.append(.init(seq: select.int64(0), bytes: select.int64(1) * Int64(Self.partSize)))
    }
    // Values since the last removal are replayed from the first snapshot after it.
    let removed = try database.integer(
      "SELECT CAST(value AS INTEGER) FROM journal WHERE key = 'removed:\(Removal.anyService)'")
    let base = kept.last { $0.seq >= removed ?? 0 }?.seq
    var parts: [Part] = []
    for seq in SnapshotThinning.surplus(of: kept) where seq != base && seq != snapshot.seq {
      parts += try self.parts("+service = '\(snapshot.service)' AND seq = \(seq)")
    }
    return parts
  }

  /// Returns the parts of snapshots that no retained position needs any more.
  ///
  /// The newest snapshot of each service stays. If this version does not know the service, no newer
  /// one will be saved.
  func outlived(first: UInt64) throws(SQLiteError) -> [Part] {
    try parts(
      """
      seq < \(first) - 1 AND seq <
        (SELECT newest FROM latest WHERE latest.service = snapshot.service)
      """)
  }

  /// - Parameter condition: An SQL expression about the tables `snapshot`, and `latest` with the
  ///   `newest` position for each `service`.
  private func parts(_ condition: String) throws(SQLiteError) -> [Part] {
    let select = try Statement(
      """
      WITH latest AS MATERIALIZED
        (SELECT service, max(seq) AS newest FROM snapshot WHERE part = 0 GROUP BY service)
      SELECT service, seq, part FROM snapshot WHERE \(condition) ORDER BY service, seq, part
      """, on: database)
    var parts: [Part] = []
    while try select.step() {
      parts.append(Part(service: select.string(0), seq: select.int64(1), part: select.int64(2)))
    }
    return parts
  }
}
