internal import Journal

/// Records removals, inside the transaction that removes the events.
struct PostgresRemovals {
  /// The code of an error about events that are missing and were not removed.
  static let damage = "BD004"

  private let session: PostgresThreadSession

  /// A range as a row of the table.
  private struct Stretch {
    var first: UInt64
    var last: UInt64
    var kept: Int64
    var services: Set<Substring>
  }

  init(_ session: PostgresThreadSession) { self.session = session }

  /// Removes events and records the removal.
  ///
  /// - Returns: The first retained position.
  /// - Throws: The server's error, or damage if events are missing that were not removed before.
  func remove(_ removal: Removal) throws(PostgresError) -> UInt64 {
    // A daemon that was superseded may be at it too.
    try session.run(text: "LOCK TABLE binder.removal IN EXCLUSIVE MODE")
    var stretch = try self.stretch(around: removal)
    stretch.kept = try rows(stretch.first, stretch.last) - Int64(removal.count)
    for run in removal.runs {
      try session.run(.removeEvents, Self.range(run.lowerBound, run.upperBound))
    }
    guard try rows(stretch.first, stretch.last) == stretch.kept else {
      throw damaged("events of \(removal.first) to \(removal.last) are missing")
    }
    for (service, last) in removal.services {
      stretch.services.insert(service[...])
      var parameters = PostgresParameters()
      parameters.add(RemovalKey.text(service))
      parameters.add("\(last)")
      try session.run(.noteRemovalOf, parameters)
    }
    var parameters = Self.range(stretch.first, stretch.last)
    parameters.add(stretch.kept)
    parameters.add(" " + stretch.services.sorted().joined(separator: " ") + " ")
    try session.run(.noteRemoval, parameters)
    let first = try session.run(.raiseFirst)
    return first.isEmpty ? 1 : UInt64(clamping: first.integer(0, 0))
  }

  /// Merges a removal with the ranges that it touches, and deletes their rows.
  private func stretch(around removal: Removal) throws(PostgresError) -> Stretch {
    var whole = Stretch(first: removal.first, last: removal.last, kept: 0, services: [])
    let near = try session.run(
      .nearRemovals, Self.range(removal.first - min(removal.first, 1), removal.last))
    for row in 0..<near.count {
      let old = Stretch(
        first: UInt64(clamping: near.integer(row, 0)), last: UInt64(clamping: near.integer(row, 1)),
        kept: near.integer(row, 2), services: Set((near.text(row, 3) ?? "").split(separator: " ")))
      guard isJoined(old, removal) else { continue }
      guard try rows(old.first, old.last) == old.kept else {
        throw damaged("events \(old.first) to \(old.last): \(old.kept) should exist")
      }
      whole.first = min(whole.first, old.first)
      whole.last = max(whole.last, old.last)
      whole.services.formUnion(old.services)
      var first = PostgresParameters()
      first.add(old.first)
      try session.run(.forgetRemoval, first)
    }
    return whole
  }

  /// Returns whether a range overlaps a removal, or is adjacent and small enough to merge.
  private func isJoined(_ old: Stretch, _ removal: Removal) -> Bool {
    if old.last >= removal.first { return true }
    return old.last + 1 == removal.first && old.kept < Int64(Removal.maxCount) / 2
  }

  private func rows(_ first: UInt64, _ last: UInt64) throws(PostgresError) -> Int64 {
    try session.run(.countEvents, Self.range(first, last)).integer(0, 0)
  }

  private static func range(_ first: UInt64, _ last: UInt64) -> PostgresParameters {
    var parameters = PostgresParameters()
    parameters.add(first)
    parameters.add(last)
    return parameters
  }

  private func damaged(_ message: String) -> PostgresError {
    PostgresError(code: Self.damage, message: message)
  }
}

extension PostgresStatement {
  fileprivate static let removeEvents = PostgresStatement(
    name: "remove_events",
    text: "DELETE FROM binder.event WHERE seq BETWEEN $1::bigint AND $2::bigint")

  fileprivate static let countEvents = PostgresStatement(
    name: "count_events",
    text: "SELECT count(*) FROM binder.event WHERE seq BETWEEN $1::bigint AND $2::bigint")

  fileprivate static let nearRemovals = PostgresStatement(
    name: "near_removals",
    text: """
      SELECT first, last, kept, services FROM binder.removal
      WHERE first <= $2::bigint AND last >= $1::bigint ORDER BY first
      """)

  fileprivate static let forgetRemoval = PostgresStatement(
    name: "forget_removal", text: "DELETE FROM binder.removal WHERE first = $1::bigint")

  fileprivate static let noteRemoval = PostgresStatement(
    name: "note_removal",
    text: "INSERT INTO binder.removal VALUES ($1::bigint, $2::bigint, $3::bigint, $4::text)")

  fileprivate static let noteRemovalOf = PostgresStatement(
    name: "note_removal_of",
    text: """
      INSERT INTO binder.journal AS j VALUES ($1::text, $2::text)
      ON CONFLICT (key) DO UPDATE SET value = excluded.value
      WHERE j.value::bigint < excluded.value::bigint
      """)

  /// Stores the first position, and drops the ranges before it, which are not needed.
  fileprivate static let raiseFirst = PostgresStatement(
    name: "raise_first",
    text: """
      WITH first AS (SELECT coalesce(min(seq), 1) AS seq FROM binder.event),
        noted AS (INSERT INTO binder.journal SELECT 'first', seq::text FROM first
          ON CONFLICT (key) DO UPDATE SET value = excluded.value),
        forgotten AS (DELETE FROM binder.removal r USING first WHERE r.last < first.seq)
      SELECT seq FROM first
      """)
}
