internal import Facts

/// A reason for a new epoch.
///
/// After it, positions that clients remember may denote other events.
package enum JournalRenewal: Equatable, Sendable {
  /// Acknowledged events were lost; `log` is a copy of the remaining write-ahead log.
  case lostEvents(UInt64, log: String?)

  /// The file is not the one that was written last: it is a copy, or it was moved.
  case copy

  /// The last acknowledged position is unknown, for this reason.
  case unknownEnd(String)

  /// The system rebooted without a clean shutdown, and acknowledgements did not wait for the disk.
  case otherBoot(durability: String)
}

extension JournalLock {
  /// Returns why the journal beside this file needs a new epoch; `nil` if it does not.
  ///
  /// - Parameter durability: The durability to assume if the file does not state one.
  func renewal(_ durability: String) -> JournalRenewal? {
    if let markFault { return .unknownEnd(markFault) }
    guard let session, !session.hasEnded, session.boot != boot else { return nil }
    let durability = session.durability ?? durability
    return durability == Durability.always.name
      ? nil : .otherBoot(durability: durability)
  }
}

extension JournalRenewal: CustomStringConvertible {
  package var description: String {
    switch self {
    case .lostEvents(let count, let log):
      "the journal has lost \(count) acknowledged events"
        + (log.map { "; the remains are kept in \($0)" } ?? "")
    case .copy: "the journal was copied or moved here"
    case .unknownEnd(let reason):
      "\(reason), so acknowledged events of the journal may be lost"
    case .otherBoot(let durability):
      "the machine went down while the journal was written with durability \(durability), "
        + "so acknowledged events may be lost"
    }
  }
}
