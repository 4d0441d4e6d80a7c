internal import JSON
internal import Journal
internal import Model

/// The start of a host: loads the snapshots, then replays all records after the oldest one.
final class Replay {
  /// The stream heads and the commands that already ran.
  let journal: JournalProjection

  /// The position of the oldest snapshot in use; 0 if one is missing.
  let oldest: UInt64

  /// The last replayed position.
  private(set) var position: UInt64

  /// Returns the warnings for an operator, one sentence each: about snapshots that were skipped, and
  /// about events that this program does not know.
  ///
  /// - Parameter added: The services that are replayed later.
  func warnings(besides added: [String]) -> [String] {
    ownWarnings + missingWarnings(besides: added)
  }

  /// The warnings about the services that are replayed here.
  var ownWarnings: [String] { snapshotWarnings + unknownWarnings }

  private let snapshotWarnings: [String]

  private let ledgers: [AnyLedger]
  private let store: any EventStore

  /// The position of each service's snapshot.
  private let positions: [String: UInt64]
  private let journalPosition: UInt64

  /// Loads the snapshots.
  init(ledgers: [AnyLedger], store: any EventStore) throws(JournalError) {
    self.ledgers = ledgers
    self.store = store
    journal = JournalProjection(store.names)
    var positions: [String: UInt64] = [:]
    var warnings: [String] = []
    for ledger in ledgers {
      positions[ledger.service] = try Self.begin(
        ledger.service, ledger.snapshotForm, store, &warnings, ledger.start)
    }
    self.positions = positions
    journalPosition = try Self.begin(
      JournalProjection.service, journal.snapshotForm, store, &warnings, journal.start(from:))
    oldest = positions.values.reduce(journalPosition, min)
    position = oldest
    for ledger in ledgers {
      var removed: UInt64 = 0
      for other in ledger.foreign.events().services {
        removed = max(removed, try store.lastRemoval(of: other))
      }
      if removed > positions[ledger.service] ?? 0 {
        warnings.append(
          "\(ledger.service) lacks events of other services that were removed up to \(removed)")
      }
    }
    snapshotWarnings = warnings
  }

  private var unknownWarnings: [String] {
    ledgers.flatMap { ledger in
      let unknown = ledger.gaps.unknown()
      return unknown.counts.sorted { $0.key < $1.key }.map { type, count in
        "\(ledger.service) ignores \(count) events of the type \(type), which this program does "
          + "not know: from event \(unknown.first ?? 0) on, it keeps no snapshots and removes no "
          + "events"
      }
    }
  }

  /// The warnings about events of services that this program does not have.
  private func missingWarnings(besides added: [String]) -> [String] {
    let known = Set(ledgers.map(\.service) + added)
    var counts: [String: UInt64] = [:]
    // Consecutive streams mostly belong to the same service.
    var (service, isKnown) = ("", true)
    journal.heads.forEach { stream, head in
      let name = store.names[stream]
      if !SourceName.isBelow(name, service.utf8.span) {
        service = name.service
        isKnown = known.contains(service)
      }
      // An imported journal may have any version.
      if !isKnown { counts[service, default: 0] &+= head.version }
    }
    return counts.sorted { $0.key < $1.key }.map { service, count in
      "the daemon ignores \(count) events of the service '\(service)', which this program does not "
        + "have, and keeps them"
    }
  }

  /// Loads the newest readable snapshot of a service and returns its position.
  ///
  /// - Throws: ``JournalError`` if events after it were removed, because the state then needs a
  ///   later snapshot.
  private static func begin(
    _ service: String, _ form: Int, _ store: any EventStore, _ warnings: inout [String],
    _ start: (Snapshot) -> Bool
  ) throws(JournalError) -> UInt64 {
    let beginning = try ReplayStart(
      upTo: .max, form: form,
      { end throws(JournalError) in try store.snapshot(of: service, upTo: end) }, start)
    let removed = try store.lastRemoval(of: JournalProjection.removalName(of: service))
    guard beginning.position < removed else {
      if let reason = beginning.unread?.reason {
        warnings.append("\(reason); the start replays the events after \(beginning.position)")
      }
      return beginning.position
    }
    if let (snapshot, reason) = beginning.unread, snapshot.schema > form {
      throw .notUnderstood(seq: removed, detail: "it was removed, and \(reason)")
    }
    throw .corrupt(
      seq: removed, detail: "it was removed, and no snapshot of \(service) after it can be read")
  }

  /// Replays the records after the snapshots.
  func run(onProgress: (UInt64) -> Void) throws(JournalError) {
    var (service, ledger, known): (String, AnyLedger?, UInt64) = ("", nil, 0)
    var (fault, last): (JournalError?, Int) = (nil, -1)
    var decoder = RecordDecoder()
    let followers = ledgers.filter { !$0.foreign.events().isEmpty }
    try store.replay(after: oldest) { events in
      for i in 0..<events.count where fault == nil {
        let row = events[i]
        let record = decoder.record(row)
        let stream = store.names.add(row.stream, after: &last)
        if record.seq > journalPosition { _ = journal.replay(record, in: stream) }
        // Consecutive records mostly belong to the same service.
        if !record.isOf(service) {
          service = record.service
          ledger = ledgers.first { $0.service == service }
          known = positions[service] ?? 0
        }
        if record.seq > known { fault = ledger?.replay(record, stream) }
        for follower in followers
        where fault == nil && follower.foreign.events().contains(record.type) {
          if record.seq > positions[follower.service] ?? 0 {
            fault = follower.replay(record, stream)
          }
        }
        if fault == nil { position = record.seq }
      }
      onProgress(position)
    }
    if let fault { throw fault }
  }
}

extension Record {
  /// Returns whether the record belongs to a service.
  fileprivate func isOf(_ service: String) -> Bool {
    SourceName.isBelow(stream, service) || stream.hasSameBytes(as: service)
  }
}
