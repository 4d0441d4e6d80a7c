internal import Journal

/// Records removals, inside the transaction that removes the events.
final class RemovalTable {
  private let database: Database
  private let near: Statement
  private let count: Statement
  private let forget: Statement
  private let note: Statement
  private let noteService: Statement
  private let noteFirst: Statement
  private let forgetOld: Statement

  /// A range as a row of the table.
  private struct Stretch {
    var first: Int64
    var last: Int64
    var kept: Int64
    var services: Set<Substring>
  }

  init(_ database: Database) throws(SQLiteError) {
    self.database = database
    near = try Statement(
      """
      SELECT first, last, kept, services FROM removal
      WHERE first BETWEEN ifnull((SELECT max(first) FROM removal WHERE first <= ?1), ?1) AND ?2
      """, on: database)
    count = try Statement("SELECT count(*) FROM event WHERE seq BETWEEN ? AND ?", on: database)
    forget = try Statement("DELETE FROM removal WHERE first = ?", on: database)
    note = try Statement("INSERT INTO removal VALUES (?, ?, ?, ?)", on: database)
    noteService = try Statement(
      """
      INSERT INTO journal VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = ?2
      WHERE CAST(value AS INTEGER) < CAST(?2 AS INTEGER)
      """, on: database)
    noteFirst = try Statement(
      """
      INSERT INTO journal VALUES ('first', ?1) ON CONFLICT (key) DO UPDATE SET value = ?1
      """, on: database)
    forgetOld = try Statement("DELETE FROM removal WHERE last < ?", on: database)
  }

  /// Removes events and records the removal.
  ///
  /// - Returns: The first retained position.
  /// - Throws: An SQLite error, or damage if events are missing that were not removed before.
  func remove(_ removal: Removal, from events: EventTable) throws(SQLiteError) -> UInt64 {
    var stretch = try self.stretch(around: removal)
    stretch.kept = try rows(stretch.first, stretch.last) - Int64(removal.count)
    for run in removal.runs { try events.remove(run) }
    guard try rows(stretch.first, stretch.last) == stretch.kept else {
      throw SQLiteError(damage: "events of \(removal.first) to \(removal.last) are missing")
    }
    for (service, last) in removal.services {
      stretch.services.insert(service[...])
      noteService.bind(RemovalKey.text(service), at: 1)
      noteService.bind("\(last)", at: 2)
      try noteService.run()
    }
    note.bind(stretch.first, at: 1)
    note.bind(stretch.last, at: 2)
    note.bind(stretch.kept, at: 3)
    note.bind(" " + stretch.services.sorted().joined(separator: " ") + " ", at: 4)
    try note.run()
    return try raiseFirst()
  }

  /// Merges a removal with the ranges that it touches, and deletes their rows.
  private func stretch(around removal: Removal) throws(SQLiteError) -> Stretch {
    var whole = Stretch(
      first: Int64(removal.first), last: Int64(removal.last), kept: 0, services: [])
    near.bind(whole.first, at: 1)
    near.bind(whole.last, at: 2)
    var found: [Stretch] = []
    while try near.step() {
      found.append(
        Stretch(
          first: near.int64(0), last: near.int64(1), kept: near.int64(2),
          services: Set(near.string(3).split(separator: " "))))
    }
    for old in found where isJoined(old, removal) {
      guard try rows(old.first, old.last) == old.kept else {
        throw SQLiteError(
          damage: "events \(old.first) to \(old.last): \(old.kept) should exist")
      }
      whole.first = min(whole.first, old.first)
      whole.last = max(whole.last, old.last)
      whole.services.formUnion(old.services)
      forget.bind(old.first, at: 1)
      try forget.run()
    }
    return whole
  }

  /// Returns whether a range overlaps a removal, or is adjacent and small enough to merge.
  private func isJoined(_ old: Stretch, _ removal: Removal) -> Bool {
    if old.last >= Int64(removal.first) { return true }
    return old.last + 1 == Int64(removal.first) && old.kept < Int64(Removal.maxCount) / 2
  }

  private func rows(_ first: Int64, _ last: Int64) throws(SQLiteError) -> Int64 {
    count.bind(first, at: 1)
    count.bind(last, at: 2)
    defer { count.reset() }
    return try count.step() ? count.int64(0) : 0
  }

  /// Stores the first position and deletes the ranges before it, which are not needed.
  private func raiseFirst() throws(SQLiteError) -> UInt64 {
    let first = try database.integer("SELECT ifnull(min(seq), 1) FROM event") ?? 1
    noteFirst.bind("\(first)", at: 1)
    try noteFirst.run()
    forgetOld.bind(first, at: 1)
    try forgetOld.run()
    return UInt64(first)
  }
}

/// Looks up removed events on a reader's connection.
final class RemovalIndex {
  private let first: Statement
  private let covering: Statement
  private let last: Statement
  private let within: Statement

  /// The last range found, cached because gaps are usually close together.
  private var known: ClosedRange<Int64>?

  /// - Returns: `nil` for a journal of an older format, in which nothing was ever removed.
  init?(_ database: Database) throws(SQLiteError) {
    let table = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'removal'"
    guard try database.integer(table) == 1 else { return nil }
    first = try Statement(
      "SELECT CAST(value AS INTEGER) FROM journal WHERE key = 'first'", on: database)
    covering = try Statement(
      "SELECT first, last FROM removal WHERE first <= ? ORDER BY first DESC LIMIT 1", on: database)
    last = try Statement(
      "SELECT CAST(value AS INTEGER) FROM journal WHERE key = ?", on: database)
    within = try Statement(
      """
      SELECT last FROM removal WHERE first <= ?1 AND instr(services, ?2) > 0
      ORDER BY first DESC LIMIT 1
      """, on: database)
  }

  /// Returns the first retained position.
  func firstPosition() throws(SQLiteError) -> Int64 {
    defer { first.reset() }
    guard try first.step() else { return 1 }
    guard first.int64(0) > 0 else {
      throw SQLiteError(damage: "the first position is \(first.int64(0))")
    }
    return first.int64(0)
  }

  /// Returns whether all positions of a range may be missing.
  func explains(_ range: ClosedRange<Int64>) throws(SQLiteError) -> Bool {
    if let known, known.contains(range.lowerBound), known.contains(range.upperBound) { return true }
    var position = max(range.lowerBound, try firstPosition())
    while position <= range.upperBound {
      covering.bind(position, at: 1)
      defer { covering.reset() }
      guard try covering.step(), covering.int64(1) >= position else { return false }
      guard covering.int64(1) < .max else { return false }
      known = covering.int64(0)...covering.int64(1)
      position = covering.int64(1) + 1
    }
    return true
  }

  /// See ``JournalReader/lastRemoval(of:upTo:)``.
  func lastRemoval(of service: String, upTo seq: Int64) throws(SQLiteError) -> Int64 {
    last.bind(RemovalKey.text(service), at: 1)
    defer { last.reset() }
    guard try last.step() else { return 0 }
    let newest = last.int64(0)
    if newest <= seq { return newest }
    within.bind(seq, at: 1)
    within.bind(" \(service) ", at: 2)
    defer { within.reset() }
    let before = try firstPosition() - 1
    return max(min(before, seq), try within.step() ? min(within.int64(0), seq) : 0)
  }

  /// Counts the removed events after the first position, and finds other missing events.
  func check(
    on database: Database
  ) throws(SQLiteError) -> (count: UInt64, damages: [String]) {
    let first = try firstPosition()
    let stretches = try Statement(
      """
      SELECT first, last, kept, (SELECT count(*) FROM event WHERE seq BETWEEN first AND last)
      FROM removal ORDER BY first
      """, on: database)
    let last = try database.integer("SELECT max(seq) FROM event") ?? 0
    var (count, damages): (Int64, [String]) = (0, [])
    var end: Int64 = 0
    while try stretches.step() {
      let (from, to) = (max(first, stretches.int64(0)), stretches.int64(1))
      let (wanted, found) = (stretches.int64(2), stretches.int64(3))
      guard stretches.int64(0) > end, from <= to, to <= last, 0...to - from + 1 ~= wanted else {
        damages.append("the removal of events \(stretches.int64(0)) to \(to) is invalid")
        continue
      }
      end = to
      count += to - from + 1 - wanted
      guard wanted != found else { continue }
      damages.append("events \(from) to \(to): \(wanted) should exist, \(found) do")
    }
    return (UInt64(max(0, count)), damages)
  }
}

extension KnownRemovals {
  init(_ database: Database) throws(SQLiteError) {
    self.init()
    guard try RemovalIndex(database) != nil else { return }
    let rows = try Statement(
      "SELECT first, last, services FROM removal ORDER BY first", on: database)
    while try rows.step() {
      let (from, to) = (try rows.position(0), try rows.position(1))
      guard from <= to else {
        throw SQLiteError(damage: "events \(from) to \(to) cannot have been removed")
      }
      stretches.append(
        Stretch(
          range: from...to,
          services: rows.string(2).split(separator: " ").map(String.init)))
    }
    let prefix = RemovalKey.prefix
    let keys = try Statement(
      "SELECT key, CAST(value AS INTEGER) FROM journal WHERE key GLOB '\(prefix)*'", on: database)
    while try keys.step() {
      services[String(keys.string(0).dropFirst(prefix.count))] = try keys.position(1)
    }
  }
}
