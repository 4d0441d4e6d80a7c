package import Model
package import Signals

/// The results of a store's work in the background, its notes, and its figures.
///
/// Every store has one. The events themselves go to the store's ``EventStoreDelegate``.
package final class StoreReports {
  fileprivate let savedSubject = PassthroughSubject<SnapshotReport, Never>()
  fileprivate let removedSubject = PassthroughSubject<Result<RemovalReport, JournalError>, Never>()
  fileprivate let rolesSubject = PassthroughSubject<StoreRole, Never>()
  fileprivate let stalledSubject = PassthroughSubject<JournalError, Never>()

  /// The notes that are stored beside the events.
  package private(set) var notes: [JournalNote: String]

  /// See ``DaemonStore/waitingSnapshots``.
  package private(set) var waitingSnapshots = 0

  /// See ``DaemonStore/commitTimes``.
  package private(set) var commitTimes = Histogram()

  /// See ``DaemonStore/committedEvents``.
  package private(set) var committedEvents: UInt64 = 0

  private var times = CommitTimes()

  package init(notes: [JournalNote: String] = [:]) { self.notes = notes }

  // MARK: Commits

  /// Counts a commit.
  package func addCommit(nanoseconds: UInt64) {
    times.add(nanoseconds)
    commitTimes.add(nanoseconds)
  }

  /// Counts events that became durable.
  package func addEvents(_ count: Int) {
    times.events += count
    committedEvents &+= UInt64(count)
  }

  /// Returns the durations of commits since the last call.
  package func resetCommitTimes() -> CommitTimes {
    defer { times = CommitTimes() }
    return times
  }

  // MARK: Results

  /// Counts a snapshot that begins to be saved.
  package func beginSaving() { waitingSnapshots += 1 }

  /// Reports the result of a save that ``beginSaving()`` has counted.
  package func endSaving(_ report: SnapshotReport) {
    waitingSnapshots -= 1
    savedSubject.send(report)
  }

  package func endRemoving(_ result: Result<RemovalReport, JournalError>) {
    removedSubject.send(result)
  }

  package func changeRole(to role: StoreRole) { rolesSubject.send(role) }
  package func stall(_ error: JournalError) { stalledSubject.send(error) }

  // MARK: Notes

  /// Changes a note, and returns whether it is another one now, which must be stored.
  package func change(_ note: JournalNote, to text: String) -> Bool {
    guard notes[note] != text else { return false }
    notes[note] = text
    return true
  }

  /// Replaces all notes with those that the journal has.
  package func replaceNotes(with stored: [JournalNote: String]) { notes = stored }
}

/// The durations of commits since they were last taken.
package struct CommitTimes: Equatable, Sendable {
  package var commits = 0
  package var events = 0
  package var totalNanoseconds: UInt64 = 0
  package var maxNanoseconds: UInt64 = 0

  package init() {}

  /// Adds the duration of a commit.
  mutating func add(_ nanoseconds: UInt64) {
    commits += 1
    totalNanoseconds += nanoseconds
    maxNanoseconds = max(maxNanoseconds, nanoseconds)
  }

  package var meanMilliseconds: Double {
    commits == 0 ? 0 : Double(totalNanoseconds / UInt64(commits) / 1000) / 1000
  }

  package var maxMilliseconds: Double { Double(maxNanoseconds / 1000) / 1000 }
}

/// The members that every store derives from its ``StoreReports``.
extension EventStore {
  /// Emits the result of each save: the service, the position, and the failure if there was one.
  package var saved: Signal<SnapshotReport, Never> { reports.savedSubject.toSignal() }

  /// Emits the result of each removal, in order.
  ///
  /// After a failure all events of that step are still there, and the next step may be tried.
  package var removed: Signal<Result<RemovalReport, JournalError>, Never> {
    reports.removedSubject.toSignal()
  }

  /// Emits each new ``role``.
  package var roles: Signal<StoreRole, Never> { reports.rolesSubject.toSignal() }

  /// Emits when the journal could not be reached for too long, with the error for those who wait.
  ///
  /// Appended events that are not durable stay, and may still become so.
  package var stalled: Signal<JournalError, Never> { reports.stalledSubject.toSignal() }

  /// Returns the text of a note; `nil` if there is none.
  package func note(_ note: JournalNote) -> String? { reports.notes[note] }
}

extension DaemonStore {
  /// The number of snapshots that are not saved yet.
  package var waitingSnapshots: Int { reports.waitingSnapshots }

  /// The durations of all commits since the opening.
  package var commitTimes: Histogram { reports.commitTimes }

  /// The number of events that became durable since the opening.
  package var committedEvents: UInt64 { reports.committedEvents }

  /// Returns the durations of commits since the last call.
  package func resetCommitTimes() -> CommitTimes { reports.resetCommitTimes() }
}
