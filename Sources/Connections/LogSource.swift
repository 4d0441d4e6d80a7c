package import Facts
package import JSON
package import Signals
package import Wire

/// A log of entries with positions.
///
/// New entries arrive as they become durable; earlier ones can be read.
package struct LogSource {
  /// The key of the shared feed.
  ///
  /// Sources with the same key share their retained entries.
  package let key: String

  /// Every entry that becomes durable from now on.
  package let live: Signal<LogEntry, Never>

  /// Reads durable entries after a position, in order, on another thread.
  ///
  /// The signal fails with `seq_expired` if entries after the position were removed.
  package let read: (_ after: UInt64) -> Signal<Page<LogEntry>, WireError>

  /// Returns the durable position.
  ///
  /// ``live`` has emitted all entries up to it.
  package let position: () -> UInt64

  /// Returns the last durable position that is relevant to subscribers, including filtered events.
  package let news: () -> UInt64

  /// Returns the first position that the journal still holds.
  package let first: () -> UInt64

  package init(
    key: String, live: Signal<LogEntry, Never>, position: @escaping () -> UInt64,
    news: (() -> UInt64)? = nil, first: @escaping () -> UInt64,
    read: @escaping (_ after: UInt64) -> Signal<Page<LogEntry>, WireError>
  ) {
    self.key = key
    self.live = live
    self.position = position
    self.news = news ?? position
    self.first = first
    self.read = read
  }
}

/// An event or change with its position, encoded once for all subscribers.
package struct LogEntry: Sendable {
  package let seq: UInt64

  /// The part of the line after the handle: `"seq":9,…}}` and LF.
  package let tail: String

  /// The event's data, for filters; `nil` if the entry is not an event.
  package let data: JSONText?

  package init(seq: UInt64, tail: String, data: JSONText? = nil) {
    self.seq = seq
    self.tail = tail
    self.data = data
  }
}
