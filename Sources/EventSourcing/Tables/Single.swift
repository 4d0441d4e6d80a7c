/// One value of a state, without a key.
///
/// It always has a value, so its source always exists.
@usableFromInline
package struct Single<Row: TableRow>: Sendable {
  @usableFromInline
  var row: Row

  @usableFromInline
  var notes = TableNotes<ValueNote<Row>>()

  /// - Parameter value: The value before the first event.
  @inlinable
  package init(_ value: Row) { row = value }

  @inlinable
  package var value: Row {
    get { row }
    set {
      recordWrite()
      row = newValue
    }
    _modify {
      recordWrite()
      yield &row
    }
  }

  /// See ``Table/isNoting``.
  @inlinable
  package var isNoting: Bool { notes.isOn }

  @inlinable
  mutating func recordWrite() {
    if notes.isOn, notes.fresh.isEmpty { notes.add(ValueNote(before: row)) }
  }
}

/// A value that an event has written.
///
/// Not nested in ``Single``, as ``RowNote``.
@usableFromInline
struct ValueNote<Row> {
  @usableFromInline
  let before: Row
  @usableFromInline
  var after: Row

  @inlinable
  init(before: Row) { (self.before, after) = (before, before) }
}

extension ValueNote: Sendable where Row: Sendable {}

extension Single: Codable {
  @usableFromInline
  package init(from decoder: any Decoder) throws {
    row = try Row(from: decoder)
  }

  @usableFromInline
  package func encode(to encoder: any Encoder) throws {
    try row.encode(to: encoder)
  }
}

extension Single: NotedTable {
  /// Ends the event that was applied.
  @inlinable
  mutating func finishEvent(at seq: UInt64, _ body: (Row, Row) -> Void) {
    notes.finish(at: seq) { note in
      note.after = row
      body(note.before, note.after)
    }
  }

  @inlinable
  package mutating func revertEvent(at seq: UInt64) {
    for _ in 0..<notes.popLast(at: seq) {
      if let note = notes.popLast() { row = note.before }
    }
  }

  /// Moves the value of the oldest event into the committed state.
  @inlinable
  mutating func showEvent(at seq: UInt64, in shown: inout Single, _ body: (Row, Row) -> Void) {
    for _ in 0..<notes.popFirst(at: seq) {
      let note = notes.removeFirst()
      shown.row = note.after
      body(note.before, note.after)
    }
  }

  @inlinable
  package mutating func setNoting(as number: Int?) { notes.setNoting(as: number) }

  @usableFromInline
  package mutating func makeUnique() {}
}
