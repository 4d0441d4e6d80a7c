public import Signals

/// A key of a row: a part of the name of its source.
///
/// `Int` and `String` are such keys.
@usableFromInline
package typealias TableKey = Codable & Comparable & Hashable & LosslessStringConvertible & Sendable

/// A row of a table or an element of a list.
@usableFromInline
package typealias TableRow = Codable & Sendable

/// Rows by key, which notes the rows that an event changes.
///
/// The engine reads the notes of the pending state: sources, lists in views, rollbacks and quotas
/// follow from them. A table that is replayed notes nothing.
///
///     titles[id] = title  // adds or replaces a row
///     titles[id] = nil    // removes it
@usableFromInline
package struct Table<Key: TableKey, Row: TableRow>: Sendable {
  /// The rows by key.
  @usableFromInline
  package internal(set) var rows: [Key: Row] = [:]

  /// The highest number that was ever the key of a row; 0 before the first one.
  ///
  /// Only for keys that are integers.
  @usableFromInline
  package internal(set) var lastID = 0

  @usableFromInline
  var notes = TableNotes<RowNote<Key, Row>>()

  @inlinable
  package init() {}

  @inlinable
  package var count: Int { rows.count }

  @inlinable
  package var isEmpty: Bool { rows.isEmpty }

  /// The row of a key; `nil` if there is none.
  @inlinable
  package subscript(key: Key) -> Row? {
    get { rows[key] }
    set { _ = exchange(key, newValue) }
    _modify {
      let before = notes.isOn ? rows[key] : nil
      let lastID = lastID
      // Runs too if the caller throws: it may have written before.
      defer {
        let after = rows[key]
        if after != nil { raiseLastID(key) }
        if notes.isOn { recordWrite(key, before, after, lastID) }
      }
      yield &rows[key]
    }
  }

  /// Adds, replaces or removes a row; returns the former one.
  @inlinable
  package mutating func exchange(_ key: Key, _ row: Row?) -> Row? {
    let before: Row?
    let lastID = lastID
    if let row {
      before = rows.updateValue(row, forKey: key)
      raiseLastID(key)
    } else {
      before = rows.removeValue(forKey: key)
    }
    if notes.isOn { recordWrite(key, before, row, lastID) }
    return before
  }

  /// Removes all rows.
  ///
  /// A new table in place of this one would have no notes, and the event would be refused.
  @inlinable
  package mutating func removeAll() {
    for key in Array(rows.keys) { self[key] = nil }
  }

  /// Keeps a key that is a number, so that it is never given again.
  @inlinable
  mutating func raiseLastID(_ key: Key) {
    guard Key.self == Int.self else { return }
    let id = unsafe unsafeBitCast(key, to: Int.self)
    if id > lastID { lastID = id }
  }

  @inlinable
  mutating func recordWrite(_ key: Key, _ before: Row?, _ after: Row?, _ lastID: Int) {
    if let place = notes.freshPlace(where: { $0.key == key }) {
      notes.fresh[place].after = after
    } else {
      notes.add(RowNote(key, before: before, after: after, lastID: lastID))
    }
  }

  /// Whether writes are noted, so that ``revertEvent(at:)`` undoes them.
  @inlinable
  package var isNoting: Bool { notes.isOn }
}

/// A row that an event has written.
///
/// Not nested in the table: the compiler then knows the size of its parts.
@usableFromInline
struct RowNote<Key, Row> {
  @usableFromInline
  let key: Key

  /// The row before the event; `nil` if there was none.
  @usableFromInline
  let before: Row?

  /// The row after the event; `nil` if there is none.
  @usableFromInline
  var after: Row?

  /// See ``Table/lastID``: before and after the event.
  @usableFromInline
  let lastID: Int
  @usableFromInline
  var lastIDAfter: Int

  @inlinable
  init(_ key: Key, before: Row?, after: Row?, lastID: Int) {
    (self.key, self.before, self.after) = (key, before, after)
    (self.lastID, lastIDAfter) = (lastID, lastID)
  }
}

extension RowNote: Sendable where Key: Sendable, Row: Sendable {}

extension Table where Key == Int {
  /// A number that was never the key of a row.
  @inlinable
  package var nextID: Int { lastID &+ 1 }
}

extension Table: Codable {
  private enum CodingKeys: String, CodingKey {
    case rows
    case lastID
  }

  @usableFromInline
  package init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: CodingKeys.self)
    rows = try members.decode([Key: Row].self, forKey: .rows)
    lastID = try members.decodeIfPresent(Int.self, forKey: .lastID) ?? 0
    // A snapshot of a program whose keys were no numbers, or one made by hand, has none.
    for key in rows.keys { raiseLastID(key) }
  }

  @usableFromInline
  package func encode(to encoder: any Encoder) throws {
    var members = encoder.container(keyedBy: CodingKeys.self)
    if Key.self is any CodingKeyRepresentable.Type {
      try members.encode(rows, forKey: .rows)
    } else {
      // As the dictionary does, and in order: equal tables have equal texts.
      var list = members.nestedUnkeyedContainer(forKey: .rows)
      for (key, row) in rows.sorted(by: { $0.key < $1.key }) {
        try list.encode(key)
        try list.encode(row)
      }
    }
    if Key.self == Int.self { try members.encode(lastID, forKey: .lastID) }
  }
}

// A table that a newer program has added is not in older snapshots. The compiler's `init(from:)`
// prefers these functions to the general one.
extension KeyedDecodingContainer {
  /// Returns the rows of a table; none if the snapshot is from before the table.
  @usableFromInline
  package func decode<TableKey, Row>(
    _ type: Table<TableKey, Row>.Type, forKey key: Key
  ) throws -> Table<TableKey, Row> {
    try decodeIfPresent(type, forKey: key) ?? Table()
  }

  /// Returns lists; none if the snapshot is from before them.
  @usableFromInline
  package func decode<ListKey, Element>(
    _ type: ListTable<ListKey, Element>.Type, forKey key: Key
  ) throws -> ListTable<ListKey, Element> {
    try decodeIfPresent(type, forKey: key) ?? ListTable()
  }
}

extension Table: NotedRows {
  @inlinable
  package mutating func finishEvent(at seq: UInt64, _ body: (Key, Row?, Row?) -> Void) {
    // A key whose note was not found again has the row of its first write.
    let isRepeated = notes.removeRepeatedFresh { $0.key }
    notes.finish(at: seq) { note in
      if isRepeated { note.after = rows[note.key] }
      note.lastIDAfter = lastID
      body(note.key, note.before, note.after)
    }
  }

  @inlinable
  package mutating func revertEvent(at seq: UInt64) {
    for _ in 0..<notes.popLast(at: seq) {
      guard let note = notes.popLast() else { return }
      rows[note.key] = note.before
      lastID = note.lastID
    }
  }

  @inlinable
  package mutating func showEvent(
    at seq: UInt64, in shown: inout Table, _ body: (Key, Row?, Row?) -> Void
  ) {
    for _ in 0..<notes.popFirst(at: seq) {
      let note = notes.removeFirst()
      shown.rows[note.key] = note.after
      shown.lastID = note.lastIDAfter
      body(note.key, note.before, note.after)
    }
  }

  @inlinable
  package mutating func setNoting(as number: Int?) { notes.setNoting(as: number) }

  // `reserveCapacity` copies the dictionary if its storage is shared.
  @usableFromInline
  package mutating func makeUnique() { rows.reserveCapacity(rows.count) }
}

/// The notes of a table: of the events that are not durable yet, and of the one that is applied.
@usableFromInline
package struct TableNotes<Note> {
  /// The number of the table plus 1 while writes are noted; otherwise 0.
  ///
  /// Tells a table from another one that was put in its place.
  @usableFromInline
  var number = 0

  /// Whether writes are noted.
  @inlinable
  var isOn: Bool { number != 0 }

  /// The notes of the event that is applied.
  @usableFromInline
  var fresh: ContiguousArray<Note> = []

  /// The notes of the other events, in order.
  @usableFromInline
  var queue = Queue<Note>()

  /// These events.
  @usableFromInline
  var events = Queue<Event>()

  /// An event that has written to the table.
  @usableFromInline
  struct Event: Sendable {
    @usableFromInline
    let seq: UInt64

    /// The number of its notes.
    @usableFromInline
    let count: Int

    @inlinable
    init(seq: UInt64, count: Int) { (self.seq, self.count) = (seq, count) }
  }

  /// The most notes to compare a new one with.
  @usableFromInline
  static var comparedCount: Int { 8 }

  @inlinable
  init() {}

  /// Whether no event that has ended has notes.
  @inlinable
  var isEmpty: Bool { events.isEmpty }

  /// Notes the writes to the table with a number; `nil` ends that.
  @inlinable
  mutating func setNoting(as number: Int?) { self.number = number.map { $0 &+ 1 } ?? 0 }

  /// Whether these are the notes of the table with a number.
  @inlinable
  func isOf(_ number: Int) -> Bool { self.number == number &+ 1 }

  @inlinable
  mutating func add(_ note: consuming Note) { fresh.append(note) }

  /// Returns the place of one of the last notes of the running event that meets a condition.
  @inlinable
  func freshPlace(where isMeant: (borrowing Note) -> Bool) -> Int? {
    var i = fresh.count
    let end = max(0, i - Self.comparedCount)
    while i > end {
      i -= 1
      if isMeant(fresh[i]) { return i }
    }
    return nil
  }

  /// Removes all notes of the running event but the first one of each key.
  ///
  /// - Returns: Whether there may have been several of a key.
  @inlinable
  mutating func removeRepeatedFresh<Key: Hashable>(_ key: (Note) -> Key) -> Bool {
    guard fresh.count > Self.comparedCount else { return false }
    var seen: Set<Key> = []
    fresh.removeAll { !seen.insert(key($0)).inserted }
    return true
  }

  /// Ends the running event.
  @inlinable
  mutating func finish(at seq: UInt64, _ body: (inout Note) -> Void) {
    guard !fresh.isEmpty else { return }
    let count = fresh.count
    events.append(Event(seq: seq, count: count))
    for i in 0..<count { body(&fresh[i]) }
    guard count <= Self.comparedCount else {
      for note in fresh { queue.append(note) }
      return fresh = []
    }
    // Keeps the memory. To move a note costs less than to copy it and remove the first one.
    if count > 1 {
      var notes = fresh.mutableSpan
      for i in 0..<count / 2 { notes.swapAt(i, count - 1 - i) }
    }
    while let note = fresh.popLast() { queue.append(note) }
  }

  /// Removes the oldest event if it is at a position.
  ///
  /// - Returns: The number of its notes, which are the next ones of ``removeFirst()``.
  @inlinable
  mutating func popFirst(at seq: UInt64) -> Int {
    guard let event = events.first, event.seq == seq else { return 0 }
    _ = events.removeFirst()
    return event.count
  }

  /// Removes the newest event if it is at a position; 0 is the one that is applied.
  ///
  /// - Returns: The number of its notes, which are the next ones of ``popLast()``.
  @inlinable
  mutating func popLast(at seq: UInt64) -> Int {
    if seq == 0 { finish(at: seq) { _ in } }
    guard let event = events.last, event.seq == seq else { return 0 }
    _ = events.popLast()
    return event.count
  }

  @inlinable
  mutating func removeFirst() -> Note { queue.removeFirst() }

  @inlinable
  mutating func popLast() -> Note? { queue.popLast() }

  /// Forgets the events that have ended.
  @inlinable
  mutating func removeAll() {
    queue.removeAll()
    events.removeAll()
  }

  /// Passes over the notes of the oldest or the newest event, which is at a position; 0 is the one that
  /// is applied.
  @inlinable
  func forEach(at seq: UInt64, _ body: (Note) -> Void) {
    if seq == 0 {
      for note in fresh { body(note) }
    } else if let first = events.first, first.seq == seq {
      for i in 0..<first.count { body(queue[i]) }
    } else if let last = events.last, last.seq == seq {
      for i in queue.count - last.count..<queue.count { body(queue[i]) }
    }
  }
}

extension TableNotes: Sendable where Note: Sendable {}

/// A table as the engine sees it: it notes what an event has written.
///
/// An event is applied to the pending state alone. When it is durable, the written rows go into the
/// committed state.
@usableFromInline
package protocol NotedTable: Sendable {
  /// Notes writes as those of the table with a number; `nil` turns notes off.
  mutating func setNoting(as number: Int?)

  /// Undoes the newest event, which is at a position.
  mutating func revertEvent(at seq: UInt64)

  /// Copies storage that is shared with another state.
  mutating func makeUnique()
}

/// A table with rows by key.
@usableFromInline
package protocol NotedRows<Key, Row>: NotedTable {
  associatedtype Key: TableKey
  associatedtype Row: TableRow

  var rows: [Key: Row] { get }

  /// Ends the event that was applied.
  ///
  /// - Parameter body: Called for each written row: the key, the row before and the row after.
  mutating func finishEvent(at seq: UInt64, _ body: (Key, Row?, Row?) -> Void)

  /// Moves the rows of the oldest event into the table of the committed state.
  mutating func showEvent(
    at seq: UInt64, in shown: inout Self, _ body: (Key, Row?, Row?) -> Void)
}
