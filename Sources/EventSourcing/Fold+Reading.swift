internal import Facts
internal import Journal

extension Fold {
  /// Starts from a service's newest snapshot at or before a position.
  ///
  /// - Returns: The position of the snapshot; 0 if there is none.
  /// - Throws: ``JournalError/outOfRange(first:last:)`` if events needed after the snapshot were
  ///   removed.
  func start(
    _ reader: any JournalReader, of service: String, upTo seq: UInt64
  ) throws(JournalError) -> UInt64 {
    let position = try Beginning(
      upTo: seq, form: snapshotForm,
      { end throws(JournalError) in try reader.snapshot(of: service, upTo: end) },
      start(from:)
    ).position
    let service = JournalFold.removalName(of: service)
    guard position >= (try reader.lastRemoval(of: service, upTo: seq)) else {
      let bounds = try reader.bounds()
      let first = try reader.lastRemoval(of: service, upTo: bounds.last)
      throw .outOfRange(first: max(bounds.first, first), last: bounds.last)
    }
    return position
  }

  /// Brings a new projection to a position.
  func advance(
    _ reader: any JournalReader, of service: String, to seq: UInt64
  ) throws(JournalError) {
    var position = try start(reader, of: service, upTo: seq)
    while position < seq {
      let records = try reader.records(after: position, limit: 1000)
      for record in records where record.seq <= seq { apply(record) }
      guard let last = records.last else { return }
      position = last.seq
    }
  }
}
