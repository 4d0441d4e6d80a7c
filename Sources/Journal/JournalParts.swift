package import Model

/// A part of a whole journal that is copied.
package enum JournalPart {
  case events([Record])
  case removals(KnownRemovals)
  /// The notes that are stored beside the events.
  case notes([JournalNote: String])
  /// A snapshot, for replay or for values of the past.
  case snapshot(Snapshot)
}

/// A journal that is read as a whole, consistent as of one moment.
package protocol JournalOrigin {
  /// The name of the journal for messages.
  var name: String { get }

  /// The name of the daemon that the journal belongs to.
  var daemon: String { get }
  var epoch: String { get }
  var first: UInt64 { get }
  var last: UInt64 { get }

  /// Passes the journal to `body`: events in order, then removals, notes and snapshots.
  ///
  /// - Parameters:
  ///   - seq: The position after which the events begin; 0 for all.
  ///   - onPage: Called with the last position after each page, to show progress or to pause.
  /// - Throws: ``JournalError/corrupt(seq:detail:)`` at the first damaged event, and errors of
  ///   `body`.
  func read(
    after seq: UInt64, onPage: (UInt64) -> Void,
    _ body: (JournalPart) throws(JournalError) -> Void
  ) throws(JournalError)
}

extension JournalOrigin {
  /// Passes the whole journal to `body`; see ``read(after:onPage:_:)``.
  package func read(
    onPage: (UInt64) -> Void, _ body: (JournalPart) throws(JournalError) -> Void
  ) throws(JournalError) {
    try read(after: 0, onPage: onPage, body)
  }
}

/// A journal that is made of the parts of another one: the complete one, or none.
package protocol JournalTarget: AnyObject {
  /// The name of the journal that was replaced; `nil` if there was none.
  var replaced: String? { get }

  /// Appends events, in order.
  func add(_ records: [Record]) throws(JournalError)
  func add(_ snapshot: Snapshot) throws(JournalError)

  /// Adds the record of removed events.
  func add(_ removals: KnownRemovals) throws(JournalError)

  /// Adds the notes.
  func add(_ notes: [JournalNote: String]) throws(JournalError)

  /// Completes the journal: verifies it, flushes it to the disk and puts it into place.
  ///
  /// - Parameter accept: Called with the name of the journal before it is in place; throws to reject
  ///   it.
  /// - Returns: The report of the verification.
  func finish(
    _ accept: (String) throws(JournalError) -> Void
  ) throws(JournalError) -> JournalReport
}

extension JournalTarget {
  /// Completes the journal; see ``finish(_:)``.
  package func finish() throws(JournalError) -> JournalReport { try finish { _ in } }

  /// Adds a part of another journal.
  package func add(_ part: JournalPart) throws(JournalError) {
    switch part {
    case .events(let records): try add(records)
    case .removals(let removals): try add(removals)
    case .notes(let notes): try add(notes)
    case .snapshot(let snapshot): try add(snapshot)
    }
  }
}

/// The result of reading a whole journal.
package struct JournalReport: Equatable, Sendable {
  package var epoch = ""
  package var first: UInt64 = 0
  package var last: UInt64 = 0

  /// The number of undamaged records, and of removed ones.
  package var count = 0
  package var removed: UInt64 = 0

  /// The damages, one line each; a check stops after a hundred.
  package var damages: [String] = []

  package init(epoch: String = "", first: UInt64 = 0, last: UInt64 = 0) {
    (self.epoch, self.first, self.last) = (epoch, first, last)
  }
}

/// The events that were removed from a journal.
package struct KnownRemovals: Equatable, Sendable {
  /// A range in which events were removed, and the services that they belonged to.
  package struct Stretch: Equatable, Sendable {
    package let range: ClosedRange<UInt64>
    package let services: [String]

    package init(range: ClosedRange<UInt64>, services: [String]) {
      (self.range, self.services) = (range, services)
    }
  }

  package var stretches: [Stretch] = []

  /// The last removed position of each service.
  package var services: [String: UInt64] = [:]

  package init() {}
}
