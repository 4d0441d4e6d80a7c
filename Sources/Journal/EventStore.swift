package import Signals

/// Keeps facts in order, tells of each once it is durable, and reads them back.
///
/// An append takes its position at once and becomes durable later: what was appended together, and
/// whatever waits beside it, is written as one. Calls and signals belong to the loop's thread.
package protocol EventStore: AnyObject {
  /// The random identity of this journal; another one after a restore or a loss.
  var epoch: String { get }

  /// The first position that is kept; 1 while there is none.
  var first: UInt64 { get }

  /// The last position that was given; 0 before the first append.
  var last: UInt64 { get }

  /// The last position that is durable; never above ``last``.
  var durable: UInt64 { get }

  /// Whether nothing can be appended, and why.
  var refusal: JournalError? { get }

  /// What has become durable: records in order, all those of one write together.
  ///
  /// Fails once and for ever when a write has failed in a way that cannot be trusted again.
  var committed: Signal<[Record], JournalError> { get }

  /// A write that failed whole: all that was appended and not durable is gone, ``last`` is
  /// ``durable`` again, and what is appended next is tried again.
  var rejected: Signal<JournalError, Never> { get }

  /// The time that an append would have now, in microseconds since 1970: the clock's, but never less
  /// than that of the event before.
  var now: Int64 { get }

  /// The time of the last event; 0 before the first.
  var lastTime: Int64 { get }

  /// Appends a fact to the unit that is open.
  ///
  /// There must be no ``refusal``.
  ///
  /// - Parameter time: What ``now`` has said.
  /// - Returns: The record that it becomes; ``committed`` has it later, never before the unit is
  ///   sealed.
  func append(_ draft: Draft, at time: Int64) -> Record

  /// Changes by how many bytes a stream is charged because of the event that was appended last.
  func grow(_ stream: String, by growth: Int)

  /// What all streams are charged, with all that was appended.
  var usage: StateUsage { get }

  /// Ends a unit: all that was appended since the last one becomes durable, or nothing of it.
  ///
  /// - Parameter meta: The ``Record/meta`` of the last record instead of that of its draft.
  func seal(meta: String?)

  /// Lets the unit that is open count as durable only when the disk has it, whatever is enough for
  /// others; called before it is sealed.
  func requireDisk()

  /// Emits once the disk has all that is durable when the signal is observed.
  func reachDisk() -> Signal<Void, JournalError>

  /// Takes back what was appended since the last unit was sealed.
  func takeBack()

  /// Where a stream ends, with all that was appended.
  func head(of stream: String) -> Head

  /// Reads all that is durable after a position, oldest first, while the caller waits.
  ///
  /// It is for the time before the loop runs; later, see ``reading(_:_:)``.
  ///
  /// - Parameter body: Called with some hundred records at a time.
  /// - Throws: ``JournalError/corrupt(seq:detail:)`` at the first record that does not read back,
  ///   after all before it.
  func replay(
    after seq: UInt64, _ body: ([Record]) -> Void
  ) throws(JournalError)

  /// Tells where the streams end, as a replay has found: once, before the first append.
  func start(with heads: StreamHeads)

  /// Where the streams end, with all that was appended.
  var heads: StreamHeads { get }

  /// The newest snapshot of a service that contains nothing after a position, for a start from it.
  ///
  /// A damaged one is passed over.
  func snapshot(of service: String, upTo seq: UInt64) throws(JournalError) -> Snapshot?

  /// Reads while the caller waits: for the time before the loop runs.
  func readNow<Result>(
    _ job: (any JournalReader) throws(JournalError) -> Result
  ) throws(JournalError) -> Result

  /// Reads away from the loop.
  ///
  /// - Parameters:
  ///   - pace: Whether somebody waits for the result.
  ///   - job: Runs on another thread; it sees at least what was durable when the signal was
  ///     observed.
  /// - Returns: A signal that, once it is observed, runs the job and emits what it returns, on the
  ///   loop. Disposing the observation drops the result.
  func reading<Result: Sendable>(
    _ pace: ReadingPace,
    _ job: @escaping @Sendable (any JournalReader) throws(JournalError) -> Result
  ) -> Signal<Result, JournalError>

  /// Keeps a snapshot, in the background; it may be lost in a crash, but not if what is removed
  /// after it stays removed.
  func save(_ snapshot: Snapshot)

  /// Which snapshots are kept now: the service and the position, and why not.
  var saved: Signal<SnapshotReport, Never> { get }

  /// Removes some events that are durable, in the background: all of a step or none.
  ///
  /// The last event of all is never among them. ``removed`` tells what has become of it.
  func remove(_ removal: Removal)

  /// What has become of each removal, in order.
  ///
  /// After a failure nothing of that step is gone, and the next one may be tried.
  var removed: Signal<Result<RemovalReport, JournalError>, Never> { get }

  /// The last position of a service whose event was removed; 0 for none. A state that does not
  /// contain that event is not to be had from the events any more.
  func lastRemoval(of service: String) throws(JournalError) -> UInt64

  /// What is kept under a name beside the events; `nil` when nothing is.
  func note(_ note: JournalNote) -> String?

  /// Keeps something small beside the events, in the background: no event that is recorded after it
  /// is there without it.
  func keep(_ text: String, as note: JournalNote)
}

/// What is kept beside the events, one text each.
package enum JournalNote: String, CaseIterable, Sendable {
  /// The time by which events grow old; see the services' `AgeClock`.
  case age

  /// The bindings that live because they stand in files.
  case filedBindings
}

extension EventStore {
  /// The newest snapshot of a service.
  package func snapshot(of service: String) throws(JournalError) -> Snapshot? {
    try snapshot(of: service, upTo: .max)
  }
}

/// How long a reading may take; the long ones do not hold up the others.
package enum ReadingPace: Sendable {
  /// Somebody waits for it: a page of events, a value of the past.
  case prompt

  /// It may go through the whole journal.
  case long

  /// It takes as long as it takes, and nothing else should wait for it: the care of the journal.
  case care
}

/// Reads what is durable, wherever the caller is; used by one thread at a time.
package protocol JournalReader {
  /// Records after a position, oldest first; those that were removed are left out.
  ///
  /// - Parameters:
  ///   - seq: The last record already known; 0 for none.
  ///   - limit: How many at most; fewer only at the end of what is durable.
  /// - Throws: ``JournalError/corrupt(seq:detail:)`` when the next record does not read back; those
  ///   before it are read by a call of their own.
  func records(after seq: UInt64, limit: Int) throws(JournalError) -> [Record]

  /// The events of a stream, newest first.
  ///
  /// - Parameters:
  ///   - seq: The event to begin with, for example the stream's ``Head/seq``.
  ///   - limit: How many at most; fewer only at the beginning of the stream or of what is kept.
  func records(
    ofStream stream: String, from seq: UInt64, limit: Int
  ) throws(JournalError) -> [Record]

  /// The newest snapshot of a service that contains nothing after a position.
  ///
  /// A damaged snapshot is passed over.
  func snapshot(of service: String, upTo seq: UInt64) throws(JournalError) -> Snapshot?

  /// The newest position whose time is not after `time`; 0 for none.
  func position(at time: Int64) throws(JournalError) -> UInt64

  /// The first and the last position; a last below the first means that there is none.
  func bounds() throws(JournalError) -> (first: UInt64, last: UInt64)

  /// The last position up to another at which an event of a service may have been removed; 0 for
  /// none.
  ///
  /// A state as of `seq` follows from a snapshot that contains this position, or from none.
  func lastRemoval(of service: String, upTo seq: UInt64) throws(JournalError) -> UInt64
}
