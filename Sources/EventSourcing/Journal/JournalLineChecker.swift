internal import Journal

/// Checks that the lines of an exported journal are in a valid order.
package struct JournalLineChecker {
  private var hasHead = false
  private var hasEnded = false
  private var count = 0
  private var last: Record?
  private var heads = StreamHeads()

  private static let maxNumber: UInt64 = 1 << 62

  package init() {}

  /// Checks the next line.
  ///
  /// - Throws: The rule that the line breaks.
  package mutating func take(_ line: JournalLine) throws(JournalLine.Fault) {
    guard !hasEnded else { throw .init("there are lines after the end") }
    switch line {
    case .head:
      guard !hasHead else { throw .init("a second head") }
      hasHead = true
    case _ where !hasHead: throw .init("the first line is not the head of a journal")
    case .event(let record): try take(record)
    case .removal, .lastRemoval, .note, .snapshot: break
    case .end(let count):
      guard count == self.count else {
        throw .init("\(count) events were exported, the file has \(self.count)")
      }
      hasEnded = true
    }
  }

  /// Checks that the export is complete.
  ///
  /// - Throws: If the end line is missing.
  package func finish() throws(JournalLine.Fault) {
    guard hasEnded else { throw .init("the end is missing: the file is truncated") }
  }

  private mutating func take(_ record: Record) throws(JournalLine.Fault) {
    guard record.seq > last?.seq ?? 0 else { throw .init("'seq' does not increase") }
    guard record.time >= last?.time ?? 0 else { throw .init("'time' goes back") }
    // Leaves room for positions and times of future events.
    guard max(record.seq, record.version) <= Self.maxNumber, record.time <= Self.maxNumber else {
      throw .init("'seq', 'version' or 'time' is above \(Self.maxNumber)")
    }
    guard record.previous < record.seq, record.version > 0 else {
      throw .init("'previous' and 'version' do not match")
    }
    let head = heads[record.stream]
    // Events between the two may have been removed.
    let isNext = record.version == head.version + 1 && record.previous == head.seq
    guard isNext || record.version > head.version + 1 && record.previous > head.seq else {
      throw .init("'version' or 'previous' does not follow the event before in its stream")
    }
    heads.note(record)
    last = record
    count += 1
  }
}
