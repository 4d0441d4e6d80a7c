package import JSON

/// What happens to the daemon's own journal; the stream is `daemon`.
package enum DaemonEvent: ServiceEvent, Codable, Equatable {
  /// Events between two positions, these included, were removed: so many.
  case compacted(from: UInt64, to: UInt64, count: Int)

  package static var kinds: Set<String> { ["compacted"] }
}

/// What the daemon knows of its journal beside what stands in it.
package struct DaemonRecord: ServiceState {
  /// The last compaction.
  package struct Compaction: Codable, Equatable, Sendable {
    package let from: UInt64
    package let to: UInt64
    package let count: Int

    /// Microseconds since 1970.
    package let time: Int64
  }

  package private(set) var lastCompaction: Compaction?

  /// How many events were ever removed.
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
