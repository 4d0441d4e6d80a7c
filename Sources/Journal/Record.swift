/// A fact that is kept.
///
/// An object, because it goes from hand to hand on its way to the disk and back to the services.
package final class Record: Sendable {
  /// Its place in the journal: 1, 2, 3, …, given without holes and never again.
  package let seq: UInt64

  /// Microseconds since 1970-01-01T00:00:00Z by the journal's clock; never less than the one before.
  package let time: Int64

  /// Its place in its stream, counted from 1.
  package let version: UInt64

  /// The `seq` of the event before it in its stream, which may have been removed; 0 for the first.
  package let previous: UInt64

  /// What it happened to, for example `"cells/lamp"`.
  package let stream: String

  /// Its kind, for example `"cells.set"`.
  package let type: String

  /// Its content, compact JSON text.
  package let data: String

  /// The client's identity of the command that caused it, if it gave one.
  package let command: String?

  /// Who caused it, compact JSON text.
  package let meta: String?

  package init(
    seq: UInt64, time: Int64, version: UInt64, previous: UInt64, stream: String, type: String,
    data: String, command: String?, meta: String?
  ) {
    self.seq = seq
    self.time = time
    self.version = version
    self.previous = previous
    self.stream = stream
    self.type = type
    self.data = data
    self.command = command
    self.meta = meta
  }

  /// About how many bytes it takes in memory.
  package var size: Int { 160 + stream.utf8.count + data.utf8.count }

  /// The same with another ``meta``.
  package func with(meta: String) -> Record {
    Record(
      seq: seq, time: time, version: version, previous: previous, stream: stream, type: type,
      data: data, command: command, meta: meta)
  }
}

extension Record: Equatable {
  package static func == (left: Record, right: Record) -> Bool {
    left.seq == right.seq && left.time == right.time && left.version == right.version
      && left.previous == right.previous && left.draft == right.draft
  }

  /// What is kept, apart from its place.
  package var draft: Draft {
    Draft(stream: stream, type: type, data: data, command: command, meta: meta)
  }
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
