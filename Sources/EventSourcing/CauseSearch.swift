package import JSON
internal import Journal
package import Model
package import Signals

/// An event that has changed a source.
package struct FoundChange: Sendable {
  package let source: String
  package let event: JournalEvent

  /// The value that the event gave to the source; `nil` if it does not follow from the event alone.
  package let value: JSONText?
}

/// The result of the search for an event.
package enum ChangeFinding: Sendable {
  case found(FoundChange)

  /// There is none.
  case none

  /// It was removed from the journal, or is too far back.
  case lost

  /// Returns the newer of two changes.
  fileprivate func newer(_ other: ChangeFinding) -> ChangeFinding {
    switch (self, other) {
    case (.found(let one), .found(let two)): one.event.seq < two.event.seq ? other : self
    case (.found, _): self
    case (.lost, .none): self
    default: other
    }
  }
}

extension ServiceHost {
  /// The most events of a stream that the search for a change looks at.
  private static let maxSteps = 20_000

  /// Finds the newest change of some sources up to a position, off the loop.
  package func lastChange(
    of sources: [String], upTo seq: UInt64
  ) -> Signal<ChangeFinding, JournalError> {
    var searches: [ChangeOfSource] = []
    for source in sources {
      guard let ledger = ledger(source.firstSegment) else { continue }
      if ledger.makeProjection().dependsOnState {
        searches.append(
          ChangeOfSource(
            source: source, stream: source, head: 0, makeProjection: ledger.makeProjection))
        continue
      }
      for stream in source.prefixes {
        let head = head(of: stream).seq
        guard head > 0 else { continue }
        searches.append(
          ChangeOfSource(
            source: source, stream: stream, head: head, makeProjection: ledger.makeProjection))
      }
    }
    let (forms, most, all) = (eventForms, Self.maxSteps, searches)
    return reading(.long) { reader throws(JournalError) in
      var newest = ChangeFinding.none
      for search in all {
        newest = newest.newer(try search.read(reader, upTo: seq, steps: most, forms))
      }
      return newest
    }
  }

  /// Finds the event at a position, off the loop.
  package func change(at seq: UInt64) -> Signal<ChangeFinding, JournalError> {
    let forms = eventForms
    let services = makeProjections
    return reading(.long) { reader throws(JournalError) in
      guard seq > 0, let record = try reader.records(after: seq - 1, limit: 1).first,
        record.seq == seq
      else { return .lost }
      return .found(FoundChange(of: record.stream, by: record, services[record.service]?(), forms))
    }
  }
}

/// The search for the change of a source in one stream.
private struct ChangeOfSource: Sendable {
  let source: String
  let stream: String
  let head: UInt64
  let makeProjection: @Sendable () -> any Projection

  func read(
    _ reader: any JournalReader, upTo seq: UInt64, steps: Int, _ forms: [String: EventForms]
  ) throws(JournalError) -> ChangeFinding {
    let fold = makeProjection()
    if fold.dependsOnState {
      let last = try reader.lastFoldedChanges(
        of: [source], of: source.firstSegment, upTo: seq, steps: steps, makeProjection)
      guard let found = last.found[source] else { return last.end == 0 ? .none : .lost }
      return .found(FoundChange(of: source, by: found, forms))
    }
    var (next, left) = (head, steps)
    while next > 0, left > 0 {
      let records = try reader.records(ofStream: stream, from: next, limit: 64)
      guard let oldest = records.last else { return .lost }
      for record in records
      where record.seq <= seq && fold.sources(changedBy: record)?.contains(source) == true {
        return .found(FoundChange(of: source, by: record, fold, forms))
      }
      left -= records.count
      next = oldest.previous
      // A stream that was forgotten begins again with a higher version.
      if next == 0 { return oldest.version > 1 ? .lost : .none }
    }
    return .lost
  }
}

/// A change that a fold has found.
struct FoldedChange {
  let record: Record
  let change: SourceChange
}

extension JournalReader {
  /// Returns the last change of each source up to a position, for a service whose events do not name
  /// the sources that they change.
  ///
  /// Folds the events behind a snapshot, then those behind the one before, until all are found. Only
  /// notes which events write the tables of derived sources at first. Then computes the values around
  /// the newest of them, which has mostly changed the source, and around more if it has not.
  ///
  /// - Parameters:
  ///   - steps: The search goes no further back after that many events.
  /// - Returns: The changes, and the last position at which the other sources may have changed; 0 if
  ///   they have not.
  func lastFoldedChanges(
    of sources: Set<String>, of service: String, upTo seq: UInt64, steps: Int,
    _ makeProjection: () -> any Projection
  ) throws(JournalError) -> (found: [String: FoldedChange], end: UInt64) {
    var found: [String: FoldedChange] = [:]
    var (end, left) = (seq, steps)
    while end > 0, found.count < sources.count, left > 0 {
      let fold = makeProjection()
      let begin: UInt64
      do throws(JournalError) {
        begin = try fold.start(self, of: service, upTo: end - 1)
      } catch {
        guard case .outOfRange = error else { throw error }
        return (found, end)
      }
      let wanted = sources.subtracting(found.keys)
      var derived: [String: [UInt64]] = [:]
      left -= try forEachChange(of: service, after: begin, upTo: end, fold) { source, seq in
        if wanted.contains(source) { derived[source, default: []].append(seq) }
        return false
      } body: { record, change in
        guard wanted.contains(change.source) else { return }
        found[change.source] = FoldedChange(record: record, change: change)
      }
      var (passed, count) = (0, 1)
      while !derived.isEmpty {
        let ranges = derived.mapValues { all in
          let last = all.count - passed - 1
          return all[max(0, last - count + 1)]...all[last]
        }
        let fold = makeProjection()
        let begin = try fold.start(self, of: service, upTo: end - 1)
        let last = ranges.values.map(\.upperBound).max() ?? begin
        _ = try forEachChange(of: service, after: begin, upTo: last, fold) { source, seq in
          ranges[source]?.contains(seq) == true
        } body: { record, change in
          guard ranges[change.source] != nil else { return }
          found[change.source] = FoldedChange(record: record, change: change)
        }
        passed += count
        count *= 32
        derived = derived.filter { found[$0.key] == nil && $0.value.count > passed }
      }
      end = begin
    }
    return (found, end)
  }

  /// Applies the events of a service to a projection, and calls a function for each change.
  ///
  /// - Parameters:
  ///   - isWanted: Whether the change of a derived source by the event at a position is wanted.
  /// - Returns: The number of events that were read.
  private func forEachChange(
    of service: String, after begin: UInt64, upTo end: UInt64, _ fold: any Projection,
    where isWanted: (_ source: String, _ seq: UInt64) -> Bool,
    body: (Record, SourceChange) -> Void
  ) throws(JournalError) -> Int {
    var (position, count) = (begin, 0)
    while position < end {
      let records = try records(after: position, limit: 1000)
      guard let last = records.last else { break }
      for record in records
      where record.seq <= end && (record.service == service || fold.isOther(record)) {
        for change in fold.changes(by: record, where: { isWanted($0, record.seq) }) {
          body(record, change)
        }
      }
      count += records.count
      position = last.seq
    }
    return count
  }
}

extension FoundChange {
  fileprivate init(of source: String, by found: FoldedChange, _ forms: [String: EventForms]) {
    self.source = source
    event = JournalEvent(found.record, forms)
    value = found.change.step == nil ? found.change.value : nil
  }

  fileprivate init(
    of source: String, by record: Record, _ fold: (any Projection)?, _ forms: [String: EventForms]
  ) {
    self.source = source
    event = JournalEvent(record, forms)
    let change = fold?.given(by: record)?.first { $0.source == source }
    value = change?.step == nil ? change?.value : nil
  }
}
