package import Facts

/// An event store with what a daemon needs to run on it.
package protocol DaemonStore: EventStore {
  /// The number of snapshots that are not saved yet.
  var waitingSnapshots: Int { get }

  /// The durations of all commits since the opening.
  var commitTimes: Histogram { get }

  /// The number of events that became durable since the opening.
  var committedEvents: UInt64 { get }

  /// Returns the durations of commits since the last call.
  func takeCommitTimes() -> CommitTimes

  /// The daemons that share the journal, by name; without those that have stopped.
  var nodes: [ClusterNode] { get }

  /// Messages between them; `nil` in a journal for one daemon.
  var mail: (any DaemonMail)? { get }

  /// Writes the appended events now, instead of at the end of the turn.
  func submit()

  /// Ends the store; appended events that are not durable may still become so.
  func close()
}

extension DaemonStore {
  package var nodes: [ClusterNode] { [] }
  package var mail: (any DaemonMail)? { nil }
}
