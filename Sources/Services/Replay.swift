internal import Journal

/// How a host starts: from the snapshots, then with every record after the oldest of them.
final class Replay {
  /// Where the streams end, and the commands that were run.
  let journal = JournalFold()

  /// The position of the oldest snapshot that is used; 0 when one is missing.
  let oldest: UInt64

  /// The position that was reached.
  private(set) var position: UInt64

  private let ledgers: [LedgerLink]
  private let store: any EventStore

  /// Up to where each service knows the journal.
  private let positions: [String: UInt64]
  private let journalPosition: UInt64

  /// Loads the snapshots.
  init(ledgers: [LedgerLink], store: any EventStore) throws(JournalError) {
    self.ledgers = ledgers
    self.store = store
    var positions: [String: UInt64] = [:]
    for ledger in ledgers {
      let position = ledger.start(try store.snapshot(of: ledger.service))
      try Self.check(position, of: ledger.service, store)
      positions[ledger.service] = position
    }
    self.positions = positions
    journalPosition = journal.start(from: try store.snapshot(of: JournalFold.service))
    try Self.check(journalPosition, of: JournalFold.service, store)
    oldest = positions.values.reduce(journalPosition, min)
    position = oldest
  }

  /// Refuses a beginning after which events are missing: what they said is known from snapshots only.
  private static func check(
    _ position: UInt64, of service: String, _ store: any EventStore
  ) throws(JournalError) {
    let removed = try store.lastRemoval(of: JournalFold.removalName(of: service))
    guard position < removed else { return }
    throw .corrupt(
      seq: removed, detail: "it was removed, and no snapshot of \(service) after it reads back")
  }

  /// Applies what came after them.
  func run(onProgress: (UInt64) -> Void) throws(JournalError) {
    var (service, ledger, known): (String, LedgerLink?, UInt64) = ("", nil, 0)
    var fault: JournalError?
    try store.replay(after: oldest) { records in
      for record in records where fault == nil {
        if record.seq > journalPosition { journal.apply(record) }
        // Records of the same service mostly follow each other.
        if !record.isOf(service) {
          service = record.service
          ledger = ledgers.first { $0.service == service }
          known = positions[service] ?? 0
        }
        if record.seq > known { fault = ledger?.replay(record) }
        if fault == nil { position = record.seq }
      }
      onProgress(position)
    }
    if let fault { throw fault }
  }
}

extension Record {
  /// Whether it belongs to a service, which must not be empty.
  fileprivate func isOf(_ service: String) -> Bool {
    let (stream, service) = (stream.utf8, service.utf8)
    guard !service.isEmpty, stream.starts(with: service) else { return false }
    return stream.count == service.count
      || stream[stream.index(stream.startIndex, offsetBy: service.count)] == UInt8(ascii: "/")
  }
}
