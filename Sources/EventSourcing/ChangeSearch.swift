package import JSON
internal import Journal
package import Model
package import Signals

/// A search for the streams in which selected events were recorded.
package struct ChangeSearch: Sendable {
  /// The most streams that a search finds.
  package static let maxStreams = 1000

  /// The last position before the search, and the last one in it.
  package let after: UInt64
  package let through: UInt64

  /// The user whose events are selected; `nil` for those of all users.
  package let user: UInt32?

  /// The idempotency key of the command whose events are selected; `nil` for those of all.
  package let command: String?

  /// Whether the events of a stream are selected.
  package let isWanted: @Sendable (_ stream: String) -> Bool

  package init(
    after: UInt64, through: UInt64, user: UInt32? = nil, command: String? = nil,
    isWanted: @escaping @Sendable (String) -> Bool
  ) {
    self.after = after
    self.through = through
    self.user = user
    self.command = command
    self.isWanted = isWanted
  }

  func selects(_ record: Record) -> Bool {
    if let command, record.command != command { return false }
    return user == nil || JournalEvent(record).origin?.uid == user
  }

  /// Reads the events.
  ///
  /// - Returns: The streams, in the order of their first selected events, at most one more than
  ///   ``maxStreams``.
  fileprivate func read(
    _ reader: any JournalReader, _ services: Set<String>
  ) throws(JournalError) -> FoundStreams {
    try reader.check(after)
    var (found, withRows): ([ChangedStream], Set<String>) = ([], [])
    var places: [String: Int] = [:]
    var leases = LeaseTrail()
    // The events of leases come right before the write.
    var end = after - min(after, LeaseTrail.length)
    while end < through {
      let records = try reader.records(after: end, limit: Int(min(through - end, 256)))
      guard let last = records.last else { break }
      end = last.seq
      for record in records where record.seq <= through {
        leases.see(record)
        guard record.seq > after else { continue }
        if services.contains(record.service) {
          if selects(record) { withRows.insert(record.service) }
          continue
        }
        guard isWanted(record.stream) else { continue }
        let isSelected = selects(record)
        if let place = places[record.stream] {
          if isSelected {
            found[place].last = record.seq
            if found[place].other != nil { found[place].isMixed = true }
          } else {
            found[place].other = found[place].other ?? record.seq
          }
        } else if isSelected {
          places[record.stream] = found.count
          found.append(
            ChangedStream(
              stream: record.stream, first: record.seq, hadLease: leases.hasEnded(by: record)))
          if found.count > Self.maxStreams {
            return FoundStreams(streams: found, withRows: withRows)
          }
        }
      }
    }
    return FoundStreams(streams: found, withRows: withRows)
  }

  /// The streams of a search, and the services with selected events whose rows are read next.
  fileprivate struct FoundStreams {
    let streams: [ChangedStream]
    let withRows: Set<String>
  }
}

/// A stream in which a search has found selected events.
package struct ChangedStream: Sendable {
  package let stream: String

  /// The positions of the first and the last selected event.
  package let first: UInt64
  package fileprivate(set) var last: UInt64

  /// The first event behind ``first`` that is not selected; `nil` if the search has seen none.
  package fileprivate(set) var other: UInt64?

  /// Whether an event between the first and the last selected one is not selected.
  package fileprivate(set) var isMixed = false

  /// Whether the first event has ended the lease of the value before.
  package let hadLease: Bool

  fileprivate init(stream: String, first: UInt64, hadLease: Bool) {
    self.stream = stream
    self.first = first
    self.hadLease = hadLease
    last = first
  }
}

/// The ends of leases in a search: by a write without the lease, or with the value.
private struct LeaseTrail {
  /// The most events of leases before a write: one detaches the part, and one attaches it again.
  static let length: UInt64 = 2

  /// The events that detach the parts of a stream.
  private var detached: [String: UInt64] = [:]
  private let coder = EventCoder()

  private struct Detached: Decodable {
    let part: LeasedPart
  }

  mutating func see(_ record: Record) {
    guard record.type == "lease.detached",
      let event = coder.value(Detached.self, of: JSONText(trusted: record.data))
    else { return }
    detached[event.part.stream] = record.seq
  }

  func hasEnded(by record: Record) -> Bool {
    if let seq = detached[record.stream], record.seq - seq <= Self.length { return true }
    return record.type.hasSuffix(".removed")
      && JournalEvent(record).cause?.source?.hasPrefix("lease/") == true
  }
}

extension ServiceHost {
  /// Returns whether a value ends with a lease that it had before a position.
  package func holdsLease(_ stream: String, before seq: UInt64) -> Bool {
    leases?.position(of: stream).map { $0 < seq } ?? false
  }

  /// Searches the journal for selected events, off the loop.
  ///
  /// - Parameter obstacle: Returns why an event of a service with tables cannot be undone, by the user
  ///   who has recorded it; `nil` if it can.
  package func changes(
    _ search: ChangeSearch, obstacle: @escaping @Sendable (_ user: UInt32?) -> String?
  ) -> Signal<FoundChanges, JournalError> {
    let makers = makeProjections.filter { hasRows($0.key) }
    return reading(.long) { reader throws(JournalError) in
      let found = try search.read(reader, Set(makers.keys))
      var changes = FoundChanges(streams: found.streams)
      for service in found.withRows.sorted() {
        guard let make = makers[service] else { continue }
        try changes.add(service, make, search, reader, obstacle)
      }
      return changes
    }
  }

  /// Reads the values of sources at past positions, off the loop.
  ///
  /// - Parameters:
  ///   - places: The full names, each with its position.
  ///   - limit: The most bytes of all values.
  /// - Returns: A signal of the values, in the same order, `nil` for a source without one; fewer if the
  ///   values have more bytes. It fails like ``value(of:at:)``.
  package func values(
    at places: [(source: String, seq: UInt64)], bytes limit: Int
  ) -> Signal<[JSONText?], JournalError> {
    let queries = places.map { past(of: $0.source, at: $0.seq) }
    return reading(.long) { reader throws(JournalError) in
      var (values, bytes): ([JSONText?], Int) = ([], 0)
      for query in queries {
        let value = try query?.read(reader).value
        bytes += value?.text.utf8.count ?? 0
        guard bytes <= limit else { break }
        values.append(value)
      }
      return values
    }
  }
}
