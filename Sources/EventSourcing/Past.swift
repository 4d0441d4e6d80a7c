internal import Facts
internal import JSON
internal import Journal

/// A query for a past value of a source.
struct Past: Sendable {
  let makeFold: @Sendable () -> any Fold
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
    let fold = makeFold()
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
      if next == 0 { return .some(nil) }
    }
    return nil
  }

  /// Replays the records between the nearest snapshot and the position.
  private func fold(_ reader: any JournalReader) throws(JournalError) -> JSONText? {
    let fold = makeFold()
    try fold.advance(reader, of: service, to: seq)
    return fold.value(of: source)
  }
}

/// A query for past changes.
///
/// It replays the state only if an event alone does not determine its changes.
struct PastChanges {
  private let fold: any Fold
  private let service: String
  private let isWanted: @Sendable (String) -> Bool

  private static let pageBytes = 256 * 1024
  private static let chunk = 64

  init(_ fold: any Fold, _ service: String, _ isWanted: @escaping @Sendable (String) -> Bool) {
    self.fold = fold
    self.service = service
    self.isWanted = isWanted
  }

  func read(_ reader: any JournalReader, after seq: UInt64) throws(JournalError) -> Page<SourceChange> {
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
        guard record.service == service else { continue }
        if !isFolded, fold.given(by: record) == nil {
          isFolded = true
          try fold.advance(reader, of: service, to: record.seq - 1)
        }
        for change in isFolded ? fold.changes(by: record) : fold.given(by: record) ?? []
        where isWanted(change.source) {
          changes.append(change)
          bytes += change.size
        }
      }
      scanned += records.count
    }
    return Page(entries: changes, end: end, holes: holes)
  }
}
