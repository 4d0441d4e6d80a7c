/// One small step of a compaction: events of one stretch of the journal that go together.
///
/// Positions are not given again, and the events that stay keep theirs: where some have gone there
/// are holes that the journal knows.
package struct Removal: Equatable, Sendable {
  /// Events that a step looks through at the most, and about the bytes of those.
  package static let maxCount = 256
  package static let maxBytes = 256 << 10

  /// The stretch that was looked through.
  package let first: UInt64
  package let last: UInt64

  /// What goes: runs of positions that follow each other.
  package let runs: [ClosedRange<UInt64>]

  /// Stands for all services together.
  package static let anyService = "*"

  /// The last position that goes of each service, and of ``anyService``.
  package let services: [String: UInt64]

  package init(
    first: UInt64, last: UInt64, runs: [ClosedRange<UInt64>], services: [String: UInt64]
  ) {
    (self.first, self.last) = (first, last)
    (self.runs, self.services) = (runs, services)
  }

  /// How many events go.
  package var count: Int { runs.reduce(0) { $0 + $1.count } }

  /// The next steps of a compaction.
  ///
  /// - Parameters:
  ///   - seq: Everything up to here was looked through.
  ///   - end: Nothing after this position goes.
  ///   - maxCount: Events that each looks through at the most.
  ///   - isGoing: Whether an event goes.
  /// - Returns: Some steps, fewer than there may be, and how far they have come; that is `end` when
  ///   there are no others.
  package static func steps(
    _ reader: any JournalReader, after seq: UInt64, upTo end: UInt64, of maxCount: Int,
    where isGoing: (Record) -> Bool
  ) throws(JournalError) -> (steps: [Removal], end: UInt64) {
    var steps: [Removal] = []
    var position = seq
    while position < end, steps.count < 16 {
      // So many at a time that a stretch where nothing goes is passed quickly.
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

    /// The step; none when nothing goes.
    func step(upTo last: UInt64) -> [Removal] {
      runs.isEmpty ? [] : [Removal(first: first, last: last, runs: runs, services: services)]
    }
  }
}

/// What has become of a ``Removal``.
package struct RemovalReport: Equatable, Sendable {
  /// The first position that is kept now.
  package let first: UInt64

  /// For how long commits had to wait, in nanoseconds.
  package let nanoseconds: UInt64

  package init(first: UInt64, nanoseconds: UInt64) {
    (self.first, self.nanoseconds) = (first, nanoseconds)
  }
}

extension Record {
  /// The service that it belongs to: the first segment of its stream.
  package var service: String {
    String(stream.prefix { $0 != "/" })
  }
}
