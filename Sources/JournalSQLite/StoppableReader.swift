internal import EventLoop
internal import Journal

/// A reader that throws once its reading is cancelled, so that no reading delays shutdown.
struct StoppableReader: JournalReader {
  let base: any JournalReader
  let cancellation: Cancellation

  /// Returns the base reader; throws if the reading is cancelled.
  private func open() throws(JournalError) -> any JournalReader {
    guard !cancellation.isCancelled else { throw .unavailable(detail: "the reading is cancelled") }
    return base
  }

  func records(after seq: UInt64, limit: Int) throws(JournalError) -> [Record] {
    try open().records(after: seq, limit: limit)
  }

  func records(
    ofStream stream: String, from seq: UInt64, limit: Int
  ) throws(JournalError) -> [Record] {
    try open().records(ofStream: stream, from: seq, limit: limit)
  }

  func snapshot(of service: String, upTo seq: UInt64) throws(JournalError) -> Snapshot? {
    try open().snapshot(of: service, upTo: seq)
  }

  func position(at time: Int64) throws(JournalError) -> UInt64 {
    try open().position(at: time)
  }

  func bounds() throws(JournalError) -> (first: UInt64, last: UInt64) {
    try open().bounds()
  }

  func lastRemoval(of service: String, upTo seq: UInt64) throws(JournalError) -> UInt64 {
    try open().lastRemoval(of: service, upTo: seq)
  }
}
