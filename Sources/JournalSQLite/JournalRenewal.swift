/// Why a journal has another epoch than when it was written last: what a client knows of it may mean
/// something else now.
package enum JournalRenewal: Equatable, Sendable {
  /// So many acknowledged events are gone; what was left of their log is kept in a file.
  case lostEvents(UInt64, log: String?)

  /// The file is another than the one that was written last: a copy, or it was moved.
  case copy

  /// Nothing says how far the journal was acknowledged, for this reason.
  case unknownEnd(String)

  /// The machine was started anew without an end of the daemon, and answers did not wait for the
  /// disk.
  case otherBoot(durability: String)
}

extension JournalLock {
  /// Why a journal beside this file needs another epoch; `nil` when it does not.
  ///
  /// - Parameter durability: How it was written, where the file does not say so.
  func renewal(_ durability: String) -> JournalRenewal? {
    if let markFault { return .unknownEnd(markFault) }
    guard let session, !session.hasEnded, session.boot != boot else { return nil }
    let durability = session.durability ?? durability
    return durability == SQLiteStore.Durability.always.name
      ? nil : .otherBoot(durability: durability)
  }
}

extension JournalRenewal: CustomStringConvertible {
  package var description: String {
    switch self {
    case .lostEvents(let count, let log):
      "the journal has lost \(count) acknowledged events"
        + (log.map { "; what is left of them is kept in \($0)" } ?? "")
    case .copy: "the journal is a copy, or was moved to here"
    case .unknownEnd(let reason):
      "\(reason), so that acknowledged events of the journal may be gone"
    case .otherBoot(let durability):
      "the machine went down while the journal was written with durability \(durability), "
        + "so that acknowledged events may be gone"
    }
  }
}
