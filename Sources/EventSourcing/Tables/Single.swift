/// One value of a state, without a key.
///
/// It always has a value, so its source always exists.
@usableFromInline
package struct Single<Row: TableRow>: Sendable {
  @usableFromInline
  var row: Row

  @usableFromInline
  var notes = TableNotes<Note>()

  /// A value that an event has written.
  @usableFromInline
  struct Note: TableNote, Sendable {
    @usableFromInline
    let before: Row
    @usableFromInline
    var after: Row
    @usableFromInline
    var seq: UInt64 = 0

    @inlinable
    init(before: Row) { (self.before, after) = (before, before) }
  }

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

  @inlinable
  mutating func recordWrite() {
    if notes.isOn, notes.fresh == 0 { notes.add(Note(before: row)) }
  }
}

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
    while let note = notes.popLast(at: seq) { row = note.before }
  }

  /// Moves the value of the oldest event into the committed state.
  @inlinable
  mutating func showEvent(at seq: UInt64, in shown: inout Single, _ body: (Row, Row) -> Void) {
    while let note = notes.popFirst(at: seq) {
      shown.row = note.after
      body(note.before, note.after)
    }
  }

  @inlinable
  package mutating func setNoting(as number: Int?) { notes.setNoting(as: number) }

  @usableFromInline
  package mutating func makeUnique() {}
}
