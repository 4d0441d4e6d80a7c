package import JSON

/// The events of the journal's own maintenance; the stream is `daemon`.
package enum DaemonEvent: ServiceEvent, Codable, Equatable {
  /// `count` events between two positions, inclusive, were removed.
  case compacted(from: UInt64, to: UInt64, count: Int)

  package static var kinds: Set<String> { ["compacted"] }
}

/// The recorded maintenance of the journal.
package struct DaemonRecord: ServiceState {
  /// The last compaction.
  package struct Compaction: Codable, Equatable, Sendable {
    package let from: UInt64
    package let to: UInt64
    package let count: Int

    /// The time in microseconds since 1970.
    package let time: Int64
  }

  package private(set) var lastCompaction: Compaction?

  /// The total number of removed events.
  package private(set) var removedCount = 0

  package init() {}

  package mutating func apply(_ event: DaemonEvent, at place: Place) {
    switch event {
    case .compacted(let from, let to, let count):
      lastCompaction = Compaction(from: from, to: to, count: count, time: place.time)
      removedCount &+= count
    }
  }

  package func value(of source: String) -> JSONText? { nil }

  package var sources: [String] { [] }

  package static func sources(changedBy event: DaemonEvent, at place: Place) -> [String] { [] }
}
