package import Model

/// The statistics of a journal.
package struct JournalFigures: Codable, Equatable, Sendable {
  /// The events of one stream.
  package struct Written: Codable, Equatable, Sendable {
    package let stream: String
    package let events: Int

    /// The bytes of the events' data.
    package let bytes: Int

    package init(stream: String, events: Int, bytes: Int) {
      (self.stream, self.events, self.bytes) = (stream, events, bytes)
    }
  }

  /// The snapshots of all services at one position.
  package struct Snapshot: Codable, Equatable, Sendable {
    package let seq: UInt64
    package let services: Int
    package let bytes: Int

    package init(seq: UInt64, services: Int, bytes: Int) {
      (self.seq, self.services, self.bytes) = (seq, services, bytes)
    }
  }

  package var path: String

  /// The name of the daemon that the journal belongs to.
  package var daemon = ""
  package var epoch: String
  package var first: UInt64
  package var last: UInt64

  /// The number of events in the journal.
  package var count: Int
  package var streams: Int

  /// The bytes of event data.
  package var dataBytes: Int

  /// The ten streams with the most events, then others of the ten with the most bytes of data.
  package var mostWritten: [Written]
  package var types: [String: Int]
  package var snapshots: [Snapshot]

  /// The size of the files in bytes, and the bytes of free pages in them.
  package var bytes: Int
  package var freeBytes: Int

  /// A stream whose past will soon be cut by the default rule.
  package struct Filling: Codable, Equatable, Sendable {
    package let stream: String

    /// The bytes of its events, and the bytes beyond which the oldest are removed.
    package let bytes: Int
    package let max: Int
  }

  /// The streams that have most of the bytes that the default rule keeps of each; set only by a
  /// running daemon.
  package var filling: [Filling]?

  /// Set only by a running daemon.
  package var retention: [Retention]?
  package var compaction: DaemonRecord.Compaction?

  /// Seconds by which the wall clock is ahead of the accepted time; they do not count as age.
  package var clockAhead: Int64?

  /// Seconds by which the wall clock is behind the last event, which was written while the clock
  /// was ahead.
  ///
  /// New events get the last event's time until the clock catches up.
  package var clockBehind: Int64?

  package init(path: String, epoch: String, first: UInt64, last: UInt64) {
    (self.path, self.epoch, self.first, self.last) = (path, epoch, first, last)
    (count, streams, types, snapshots) = (0, 0, [:], [])
    (dataBytes, mostWritten) = (0, [])
    (bytes, freeBytes) = (0, 0)
  }

  /// The ID of the boot of the daemon's machine, which tells machines apart; set only by a running
  /// daemon.
  package var boot: String?

  private enum CodingKeys: String, CodingKey {
    case path, daemon, epoch, first, last, count, streams, types, snapshots, bytes, boot
    case dataBytes = "data_bytes"
    case mostWritten = "most_written"
    case freeBytes = "free_bytes"
    case filling, retention, compaction
    case clockAhead = "clock_ahead_s"
    case clockBehind = "clock_behind_s"
  }
}
