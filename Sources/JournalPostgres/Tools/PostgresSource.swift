package import Journal
package import Model

/// Reads a whole journal of PostgreSQL, consistent as of one moment, while daemons may write it.
///
/// Events are read in pages, and each page is a transaction of its own. One transaction covers the
/// last events, the removals, the notes and the snapshots, so that they match.
package final class PostgresSource: JournalOrigin {
  private let outline: PostgresJournal.Outline

  /// The name of the daemon that the journal belongs to.
  package var daemon: String { outline.daemon }
  package var epoch: String { outline.epoch }
  package var first: UInt64 { outline.first }
  package var last: UInt64 { outline.last }
  private let journal: PostgresJournal
  private let session: PostgresThreadSession
  private let rows = EventRows()

  private static let (pageSize, pageBytes) = (Int64(1_000), Int64(1 << 20))

  /// The number of events to leave for the last transaction.
  private static let rest: UInt64 = 10_000

  /// - Throws: ``JournalError`` when the journal cannot be opened.
  package init(_ journal: PostgresJournal) throws(JournalError) {
    self.journal = journal
    session = try journal.open()
    outline = try journal.outline(session)
  }

  package var name: String { "\(journal.string)" }

  package func read(
    after seq: UInt64, onPage: (UInt64) -> Void,
    _ body: (JournalPart) throws(JournalError) -> Void
  ) throws(JournalError) {
    var position = max(first - 1, seq)
    while position + Self.rest < last {
      guard let end = try page(after: position, body) else { break }
      position = end
      onPage(position)
    }
    _ = try journal.read(session) { session throws(PostgresError) in
      try session.run(text: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    }
    defer { _ = try? session.run(text: "ROLLBACK") }
    while let end = try page(after: position, body) { position = end }
    onPage(position)
    try body(.removals(try removals()))
    let values = try journal.values(session)
    try body(.notes(PostgresJournal.notes(in: values)))
    try readSnapshots(body)
  }

  private func page(
    after seq: UInt64, _ body: (JournalPart) throws(JournalError) -> Void
  ) throws(JournalError) -> UInt64? {
    var parameters = PostgresParameters()
    parameters.add(seq)
    parameters.add(Self.pageSize)
    parameters.add(Self.pageBytes)
    let result = try journal.read(session) { session throws(PostgresError) in
      try session.run(.events, parameters)
    }
    let (events, damaged) = rows.events(result)
    if let damaged {
      throw .corrupt(seq: damaged, detail: "its checksum does not match")
    }
    guard !events.isEmpty else { return nil }
    try body(.events(events.records))
    return events.last
  }

  private func removals() throws(JournalError) -> KnownRemovals {
    var removals = KnownRemovals()
    let rows = try journal.read(session) { session throws(PostgresError) in
      try session.run(text: "SELECT first, last, services FROM binder.removal ORDER BY first")
    }
    for row in 0..<rows.count {
      let (from, to) = (rows.number(row, 0), rows.number(row, 1))
      guard from <= to else {
        throw .corrupt(seq: from, detail: "events \(from) to \(to) cannot have been removed")
      }
      let services = (rows.text(row, 2) ?? "").split(separator: " ").map(String.init)
      removals.stretches.append(.init(range: from...to, services: services))
    }
    for (key, value) in try journal.values(session) where key.hasPrefix(RemovalKey.prefix) {
      removals.services[String(key.dropFirst(RemovalKey.prefix.count))] = UInt64(value) ?? 0
    }
    return removals
  }

  private func readSnapshots(
    _ body: (JournalPart) throws(JournalError) -> Void
  ) throws(JournalError) {
    let rows = try journal.read(session) { session throws(PostgresError) in
      try session.run(
        text: "SELECT service, seq FROM binder.snapshot WHERE part = 0 ORDER BY seq, service")
    }
    for row in 0..<rows.count {
      let (service, seq) = (rows.text(row, 0) ?? "", rows.number(row, 1))
      let snapshot = try journal.read(session) { session throws(PostgresError) in
        try Snapshot(of: service, at: seq, on: session)
      }
      if let snapshot { try body(.snapshot(snapshot)) }
    }
  }
}

extension Snapshot {
  /// Reads the snapshot of a service at a position; `nil` if it is damaged.
  fileprivate init?(
    of service: String, at seq: UInt64, on session: PostgresThreadSession
  ) throws(PostgresError) {
    let found = try session.run(.snapshots, .texts(service, seq))
    guard !found.isEmpty, UInt64(clamping: found.integer(0, 0)) == seq else { return nil }
    let parts = try session.run(.parts, .texts(service, seq))
    guard let data = PostgresReader.join(parts, count: found.integer(0, 1)) else { return nil }
    self.init(service: service, seq: seq, schema: Int(found.integer(0, 2)), data: data)
  }
}
