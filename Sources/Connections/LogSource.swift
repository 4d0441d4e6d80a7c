package import JSON
package import Signals
package import Wire

/// A sequence of entries with positions, of which the last ones come as they become durable and all
/// others can be read again.
package struct LogSource {
  /// By which clients that watch the same are known: they share what is kept in memory.
  package let key: String

  /// Each entry that becomes durable from now on.
  package let live: Signal<LogEntry, Never>

  /// Reads what was durable, in order, away from the loop; fails with `seq_expired` when not all of
  /// it is kept.
  package let read: (_ after: UInt64) -> Signal<LogBatch, WireError>

  /// How far the journal is durable now; all entries up to there were emitted by ``live``.
  package let position: () -> UInt64

  /// The last durable position of which a client wants to know that it has passed by.
  package let news: () -> UInt64

  /// The first position that is kept now.
  package let first: () -> UInt64

  package init(
    key: String, live: Signal<LogEntry, Never>, position: @escaping () -> UInt64,
    news: (() -> UInt64)? = nil, first: @escaping () -> UInt64,
    read: @escaping (_ after: UInt64) -> Signal<LogBatch, WireError>
  ) {
    self.key = key
    self.live = live
    self.position = position
    self.news = news ?? position
    self.first = first
    self.read = read
  }
}

/// Entries that follow each other, and how far they tell of the journal.
package struct LogBatch: Sendable {
  package let entries: [LogEntry]

  /// The position up to which there are no other entries.
  package let end: UInt64

  /// Positions before the end that are not kept any more, in order.
  package let holes: [ClosedRange<UInt64>]

  package init(entries: [LogEntry], end: UInt64, holes: [ClosedRange<UInt64>] = []) {
    self.entries = entries
    self.end = end
    self.holes = holes
  }
}

/// One entry, written once for all that watch.
package struct LogEntry: Sendable {
  package let seq: UInt64

  /// What follows the handle in its line: `"seq":9,…}}` and LF.
  package let tail: String

  /// The data of the event, for conditions; `nil` for what is no event.
  package let data: JSONText?

  package init(seq: UInt64, tail: String, data: JSONText? = nil) {
    self.seq = seq
    self.tail = tail
    self.data = data
  }
}
