/// What a journal holds, counted.
package struct JournalFigures: Codable, Equatable, Sendable {
  /// The states of all services as of a position.
  package struct Snapshot: Codable, Equatable, Sendable {
    package let seq: UInt64
    package let services: Int
    package let bytes: Int

    package init(seq: UInt64, services: Int, bytes: Int) {
      (self.seq, self.services, self.bytes) = (seq, services, bytes)
    }
  }

  /// One rule of the retention.
  package struct Rule: Codable, Equatable, Sendable {
    package let streams: String

    /// Seconds.
    package let maxAge: Int64?
    package let maxCount: Int?
    package let maxBytes: Int?

    private enum CodingKeys: String, CodingKey {
      case streams
      case maxAge = "max_age_s"
      case maxCount = "max_count"
      case maxBytes = "max_bytes"
    }
  }

  package var path: String
  package var epoch: String
  package var first: UInt64
  package var last: UInt64

  /// Events that are there.
  package var count: Int
  package var streams: Int
  package var types: [String: Int]
  package var snapshots: [Snapshot]

  /// Bytes of the files, and of pages in them that are free for what comes.
  package var bytes: Int
  package var freeBytes: Int

  /// What a daemon knows beside that.
  package var retention: [Rule]?
  package var compaction: DaemonRecord.Compaction?

  /// By how many seconds the clock is ahead of what is believed; events do not grow old by it.
  package var clockAhead: Int64?

  /// By how many seconds the clock is behind the time of the last event, which was written when it was
  /// ahead; events have that time until the clock has reached it.
  package var clockBehind: Int64?

  package init(path: String, epoch: String, first: UInt64, last: UInt64) {
    (self.path, self.epoch, self.first, self.last) = (path, epoch, first, last)
    (count, streams, types, snapshots) = (0, 0, [:], [])
    (bytes, freeBytes) = (0, 0)
  }

  private enum CodingKeys: String, CodingKey {
    case path, epoch, first, last, count, streams, types, snapshots, bytes
    case freeBytes = "free_bytes"
    case retention, compaction
    case clockAhead = "clock_ahead_s"
    case clockBehind = "clock_behind_s"
  }
}

extension JournalFigures.Rule {
  init(_ rule: RetentionRule) {
    streams = rule.streams
    maxAge = rule.maxAge.map { $0 / 1_000_000 }
    (maxCount, maxBytes) = (rule.maxCount, rule.maxBytes)
  }
}
