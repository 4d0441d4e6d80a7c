/// A fact that is kept.
package struct Record: Equatable, Sendable {
  /// Its place in the journal: 1, 2, 3, … without holes, never reused.
  package let seq: UInt64

  /// Microseconds since 1970-01-01T00:00:00Z by the journal's clock; never less than the one before.
  package let time: Int64

  /// Its place in its stream: 1, 2, 3, …
  package let version: UInt64

  /// The `seq` of the event before it in its stream; 0 for the first.
  package let previous: UInt64

  /// What is kept.
  package let draft: Draft

  package init(seq: UInt64, time: Int64, version: UInt64, previous: UInt64, draft: Draft) {
    self.seq = seq
    self.time = time
    self.version = version
    self.previous = previous
    self.draft = draft
  }

  package var stream: String { draft.stream }
  package var type: String { draft.type }
  package var data: String { draft.data }
}

/// Where a stream ends.
package struct Head: Equatable, Sendable {
  /// The `seq` of its last event; 0 when it has none.
  package var seq: UInt64

  /// How many events it has had.
  package var version: UInt64

  package init(seq: UInt64, version: UInt64) {
    self.seq = seq
    self.version = version
  }

  /// The head of a stream without events.
  package static let none = Head(seq: 0, version: 0)
}
