package import JSON
internal import Journal
internal import Model

/// The changes that a ``ChangeSearch`` has found.
package struct FoundChanges: Sendable {
  package let streams: [ChangedStream]

  /// The rows that selected events have written, in the order of these events.
  package private(set) var rows: [ChangedRow] = []

  /// The streams with selected events that cannot be undone, with the reason.
  package private(set) var left: [(stream: String, reason: String)] = []

  init(streams: [ChangedStream]) {
    self.streams = streams
  }
}

/// A row of a service that selected events have written.
package struct ChangedRow: Sendable {
  package let service: String
  let place: RowPlace

  /// The row before the first selected event, and after the last one; `nil` if there is none.
  package let before: JSONText?
  package fileprivate(set) var after: JSONText?

  /// The position of the last selected event.
  package fileprivate(set) var last: UInt64

  /// The first event behind it that is not selected and has written the row; `nil` if the search has
  /// seen none.
  package fileprivate(set) var other: UInt64?
}

extension FoundChanges {
  /// Adds the rows that selected events of a service have written.
  mutating func add(
    _ service: String, _ makeProjection: @escaping @Sendable () -> any Projection,
    _ search: ChangeSearch, _ reader: any JournalReader, _ obstacle: (UInt32?) -> String?
  ) throws(JournalError) {
    guard let fold = try reader.fold([service: makeProjection], upTo: search.after)[service] else {
      return
    }
    var places: [RowPlace: Int] = [:]
    var end = search.after
    while end < search.through {
      let records = try reader.records(after: end, limit: Int(min(search.through - end, 256)))
      guard let last = records.last else { break }
      end = last.seq
      for record in records where record.seq <= search.through {
        guard record.service == service || fold.isOther(record) else { continue }
        let isOwn = record.service == service && search.selects(record)
        var isSelected = false
        let writes = fold.writes(of: record) { writes in
          isSelected =
            isOwn
            && (search.isWanted(record.stream) || writes.sources.contains(where: search.isWanted))
          if isSelected {
            let reason = writes.obstacle ?? obstacle(JournalEvent(record).origin?.uid)
            if let reason {
              leave(record.stream, reason)
              isSelected = false
            }
          }
          return isSelected ? { _ in true } : { places[$0] != nil }
        }
        for write in writes { add(write, of: service, at: record.seq, isSelected, &places) }
        if rows.count > ChangeSearch.maxStreams { return }
      }
    }
  }

  private mutating func leave(_ stream: String, _ reason: String) {
    guard left.count < ChangeSearch.maxStreams,
      !left.contains(where: { $0.stream == stream && $0.reason == reason })
    else { return }
    left.append((stream, reason))
  }

  private mutating func add(
    _ write: RowWrite, of service: String, at seq: UInt64, _ isSelected: Bool,
    _ places: inout [RowPlace: Int]
  ) {
    if let place = places[write.place] {
      if isSelected {
        rows[place].after = write.after
        rows[place].last = seq
      } else {
        rows[place].other = rows[place].other ?? seq
      }
    } else if isSelected {
      places[write.place] = rows.count
      rows.append(
        ChangedRow(
          service: service, place: write.place, before: write.before, after: write.after,
          last: seq))
    }
  }
}

/// A row as it is now, for an undo.
package struct PresentRow {
  /// The name of the source, or of the stream of a row that clients do not see.
  package let name: String

  /// The name of the stream of the row.
  package let stream: String

  /// Whether clients see the row.
  package let isShown: Bool

  /// The row now, and from before, as clients see them; `nil` if there is none.
  package let now: JSONText?
  package let old: JSONText?

  /// Whether it differs from the row from before.
  package let differs: Bool

  /// Whether it is another one than the last selected event has left.
  package let hasChangedSince: Bool
}

extension ServiceHost {
  /// Returns whether the rows of a service can be undone.
  package func hasRows(_ service: String) -> Bool {
    guard let ledger = ledger(service), ledger.startFault == nil, ledger.isComplete else {
      return false
    }
    return ledger.rows != nil && ledger.gaps.isWhole()
  }

  /// Returns a row of the pending state, compared with the one that an undo has found; `nil` if there
  /// is no such table any more.
  package func present(_ changed: ChangedRow) -> PresentRow? {
    guard let rows = ledger(changed.service)?.rows, let named = rows.named(changed.place) else {
      return nil
    }
    let now = rows.row(changed.place)
    let stream = named.stream ?? changed.service
    func isSame(_ a: JSONText?, _ b: JSONText?) -> Bool {
      if let a, let b { named.isSame(a, b) } else { a == b }
    }
    return PresentRow(
      name: named.source ?? stream, stream: stream, isShown: named.source != nil,
      now: now.flatMap(named.shown), old: changed.before.flatMap(named.shown),
      differs: !isSame(now, changed.before),
      hasChangedSince: !isSame(now, changed.after))
  }

  /// Sets rows back to what they were; within a command.
  ///
  /// Records one event in the stream of each row, and one in that of the service for all others.
  package func restore(_ changed: [ChangedRow]) {
    var parts: [(service: String, stream: String, rows: [RestoredRows.Row])] = []
    for row in changed {
      guard let named = ledger(row.service)?.rows?.named(row.place) else { continue }
      let stream = named.stream ?? row.service
      let restored = RestoredRows.Row(table: named.table, key: named.key, row: row.before)
      if let place = parts.firstIndex(where: { $0.stream == stream }) {
        parts[place].rows.append(restored)
      } else {
        parts.append((row.service, stream, [restored]))
      }
    }
    for part in parts {
      ledger(part.service)?.rows?.restore(RestoredRows(rows: part.rows), part.stream)
    }
  }
}
