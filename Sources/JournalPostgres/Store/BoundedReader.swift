internal import Journal
internal import Model

/// A reader that shows nothing after a position.
///
/// The journal may have events of another daemon that this one has not applied. A client that got them
/// would be after the end of the journal, as this daemon knows it.
struct BoundedReader: JournalReader {
  let base: any JournalReader

  /// The last position that is shown.
  let last: UInt64

  func records(after seq: UInt64, limit: Int) throws(JournalError) -> [Record] {
    guard seq < last, limit > 0 else { return [] }
    let count = Int(clamping: last - seq)
    var records = try base.records(after: seq, limit: min(limit, count))
    // After removed events there are more positions than events.
    while let record = records.last, record.seq > last { records.removeLast() }
    return records
  }

  func records(
    ofStream stream: String, from seq: UInt64, limit: Int
  ) throws(JournalError) -> [Record] {
    try base.records(ofStream: stream, from: seq, limit: limit)
  }

  func snapshot(of service: String, upTo seq: UInt64) throws(JournalError) -> Snapshot? {
    try base.snapshot(of: service, upTo: min(seq, last))
  }

  func position(at time: Int64) throws(JournalError) -> UInt64 {
    min(try base.position(at: time), last)
  }

  func bounds() throws(JournalError) -> (first: UInt64, last: UInt64) {
    let bounds = try base.bounds()
    return (bounds.first, min(bounds.last, last))
  }

  func lastRemoval(of service: String, upTo seq: UInt64) throws(JournalError) -> UInt64 {
    try base.lastRemoval(of: service, upTo: seq)
  }
}
