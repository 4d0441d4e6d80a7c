internal import Glibc

/// A crowd that puts load on a daemon in rounds.
///
/// After each round the record is checked against the journal; checked entries are discarded.
package final class Trial {
  /// The end of a round.
  package enum End: Sendable {
    /// All clients are killed; the daemon continues.
    case clientsKilled
    /// The daemon is killed under load.
    case daemonKilled
    /// Clients and daemon are killed.
    case allKilled
    /// The daemon gets SIGTERM.
    case daemonEnded
  }

  package let daemon: LoadedDaemon
  package let crowd: Crowd
  private var past = Past()

  /// Events after the past that earlier rounds have read.
  private var journal: [Event] = []

  /// The digests of all events.
  private var digests = Digests()

  /// Called with a violation before the history is shrunk, which may take long.
  package var onViolation: (Violation, History) -> Void = { _, _ in }

  package private(set) var lines = 0
  package var events: Int { past.proved }

  /// Creates a trial with a new daemon.
  package init(_ daemon: LoadedDaemon, _ crowd: Crowd) throws {
    self.daemon = daemon
    self.crowd = crowd
    let reader = try JournalReader(daemon.socket)
    for i in 0..<2 {
      try reader.bind("cells/n\(i)", to: "cells/bound\(i)", name: "b\(i)")
      past.bindings["cells/bound\(i)"] = KnownBinding(to: "cells/n\(i)")
    }
    past.proved = 2
  }

  /// Runs the crowd while the daemon is restarted again and again, and checks the result.
  ///
  /// The clients keep their connections.
  ///
  /// - Parameter isKill: Returns whether the daemon is killed at a restart.
  /// - Returns: A minimal history with a violation; `nil` if there is none.
  package func restarts(
    _ count: Int, everyMilliseconds milliseconds: Int, isKill: (Int) -> Bool
  ) throws -> Counterexample? {
    for i in 0..<count {
      crowd.work(milliseconds: milliseconds)
      try daemon.restartUnderManager(isKill: isKill(i))
    }
    crowd.work(milliseconds: milliseconds)
    crowd.leave("killed")
    return try check()
  }

  /// Runs the crowd for one round and checks the result.
  ///
  /// - Returns: A minimal history with a violation; `nil` if there is none.
  package func round(milliseconds: Int, _ end: End) throws -> Counterexample? {
    crowd.work(milliseconds: milliseconds)
    switch end {
    case .clientsKilled: crowd.leave("killed")
    case .daemonKilled:
      daemon.end(SIGKILL)
      crowd.listenToTheEnd()
    case .allKilled:
      daemon.end(SIGKILL)
      crowd.leave("killed")
    case .daemonEnded:
      daemon.signal(SIGTERM)
      crowd.listenToTheEnd()
      let code = daemon.end(SIGTERM)
      guard code == 0 else {
        throw LoadedDaemon.Failure(description: "binderd has ended with \(code)")
      }
    }
    if end != .clientsKilled { try daemon.start() }
    return try check()
  }

  private func check() throws -> Counterexample? {
    let reader = try JournalReader(daemon.socket)
    try reader.waitForSilence()
    let epoch = try reader.epoch()
    if past.epoch == nil { past.epoch = epoch }
    for (target, binding) in past.bindings {
      try reader.wait(until: target, has: binding.source)
    }
    try reader.read(after: journal.last?.seq ?? past.state.seq) { event in
      digests.add(event)
      journal.append(event)
    }
    var history = History()
    history.past = past
    history.journal = journal
    history.entries = crowd.takeEntries()
    history.hasRestarts = crowd.isSteady
    lines += history.entries.count
    do throws(Violation) {
      guard epoch == past.epoch else { throw Violation(.epoch, "the journal is another: \(epoch)") }
      past = try HistoryChecker.check(
        history, goingOnAt: crowd.cursor, keeping: crowd.repeatable)
    } catch {
      onViolation(error, history)
      return Counterexample(of: history, breaking: error)
    }
    journal.removeAll { $0.seq <= past.state.seq }
    crowd.proved = past.state.seq
    return nil
  }

  /// Reads the whole journal again.
  ///
  /// - Returns: Whether it equals the journal read in pieces, except for `removed` events that a
  ///   compaction was allowed to remove.
  package func isUnchanged() throws -> (Bool, removed: Int) {
    var again = Digests()
    let reader = try JournalReader(daemon.socket)
    try reader.read(after: reader.first() - 1) { again.add($0) }
    let missing = digests.missing(in: again)
    let isRemoved = missing.allSatisfy { $0.seq < crowd.compacted && $0.mayGo }
    return (isRemoved && again.missing(in: digests).isEmpty, missing.count)
  }
}

/// Hashes of events (FNV-1a, 64 bits), for a comparison.
private struct Digests {
  struct Digest: Hashable {
    let seq: Int
    let sum: UInt64

    /// Whether it may be removed: it has no idempotency key, which would be retained for a day.
    let mayGo: Bool
  }

  private var all: Set<Digest> = []

  mutating func add(_ event: Event) {
    var sum: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in event.line.utf8 { sum = (sum ^ UInt64(byte)) &* 0x100_0000_01B3 }
    all.insert(Digest(seq: event.seq, sum: sum, mayGo: event.command == nil))
  }

  func missing(in others: Digests) -> Set<Digest> { all.subtracting(others.all) }
}
