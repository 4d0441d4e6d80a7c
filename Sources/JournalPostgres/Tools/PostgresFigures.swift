internal import Journal
package import Model

/// Statistics of a journal in PostgreSQL; daemons may write it meanwhile.
package struct PostgresFigures: Sendable {
  private let outline: PostgresJournal.Outline

  /// The name of the daemon that the journal belongs to.
  package var daemon: String { outline.daemon }
  package var epoch: String { outline.epoch }
  package var first: UInt64 { outline.first }
  package var last: UInt64 { outline.last }
  package private(set) var count = 0
  package private(set) var streams = 0

  /// The number of events of each type.
  package private(set) var types: [String: Int] = [:]

  /// The snapshots, newest first: their position, and how many services and bytes.
  package private(set) var snapshots: [(seq: UInt64, services: Int, bytes: Int)] = []

  /// The size of the tables and their indexes, in bytes.
  package private(set) var bytes = 0

  /// Reads all events to collect the statistics.
  package init(of journal: PostgresJournal) throws(JournalError) {
    let session = try journal.open()
    outline = try journal.outline(session)
    let byType = try journal.read(session) { session throws(PostgresError) in
      try session.run(text: "SELECT type, count(*) FROM binder.event GROUP BY type")
    }
    for row in 0..<byType.count {
      let number = Int(clamping: byType.number(row, 1))
      types[byType.text(row, 0) ?? ""] = number
      count += number
    }
    let sizes = try journal.read(session) { session throws(PostgresError) in
      try session.run(
        text: """
          SELECT (SELECT count(DISTINCT stream) FROM binder.event),
            (SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c
             WHERE c.relnamespace = 'binder'::regnamespace AND c.relkind = 'r')
          """)
    }
    (streams, bytes) = (Int(clamping: sizes.number(0, 0)), Int(clamping: sizes.number(0, 1)))
    let states = try journal.read(session) { session throws(PostgresError) in
      try session.run(
        text: """
          SELECT seq, count(DISTINCT service), sum(octet_length(data)) FROM binder.snapshot
          GROUP BY seq ORDER BY seq DESC
          """)
    }
    snapshots = (0..<states.count).map { row in
      (
        states.number(row, 0), Int(clamping: states.number(row, 1)),
        Int(clamping: states.number(row, 2))
      )
    }
  }
}
