internal import Journal
package import Model

// What a client has missed while the daemon was restarted. These functions read the journal
// synchronously, so use them only at the start.
extension ServiceHost {
  /// The most events to read.
  private static let mostMissed: UInt64 = 200_000

  /// Returns the changes of each source of a service after a position, oldest first.
  ///
  /// - Returns: `nil` if there are too many events, or some of them were removed.
  package func missedChanges(in service: String, after seq: UInt64) -> [String: [SourceChange]]? {
    guard seq < durable else { return [:] }
    guard durable - seq <= Self.mostMissed, let makeProjection = ledger(service)?.makeProjection
    else {
      return nil
    }
    return try? readNow { reader throws(JournalError) in
      let past = PastChanges(makeProjection(), service) { _ in true }
      var changed: [String: [SourceChange]] = [:]
      var end = seq
      while end < durable {
        let page = try past.read(reader, after: end)
        guard page.end > end else { break }
        for change in page.entries { changed[change.source, default: []].append(change) }
        end = page.end
      }
      return changed
    }
  }

  /// Returns the value that a source had at a position; none if that is not known.
  package func missedValue(of source: String, at seq: UInt64) -> PastValue {
    let none = PastValue(value: nil, time: nil)
    guard let past = past(of: source, at: seq) else { return none }
    return (try? readNow { reader throws(JournalError) in try past.read(reader) }) ?? none
  }

  /// Returns the positions of the events between two positions that match a filter.
  ///
  /// - Returns: `nil` if there are too many events, or some of them were removed.
  package func missedEvents(
    after seq: UInt64, upTo last: UInt64, _ filter: EventFilter
  ) -> [UInt64]? {
    guard seq < last else { return [] }
    guard last - seq <= Self.mostMissed else { return nil }
    let forms = eventForms
    return try? readNow { reader throws(JournalError) in
      try reader.check(seq)
      var found: [UInt64] = []
      var end = seq
      while end < last {
        let records = try reader.records(after: end, limit: 1_000)
        guard let newest = records.last else { break }
        for record in records where record.seq <= last && filter.event(of: record, forms) != nil {
          found.append(record.seq)
        }
        end = newest.seq
      }
      return found
    }
  }
}
