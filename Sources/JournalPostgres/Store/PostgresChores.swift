internal import Glibc
internal import Journal
internal import Model

/// Writes snapshots and removes events, each in one transaction that checks the term.
///
/// It waits for the server, so it belongs to a thread of its own.
final class PostgresChores {
  /// The size of a part of a snapshot in bytes.
  static let partSize = 256 * 1024

  private let string: ConnectionString
  private var session: PostgresThreadSession?

  /// The first retained position, as last seen.
  private var first: UInt64 = 0

  init(_ string: ConnectionString) { self.string = string }

  /// Saves a snapshot completely or not at all, and drops surplus ones.
  func save(_ snapshot: Snapshot, term: UInt64) throws(JournalError) {
    try transaction(term) { session throws(PostgresError) in
      try Self.write(snapshot, to: PostgresSchema.name, on: session)
      for seq in try surplus(after: snapshot, on: session) {
        try session.run(.dropSnapshot, .texts(snapshot.service, seq))
      }
    }
  }

  /// Writes a snapshot into a schema, in parts.
  static func write(
    _ snapshot: Snapshot, to schema: String, on session: PostgresThreadSession
  ) throws(PostgresError) {
    let bytes = Array(snapshot.data.utf8)
    let count = max(1, (bytes.count + partSize - 1) / partSize)
    let crc = CRC32C()
    let insert = PostgresStatement.insertPart(into: schema)
    for part in 0..<count {
      let range = part * partSize..<min(bytes.count, (part + 1) * partSize)
      var parameters = PostgresParameters()
      bytes.withUnsafeBytes { all in
        let slice = UnsafeRawBufferPointer(rebasing: all[range])
        parameters.add(snapshot.service)
        parameters.add(snapshot.seq)
        parameters.add(Int64(part))
        parameters.add(Int64(count))
        parameters.add(Int64(snapshot.schema))
        parameters.add(slice)
        parameters.add(Int64(crc.checksum(slice)))
      }
      try session.run(insert, parameters)
    }
  }

  /// Returns the positions of surplus snapshots of a service, after a new one was saved.
  private func surplus(
    after snapshot: Snapshot, on session: PostgresThreadSession
  ) throws(PostgresError) -> [UInt64] {
    var service = PostgresParameters()
    service.add(snapshot.service)
    service.add(UInt64(Int64.max))
    let found = try session.run(.snapshots, service)
    let kept = (0..<found.count).map { row in
      SnapshotThinning.Kept(
        seq: found.integer(row, 0), bytes: found.integer(row, 1) * Int64(Self.partSize))
    }
    // Values since the last removal are replayed from the first snapshot after it.
    var key = PostgresParameters()
    key.add(RemovalKey.text(Removal.anyService))
    let value = try session.run(.value, key)
    let removed = value.isEmpty ? 0 : value.text(0, 0).flatMap { Int64($0) } ?? 0
    let base = kept.last { $0.seq >= removed }?.seq
    return SnapshotThinning.surplus(of: kept).filter { $0 != base && $0 != Int64(snapshot.seq) }
      .map { UInt64(clamping: $0) }
  }

  /// Removes events and records the removal, completely or not at all.
  func remove(_ removal: Removal, term: UInt64) throws(JournalError) -> RemovalReport {
    let start = Self.nanoseconds
    var first: UInt64 = 0
    try transaction(term) { session throws(PostgresError) in
      first = try PostgresRemovals(session).remove(removal)
      guard first > self.first else { return }
      self.first = first
      var parameters = PostgresParameters()
      parameters.add(first)
      try session.run(.dropOutlived, parameters)
    }
    return RemovalReport(first: first, nanoseconds: Self.nanoseconds - start)
  }

  // MARK: Transactions

  /// Runs statements in one transaction, if the daemon is still the active one.
  ///
  /// The transaction need not be replicated at once: it is in order with all later ones.
  private func transaction(
    _ term: UInt64, _ body: (PostgresThreadSession) throws(PostgresError) -> Void
  ) throws(JournalError) {
    do throws(PostgresError) {
      let session = try open()
      try session.run(text: "BEGIN")
      do throws(PostgresError) {
        try session.run(text: "SET LOCAL synchronous_commit = local")
        let head = try session.run(text: "SELECT term FROM binder.head")
        guard !head.isEmpty, head.text(0, 0) == "\(term)" else {
          throw PostgresError(
            code: PostgresSchema.Code.superseded, message: "another daemon is active")
        }
        try body(session)
        try session.run(text: "COMMIT")
      } catch {
        if !error.isLost { _ = try? session.run(text: "ROLLBACK") }
        throw error
      }
    } catch {
      if error.isLost { session = nil }
      if error.code == PostgresRemovals.damage {
        throw .corrupt(seq: 0, detail: error.message)
      }
      throw error.code.hasPrefix("53100")
        ? .readOnly(reason: "ENOSPC", outcome: .none)
        : .unavailable(detail: "\(string): \(error)")
    }
  }

  private func open() throws(PostgresError) -> PostgresThreadSession {
    if let session { return session }
    do throws(PostgresDialer.Failure) {
      let made = try PostgresThreadSession(string)
      session = made
      return made
    } catch {
      throw PostgresError(message: "\(error)")
    }
  }

  private static var nanoseconds: UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}

extension PostgresParameters {
  /// Returns a text and a position as parameters.
  static func texts(_ text: String, _ seq: UInt64) -> PostgresParameters {
    var parameters = PostgresParameters()
    parameters.add(text)
    parameters.add(seq)
    return parameters
  }
}

extension PostgresStatement {
  static let dropSnapshot = PostgresStatement(
    name: "drop_snapshot",
    text: "DELETE FROM binder.snapshot WHERE service = $1::text AND seq = $2::bigint")

  /// Drops the snapshots that no retained position needs any more.
  ///
  /// The newest one of each service stays. If this version does not know the service, no newer one
  /// will be saved.
  static let dropOutlived = PostgresStatement(
    name: "drop_outlived",
    text: """
      DELETE FROM binder.snapshot WHERE seq < $1::bigint - 1 AND seq <
        (SELECT max(seq) FROM binder.snapshot newer
         WHERE newer.service = snapshot.service AND newer.part = 0)
      """)

  static func insertPart(into schema: String) -> PostgresStatement {
    PostgresStatement(
      name: "insert_part_\(schema)",
      text: """
        INSERT INTO \(schema).snapshot
        VALUES ($1::text, $2::bigint, $3::bigint, $4::bigint, $5::bigint, $6::bytea, $7::bigint)
        ON CONFLICT (service, seq, part) DO UPDATE SET parts = excluded.parts,
          schema = excluded.schema, data = excluded.data, crc = excluded.crc
        """)
  }
}
