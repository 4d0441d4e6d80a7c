/// A recorded event: a ``Draft`` with its position, version and time.
///
/// Events on their way to the disk are bytes; see ``RecordBatch``. A class, because it is passed
/// between many owners when the journal is read.
@usableFromInline
package final class Record: Sendable {
  /// The position in the journal: 1, 2, 3, …, without gaps and never reused.
  @usableFromInline
  package let seq: UInt64

  /// Microseconds since 1970-01-01T00:00:00Z by the journal's clock; never decreases.
  @usableFromInline
  package let time: Int64

  /// The version in its stream, counted from 1.
  @usableFromInline
  package let version: UInt64

  /// The `seq` of the previous event in its stream, which may have been removed; 0 for the first.
  @usableFromInline
  package let previous: UInt64

  /// The stream, for example `"cells/lamp"`.
  @usableFromInline
  package let stream: String

  /// The event type, for example `"cells.set"`.
  @usableFromInline
  package let type: String

  /// The payload, compact JSON text.
  @usableFromInline
  package let data: String

  /// The idempotency key of the command that caused it, if the client sent one.
  @usableFromInline
  package let command: String?

  /// The origin, compact JSON text.
  @usableFromInline
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

  /// The approximate size in memory, in bytes.
  package var size: Int { 160 + stream.utf8.count + data.utf8.count }
}

extension Record: Equatable {
  @usableFromInline
  package static func == (left: Record, right: Record) -> Bool {
    left.seq == right.seq && left.time == right.time && left.version == right.version
      && left.previous == right.previous && left.draft == right.draft
  }

  /// The draft of this record, without position, time and versions.
  package var draft: Draft {
    Draft(stream: stream, type: type, data: data, command: command, meta: meta)
  }
}

/// An event that a service wants to record: it has no position, version and time yet.
///
/// Appending turns it into a ``Record``.
package struct Draft: Equatable, Sendable {
  /// The stream, for example `"cells/lamp"`.
  ///
  /// The events of one stream have versions 1, 2, 3.
  package var stream: String

  /// The event type, for example `"cells.set"`.
  ///
  /// A type is never reused for something else.
  package var type: String

  /// The payload, compact JSON text.
  package var data: String

  /// The idempotency key of the command that caused it, if the client sent one.
  package var command: String?

  /// The origin, compact JSON text with `uid`, `pid` and `method`.
  package var meta: String?

  package init(
    stream: String, type: String, data: String, command: String? = nil, meta: String? = nil
  ) {
    self.stream = stream
    self.type = type
    self.data = data
    self.command = command
    self.meta = meta
  }
}
