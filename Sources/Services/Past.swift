internal import JSON
internal import Journal

/// How a value of the past is found.
struct Past: Sendable {
  private let makeFold: @Sendable () -> any Fold
  private let service: String
  private let source: String
  private let seq: UInt64

  private static let pageSize = 1000

  init(ledger: any AnyLedger, of source: String, at seq: UInt64) {
    makeFold = ledger.makeFold
    service = ledger.service
    self.source = source
    self.seq = seq
  }

  /// Folds the records between the nearest snapshot and the position.
  func read(_ reader: any JournalReader) throws(JournalError) -> JSONText? {
    let bounds = try reader.bounds()
    guard seq <= bounds.last, seq + 1 >= bounds.first else {
      throw .outOfRange(first: bounds.first, last: bounds.last)
    }
    let fold = makeFold()
    var position = fold.start(from: try reader.snapshot(of: service, upTo: seq))
    while position < seq {
      let limit = Int(min(UInt64(Self.pageSize), seq - position))
      let records = try reader.records(after: position, limit: limit)
      guard let last = records.last else { break }
      for record in records { fold.apply(record) }
      position = last.seq
    }
    return fold.value(of: source)
  }
}
