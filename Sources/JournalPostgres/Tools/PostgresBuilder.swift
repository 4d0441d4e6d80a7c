internal import Glibc
package import Journal
package import Model

/// Makes a journal in PostgreSQL: in a schema of its own, which is renamed when it is complete.
package final class PostgresBuilder: JournalTarget {
  package private(set) var replaced: String?
  private let journal: PostgresJournal
  private let session: PostgresThreadSession

  /// The state of the journal that is replaced; `nil` if there is none.
  private let before: String?
  private let rows = EventRows()
  private var (last, time): (UInt64, Int64) = (0, 0)
  private var isFinished = false

  /// The schema of the journal until it is complete.
  static let partial = "binder_partial"

  /// - Parameter isForced: Whether an existing journal may be replaced; it is kept in the schema
  ///   `binder_old`, or `binder_old_2` and so on.
  /// - Throws: ``JournalError``; nothing was changed then.
  package init(_ journal: PostgresJournal, isForced: Bool) throws(JournalError) {
    self.journal = journal
    session = try journal.connect()
    try journal.checkServer(session)
    before = try journal.read(session) { session throws(PostgresError) in
      guard let state = try Self.state(session) else { return nil }
      guard isForced else {
        throw .refused("the database has a journal; use --force to replace it")
      }
      try Self.checkNobodyHasIt(session)
      return state
    }
    try journal.run(session) { session throws(PostgresError) in
      try session.run(text: "DROP SCHEMA IF EXISTS \(Self.partial) CASCADE")
      let epoch = PostgresJournal.makeEpoch()
      for statement in PostgresSchema.tables(in: Self.partial, epoch: epoch) {
        try session.run(text: statement)
      }
    }
  }

  deinit {
    if !isFinished { _ = try? session.run(text: "DROP SCHEMA \(Self.partial) CASCADE") }
  }

  /// Returns what changes whenever a daemon uses the journal; `nil` if there is no journal.
  private static func state(_ session: PostgresThreadSession) throws(PostgresError) -> String? {
    guard try PostgresJournal.exists(session) else { return nil }
    let text = """
      SELECT concat_ws(' ', (SELECT value FROM binder.journal WHERE key = 'epoch'), last, term)
      FROM binder.head
      """
    return try session.run(text: text).text(0, 0)
  }

  /// Checks that no daemon uses the journal.
  private static func checkNobodyHasIt(_ session: PostgresThreadSession) throws(PostgresError) {
    let users = try session.run(
      text: """
        SELECT string_agg(name, ', ' ORDER BY name) FROM binder.node
        WHERE state <> 'stopped' AND seen > now() - interval '5 seconds'
        """)
    if let names = users.text(0, 0) {
      throw .refused("the journal is in use by the daemons \(names); stop them first")
    }
  }

  /// Keeps all daemons from the journal until the end of the transaction.
  private static func lock(_ session: PostgresThreadSession) throws(PostgresError) {
    try session.run(text: "SET LOCAL lock_timeout = '10s'")
    try session.run(text: "LOCK TABLE binder.node, binder.head IN ACCESS EXCLUSIVE MODE")
  }

  package func add(_ records: [Record]) throws(JournalError) {
    guard let end = records.last else { return }
    var parameters = PostgresParameters()
    parameters.add(records.map { Int64(clamping: $0.seq) })
    rows.add(RecordBatch(records), to: &parameters)
    try write(.insertEvents, parameters)
    (last, time) = (end.seq, end.time)
  }

  package func add(_ snapshot: Snapshot) throws(JournalError) {
    try journal.run(session) { session throws(PostgresError) in
      try PostgresChores.write(snapshot, to: Self.partial, on: session)
    }
  }

  package func add(_ removals: KnownRemovals) throws(JournalError) {
    for stretch in removals.stretches {
      var parameters = PostgresParameters()
      parameters.add(stretch.range.lowerBound)
      parameters.add(stretch.range.upperBound)
      parameters.add(" " + stretch.services.joined(separator: " ") + " ")
      try write(.insertRemoval, parameters)
    }
    for (service, seq) in removals.services { try add(RemovalKey.text(service), "\(seq)") }
  }

  package func add(_ notes: [JournalNote: String]) throws(JournalError) {
    for (note, text) in notes { try add(note.rawValue, text) }
  }

  private func add(_ key: String, _ value: String) throws(JournalError) {
    var parameters = PostgresParameters()
    parameters.add(key)
    parameters.add(value)
    try write(.insertValue, parameters)
  }

  private func write(
    _ statement: PostgresStatement, _ parameters: PostgresParameters
  ) throws(JournalError) {
    _ = try journal.read(session) { session throws(PostgresError) in
      try session.run(statement, parameters)
    }
  }

  package func finish(
    _ accept: (String) throws(JournalError) -> Void
  ) throws(JournalError) -> JournalReport {
    let (last, time) = (last, time)
    try journal.run(session) { session throws(PostgresError) in
      for statement in Self.completion(last: last, time: time) {
        try session.run(text: statement)
      }
    }
    var old: String?
    try journal.run(session) { session throws(PostgresError) in
      old = try moveOld(session)
      try session.run(text: "ALTER SCHEMA \(Self.partial) RENAME TO \(PostgresSchema.name)")
      for function in PostgresSchema.functions { try session.run(text: function) }
    }
    isFinished = true
    do throws(JournalError) {
      let report = try PostgresCheck(journal).run()
      guard report.damages.isEmpty else {
        throw .corrupt(seq: report.first, detail: "the copy: \(report.damages[0])")
      }
      try accept("\(journal.string)")
      replaced = old.map { "the schema \($0)" }
      return report
    } catch {
      try? undo(old)
      throw error
    }
  }

  /// Renames the journal that is replaced, and returns its new name; `nil` if there is none.
  ///
  /// - Throws: The reason, if it is not as it was at first: a daemon may have begun meanwhile.
  private func moveOld(_ session: PostgresThreadSession) throws(PostgresError) -> String? {
    if before != nil {
      try Self.lock(session)
      try Self.checkNobodyHasIt(session)
    }
    guard try Self.state(session) == before else {
      throw .refused(
        "the journal has changed meanwhile, and stays; stop all daemons, and repeat it")
    }
    guard before != nil else { return nil }
    let name = try Self.nameForOld(session)
    try session.run(text: "ALTER SCHEMA \(PostgresSchema.name) RENAME TO \(name)")
    return name
  }

  /// Removes the new journal, and puts the old one back.
  ///
  /// - Throws: The reason, if a daemon uses the new one already.
  private func undo(_ old: String?) throws(JournalError) {
    try journal.run(session) { session throws(PostgresError) in
      try Self.lock(session)
      try Self.checkNobodyHasIt(session)
      try session.run(text: "DROP SCHEMA \(PostgresSchema.name) CASCADE")
      guard let old else { return }
      try session.run(text: "ALTER SCHEMA \(old) RENAME TO \(PostgresSchema.name)")
    }
  }

  /// The statements that make the head, the first position and the removals fit to the events.
  private static func completion(last: UInt64, time: Int64) -> [String] {
    [
      "UPDATE \(partial).head SET last = \(last), time = \(time)",
      """
      UPDATE \(partial).removal SET kept =
        (SELECT count(*) FROM \(partial).event WHERE seq BETWEEN removal.first AND removal.last)
      """,
      """
      UPDATE \(partial).journal SET value =
        (SELECT coalesce(min(seq), 1)::text FROM \(partial).event) WHERE key = 'first'
      """,
      """
      DELETE FROM \(partial).removal
      WHERE last < (SELECT coalesce(min(seq), 1) FROM \(partial).event)
      """,
      "ANALYZE \(partial).event",
    ]
  }

  private static func nameForOld(_ session: PostgresThreadSession) throws(PostgresError) -> String {
    var (name, number) = ("binder_old", 1)
    while try session.run(text: "SELECT to_regnamespace($1) IS NOT NULL", [name]).text(0, 0) == "t"
    {
      number += 1
      name = "binder_old_\(number)"
    }
    return name
  }
}

extension PostgresStatement {
  fileprivate static let insertEvents = PostgresStatement(
    name: "insert_events",
    text: """
      INSERT INTO binder_partial.event (\(EventColumns.list))
      SELECT * FROM unnest(\(EventColumns.arrays(from: 1, hasPositions: true)))
      """)

  fileprivate static let insertRemoval = PostgresStatement(
    name: "insert_removal",
    text: "INSERT INTO binder_partial.removal VALUES ($1::bigint, $2::bigint, 0, $3::text)")

  fileprivate static let insertValue = PostgresStatement(
    name: "insert_value",
    text: """
      INSERT INTO binder_partial.journal VALUES ($1::text, $2::text)
      ON CONFLICT (key) DO UPDATE SET value = excluded.value
      """)
}
