internal import JSON
package import Model

/// One small step of a compaction: removes events from one range of the journal.
///
/// Remaining events keep their positions, and removed positions are not reused. The journal records
/// the resulting gaps.
package struct Removal: Equatable, Sendable {
  /// The maximum number of events that a step examines, and about the maximum of their bytes.
  package static let maxCount = 256
  package static let maxBytes = 256 << 10

  /// The range that was examined.
  package let first: UInt64
  package let last: UInt64

  /// The removed positions, as contiguous runs in ascending order.
  package let runs: [ClosedRange<UInt64>]

  /// The key for all services together.
  package static let anyService = "*"

  /// The last removed position of each service, and of ``anyService``.
  package let services: [String: UInt64]

  package init(
    first: UInt64, last: UInt64, runs: [ClosedRange<UInt64>], services: [String: UInt64]
  ) {
    (self.first, self.last) = (first, last)
    (self.runs, self.services) = (runs, services)
  }

  /// The number of removed events.
  package var count: Int { runs.reduce(0) { $0 + $1.count } }

  /// Returns the next steps of a compaction.
  ///
  /// - Parameters:
  ///   - seq: The last position that was already examined.
  ///   - end: The last position that may be removed.
  ///   - maxCount: The maximum number of events that one step examines.
  ///   - isGoing: Whether an event is removed.
  /// - Returns: Some of the steps, and the last position examined. That position is `end` if there
  ///   are no more steps.
  package static func steps(
    _ reader: any JournalReader, after seq: UInt64, upTo end: UInt64, of maxCount: Int,
    where isGoing: (Record) -> Bool
  ) throws(JournalError) -> (steps: [Removal], end: UInt64) {
    var steps: [Removal] = []
    var position = seq
    while position < end, steps.count < 16 {
      // Large pages, so that a range without removals is passed quickly.
      let records = try reader.records(after: position, limit: Self.maxCount)
      let wanted = records.prefix { $0.seq <= end }
      guard let last = wanted.last else { return (steps, end) }
      var builder = Builder()
      for record in wanted {
        if builder.bytes >= Self.maxBytes || builder.count >= maxCount {
          steps += builder.step(upTo: record.seq - 1)
          builder = Builder()
        }
        builder.add(record, isGoing: isGoing(record))
      }
      steps += builder.step(upTo: last.seq)
      position = last.seq
    }
    return (steps, position)
  }

  private struct Builder {
    var bytes = 0
    var count = 0
    private var first: UInt64 = 0
    private var runs: [ClosedRange<UInt64>] = []
    private var services: [String: UInt64] = [:]

    mutating func add(_ record: Record, isGoing: Bool) {
      if first == 0 { first = record.seq }
      bytes += record.size
      count += 1
      guard isGoing else { return }
      services[record.service] = record.seq
      services[Removal.anyService] = record.seq
      if let run = runs.last, run.upperBound + 1 == record.seq {
        runs[runs.count - 1] = run.lowerBound...record.seq
      } else {
        runs.append(record.seq...record.seq)
      }
    }

    /// Returns the step, or nothing if it removes no event.
    func step(upTo last: UInt64) -> [Removal] {
      runs.isEmpty ? [] : [Removal(first: first, last: last, runs: runs, services: services)]
    }
  }
}

/// The result of a ``Removal``.
package struct RemovalReport: Equatable, Sendable {
  /// The first retained position.
  package let first: UInt64

  /// The time for which commits had to wait, in nanoseconds.
  package let nanoseconds: UInt64

  package init(first: UInt64, nanoseconds: UInt64) {
    (self.first, self.nanoseconds) = (first, nanoseconds)
  }
}

extension Record {
  /// The service that owns the record: the first segment of its stream.
  package var service: String {
    String(stream.prefix { $0 != "/" })
  }
}

extension Span<UInt8> {
  /// The first segment of a stream's name: the service that owns it.
  package var service: String {
    var end = 0
    while end < count, self[end] != UInt8(ascii: "/") { end += 1 }
    return String(validUTF8: extracting(..<end))
  }
}

/// The keys under which a store keeps the last removed position of each service.
package enum RemovalKey {
  /// The beginning of all keys.
  package static let prefix = "removed:"

  /// Returns the key of a service.
  package static func text(_ service: String) -> String { prefix + service }
}
