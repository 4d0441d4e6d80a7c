package import JSON
internal import Journal
package import Model
package import Signals

/// A query for a past value of a source.
struct Past: Sendable {
  let makeProjection: @Sendable () -> any Projection
  let service: String
  let source: String

  /// The last event of the stream with the source's name; 0 if there is no such stream.
  let head: UInt64
  let seq: UInt64

  /// The number of events to follow back in a stream before replaying the whole service instead.
  private static let maxSteps = 20_000

  func read(_ reader: any JournalReader) throws(JournalError) -> PastValue {
    let time = try reader.checkPast(seq)
    if let value = try follow(reader) { return PastValue(value: value, time: time) }
    return PastValue(value: try fold(reader), time: time)
  }

  /// Follows the stream back to the event that set the value.
  ///
  /// - Returns: `nil` if the value cannot be found this way.
  private func follow(_ reader: any JournalReader) throws(JournalError) -> JSONText?? {
    let fold = makeProjection()
    var next = head
    var steps = 0
    while next > 0, steps < Self.maxSteps {
      let records = try reader.records(ofStream: source, from: next, limit: 64)
      guard let oldest = records.last else { return nil }
      if let record = records.first(where: { $0.seq <= seq }) {
        guard let change = fold.given(by: record)?.first(where: { $0.source == source }),
          change.step == nil
        else { return nil }
        return .some(change.value)
      }
      steps += records.count
      next = oldest.previous
      // A stream that was forgotten begins again with a higher version.
      // Where changes depend on the state, an event of another stream may have set the value before.
      if next == 0, oldest.version == 1, fold.given(by: oldest) != nil { return .some(nil) }
    }
    return nil
  }

  /// Replays the records between the nearest snapshot and the position.
  private func fold(_ reader: any JournalReader) throws(JournalError) -> JSONText? {
    let fold = makeProjection()
    try fold.advance(reader, of: service, to: seq)
    return fold.value(of: source)
  }
}

/// A query for past changes.
///
/// It replays the state only if an event alone does not determine its changes.
struct PastChanges {
  private let fold: any Projection
  private let service: String
  private let isWanted: @Sendable (String) -> Bool

  private static let pageBytes = 256 * 1024
  private static let chunk = 64

  init(_ fold: any Projection, _ service: String, _ isWanted: @escaping @Sendable (String) -> Bool)
  {
    self.fold = fold
    self.service = service
    self.isWanted = isWanted
  }

  func read(
    _ reader: any JournalReader, after seq: UInt64
  ) throws(JournalError) -> Page<SourceChange> {
    try reader.check(seq)
    var changes: [SourceChange] = []
    var (end, bytes, scanned) = (seq, 0, 0)
    var holes: [ClosedRange<UInt64>] = []
    var isFolded = false
    while bytes < Self.pageBytes, scanned < 4096 {
      let records = try reader.records(after: end, limit: Self.chunk)
      guard !records.isEmpty else { break }
      for record in records {
        if record.seq > end + 1 { holes.append(end + 1...record.seq - 1) }
        end = record.seq
        guard record.service == service || fold.isOther(record) else { continue }
        if !isFolded, fold.given(by: record) == nil {
          isFolded = true
          try fold.advance(reader, of: service, to: record.seq - 1)
        }
        let all =
          isFolded ? fold.changes(by: record, where: isWanted) : fold.given(by: record) ?? []
        for change in all where isWanted(change.source) {
          changes.append(change)
          bytes += change.size
        }
      }
      scanned += records.count
    }
    return Page(entries: changes, end: end, holes: holes)
  }
}

/// The values of sources at a past position.
package struct PastValues: Sendable {
  /// The values, ordered by name.
  package let values: [(source: String, value: JSONText)]

  /// Whether more values follow the last one.
  package let isMore: Bool

  /// The time of the position's event in microseconds since 1970; `nil` if the event was removed.
  package let time: Int64?
}

extension ServiceHost {
  /// Reads the values of sources at a past position, ordered by name.
  ///
  /// - Parameters:
  ///   - service: The service of the sources; `nil` for all services.
  ///   - name: Only names after this one are returned; `nil` for all.
  ///   - maxBytes: The approximate limit on the total size of names and values. At least one
  ///     value is returned if there is one.
  /// - Returns: A signal of the values. It fails like ``value(of:at:)``.
  package func values(
    in service: String?, at seq: UInt64, behind name: String?, maxBytes: Int,
    where isWanted: @escaping @Sendable (String) -> Bool
  ) -> Signal<PastValues, JournalError> {
    let makeProjections = makeProjections.filter { $0.key != JournalProjection.service }
      .filter { service == nil || $0.key == service }
    return reading(.long) { reader throws(JournalError) in
      let time = try reader.checkPast(seq)
      let folds = try reader.fold(makeProjections, upTo: seq)
      var names: [(name: String, fold: any Projection)] = []
      for fold in folds.values {
        for source in fold.sources where isWanted(source) && source > name ?? "" {
          names.append((source, fold))
        }
      }
      names.sort { $0.name < $1.name }
      var values: [(source: String, value: JSONText)] = []
      var bytes = 0
      for (source, fold) in names {
        guard let value = fold.value(of: source) else { continue }
        // Quotes, colon and comma; a name needs no escapes.
        bytes += source.utf8.count + value.text.utf8.count + 4
        if bytes > maxBytes, !values.isEmpty {
          return PastValues(values: values, isMore: true, time: time)
        }
        values.append((source, value))
      }
      return PastValues(values: values, isMore: false, time: time)
    }
  }
}

extension JournalReader {
  /// Checks that the state at a position can be computed from retained events.
  ///
  /// - Returns: The time of the position's event; `nil` if the event was removed.
  /// - Throws: ``JournalError/outOfRange(first:last:)`` if the position is not available.
  func checkPast(_ seq: UInt64) throws(JournalError) -> Int64? {
    let bounds = try bounds()
    guard seq <= bounds.last, seq >= bounds.first || bounds.first == 1 else {
      throw .outOfRange(first: bounds.first, last: bounds.last)
    }
    guard seq > 0, let record = try records(after: seq - 1, limit: 1).first else { return nil }
    return record.seq == seq ? record.time : nil
  }

  /// Brings new projections to a position, each from its newest earlier snapshot.
  ///
  /// Reads every event once.
  func fold(
    _ makeProjections: [String: @Sendable () -> any Projection], upTo seq: UInt64
  ) throws(JournalError) -> [String: any Projection] {
    var folds: [String: (fold: any Projection, from: UInt64)] = [:]
    for (service, makeProjection) in makeProjections {
      let fold = makeProjection()
      folds[service] = (fold, try fold.start(self, of: service, upTo: seq))
    }
    let journal = folds[JournalProjection.service]
    let followers = folds.values.filter { !$0.fold.others.isEmpty }
    var position = folds.values.map(\.from).min() ?? 0
    while position < seq {
      let records = try records(after: position, limit: 1000)
      guard let last = records.last else { break }
      for record in records where record.seq <= seq {
        for case let (fold, from)? in [journal, folds[record.service]] where record.seq > from {
          fold.replay(record)
        }
        for (fold, from) in followers where record.seq > from && fold.isOther(record) {
          fold.replay(record)
        }
      }
      position = last.seq
    }
    return folds.mapValues(\.fold)
  }
}
