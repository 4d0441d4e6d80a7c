package import Model

/// A reader that throws once its reading is cancelled, so that no reading delays shutdown.
package struct StoppableReader: JournalReader {
  private let base: any JournalReader
  private let isCancelled: @Sendable () -> Bool

  package init(base: any JournalReader, isCancelled: @escaping @Sendable () -> Bool) {
    (self.base, self.isCancelled) = (base, isCancelled)
  }

  /// Returns the base reader; throws if the reading is cancelled.
  private func open() throws(JournalError) -> any JournalReader {
    guard !isCancelled() else { throw .unavailable(detail: "the reading is cancelled") }
    return base
  }

  package func records(after seq: UInt64, limit: Int) throws(JournalError) -> [Record] {
    try open().records(after: seq, limit: limit)
  }

  package func records(
    ofStream stream: String, from seq: UInt64, limit: Int
  ) throws(JournalError) -> [Record] {
    try open().records(ofStream: stream, from: seq, limit: limit)
  }

  package func snapshot(of service: String, upTo seq: UInt64) throws(JournalError) -> Snapshot? {
    try open().snapshot(of: service, upTo: seq)
  }

  package func position(at time: Int64) throws(JournalError) -> UInt64 {
    try open().position(at: time)
  }

  package func bounds() throws(JournalError) -> (first: UInt64, last: UInt64) {
    try open().bounds()
  }

  package func lastRemoval(of service: String, upTo seq: UInt64) throws(JournalError) -> UInt64 {
    try open().lastRemoval(of: service, upTo: seq)
  }
}
