package import Model
package import Signals

/// Stores events in order, reports each once it is durable, and reads them back.
///
/// An append gets its position at once and becomes durable later. Events that wait together are
/// written in one commit. Calls, signals and the delegate belong to the loop's thread.
package protocol EventStore: AnyObject {
  /// The random identity of this journal.
  ///
  /// It changes after a restore or a loss of events.
  var epoch: String { get }

  /// The first retained position; 1 if there is none.
  var first: UInt64 { get }

  /// The reason why the store refuses appends; `nil` if it accepts them.
  var refusal: JournalError? { get }

  /// Whether it refuses appends; cheaper than ``refusal``, whose texts must be copied.
  var isRefusing: Bool { get }

  /// The owner of the events; it receives them as they become durable. Held weakly.
  var delegate: (any EventStoreDelegate)? { get set }

  /// The results in the background, the notes and the figures.
  var reports: StoreReports { get }

  // The part in a journal that several daemons share; a store for one daemon has the defaults.

  /// Whether several daemons may use the journal.
  var isShared: Bool { get }

  /// The part of this daemon; see ``StoreRole``.
  var role: StoreRole { get }

  /// The reason why the database is unreachable; `nil` if it is reachable. The store reconnects by
  /// itself.
  var interruption: String? { get }

  /// Joins the daemons that share the journal: becomes the active one, or follows.
  ///
  /// Call it once, after the replay. Call it again if the active daemon is known to be gone.
  func contend()

  /// Does not become the active daemon any more; call it when the daemon begins to stop.
  func stopContending()

  /// Leaves the daemons that share the journal; another one becomes active, if this one was.
  ///
  /// Call it when all appended events are durable; nothing may be appended afterwards.
  func resign()

  /// The time that an append would get now, in microseconds since 1970.
  ///
  /// It follows the clock, but never goes below ``lastTime``.
  var now: Int64 { get }

  /// The names of all streams, with a number for each.
  ///
  /// It may have other names too. The store holds those that have events.
  var names: Names { get }

  /// Appends an event to the open unit.
  ///
  /// Call it only while ``refusal`` is `nil`.
  ///
  /// - Parameters:
  ///   - stream: The number of the stream in ``names``.
  ///   - type: The event type, for example `"cells.set"`.
  ///   - data: The payload, compact JSON text.
  ///   - origin: The cause of the event.
  ///   - growth: The bytes to add to the charge of the stream; may be negative.
  ///   - time: A value returned by ``now``.
  /// - Returns: The place of the event. ``committed`` emits it later, never before its unit is
  ///   sealed.
  func append(
    to stream: Int, _ type: String, _ data: Span<UInt8>, from origin: EventOrigin,
    growing growth: Int, at time: Int64
  ) -> Appended

  /// Ends the open unit.
  ///
  /// Its events become durable together or not at all.
  ///
  /// - Parameter meta: Replaces the ``Record/meta`` of the last record, if not `nil`.
  func seal(meta: String?)

  /// Makes the open unit wait for the disk, whatever the durability setting.
  ///
  /// Call it before the unit is sealed.
  func requireDisk()

  /// Returns a signal that emits once the disk has all events that were durable at observation.
  func reachDisk() -> Signal<Void, JournalError>

  /// Rolls back everything appended since the last sealed unit.
  ///
  /// The names of its streams stay until ``dropEmptyStreams()``.
  func rollBackUnsealed()

  /// Reads all durable events after a position, oldest first, and blocks the caller.
  ///
  /// Use it before the loop runs; afterwards use ``reading(_:_:)``.
  ///
  /// - Parameter body: Called with a few hundred events at a time.
  /// - Throws: ``JournalError/corrupt(seq:detail:)`` at the first damaged event, after `body` got
  ///   all events before it.
  func replay(
    after seq: UInt64, _ body: (RecordBatch) -> Void
  ) throws(JournalError)

  /// The positions and the stream heads.
  var appender: Appender { get }

  /// Returns the newest snapshot of a service at or before a position, to start a replay from.
  ///
  /// Skips damaged snapshots. Returns `nil` if there is none.
  func snapshot(of service: String, upTo seq: UInt64) throws(JournalError) -> Snapshot?

  /// Reads and blocks the caller; use it only before the loop runs.
  func readNow<Result>(
    _ job: (any JournalReader) throws(JournalError) -> Result
  ) throws(JournalError) -> Result

  /// Reads on another thread.
  ///
  /// - Parameters:
  ///   - pace: How urgent the result is.
  ///   - job: Runs on another thread. It sees at least the events that were durable when the signal
  ///     was observed.
  /// - Returns: A signal that runs the job when it is observed, and emits the result on the loop.
  ///   Disposing the observation drops the result.
  func reading<Result: Sendable>(
    _ pace: ReadingPace,
    _ job: @escaping @Sendable (any JournalReader) throws(JournalError) -> Result
  ) -> Signal<Result, JournalError>

  /// Frees a value on another thread, because to free many rows takes as long as to make them.
  ///
  /// The caller must hold it nowhere else.
  func free<Value: Sendable>(_ value: consuming Value)

  /// Saves a snapshot in the background.
  ///
  /// A crash may lose it. In that case the crash also undoes every later removal.
  func save(_ snapshot: Snapshot)

  /// Removes durable events in the background: all events of the step or none.
  ///
  /// The step never contains the last event of the journal. ``removed`` emits the result.
  func remove(_ removal: Removal)

  /// Returns the last position at which an event of a service was removed; 0 if there is none.
  ///
  /// A state older than this position cannot be replayed from the events any more.
  func lastRemoval(of service: String) throws(JournalError) -> UInt64

  /// Stores a short note beside the events, in the background.
  ///
  /// The store writes it before events that are appended later, and tries a failed write again.
  func keep(_ text: String, as note: JournalNote)
}

/// Receives the events of a store, and the end of those that do not become durable.
package protocol EventStoreDelegate: AnyObject {
  /// Applies own events, which are durable now: in order, a part of one write at a time.
  func store(committed events: RecordBatch)

  /// Forgets own events that were not durable, because a whole write failed and was rolled back.
  ///
  /// ``EventStore/last`` equals ``EventStore/durable``. The store attempts later appends as usual.
  func store(rejected error: JournalError)

  /// Applies durable events of another daemon, in order, while this one follows.
  ///
  /// The delegate calls ``EventStore/follow(_:to:by:growing:)`` with each of them, in order.
  func store(followed events: RecordBatch)

  /// Ends all writing: a failed write means that later ones cannot be trusted. Called once.
  func store(failed error: JournalError)
}

/// The members that every store derives from its ``appender``.
extension EventStore {
  /// The last position that was assigned; 0 before the first append.
  package var last: UInt64 { appender.last }

  /// The last position that is durable; never above ``last``.
  package var durable: UInt64 { appender.durable }

  /// The time of the last event, in microseconds since 1970; 0 before the first.
  package var lastTime: Int64 { appender.time }

  /// Returns the head of a stream by its number, including events that are not durable yet.
  package func head(of stream: Int) -> Head { appender.heads[stream] }

  /// Sets the stream heads that a replay has found; called once, before the first append.
  package func start(with heads: StreamHeads) { appender.start(with: heads) }

  /// Adds to the bytes charged to a stream because of the last appended event.
  ///
  /// - Returns: Whether it is charged for its name alone now.
  package func grow(_ stream: Int, by growth: Int, for user: UInt32) -> Bool {
    appender.grow(stream, in: names, by: growth, for: user)
  }

  /// Charges nobody for a stream that has no state after the last appended event.
  package func release(_ stream: Int) { appender.release(stream) }

  /// Moves the positions and a stream's head on to an event of another daemon.
  ///
  /// - Parameters:
  ///   - stream: The number of its stream in ``names``.
  ///   - user: The user charged for the event.
  ///   - growth: The bytes to add to the charge of the stream.
  package func follow(_ record: Record, to stream: Int, by user: UInt32, growing growth: Int) {
    appender.follow(record, to: stream, in: names, by: user, growing: growth)
  }

  /// Adds to the bytes charged to a stream because of the last event of another daemon.
  package func followGrowth(of stream: Int, by growth: Int, for user: UInt32) {
    appender.followGrowth(of: stream, in: names, by: growth, for: user)
  }

  /// Charges nobody for a stream that has no state after the last event of another daemon.
  package func followRelease(of stream: Int) { appender.followRelease(of: stream) }

  /// The bytes charged to all streams, including events that are not durable yet.
  package var usage: StateUsage { appender.heads.usage }

  /// Returns the bytes charged to all users and to one, including events that are not durable yet.
  package func charges(of user: UInt32) -> StateUsage.Charges { appender.charges(of: user) }

  /// Drops the names of streams that have no events any more, because they were rolled back, and of
  /// old streams without state; see ``StreamHeads/maxReleased``.
  ///
  /// Call it when nothing needs them any more.
  ///
  /// - Parameter seq: The last position that the services have applied; streams that lost their
  ///   state later are kept.
  package func dropEmptyStreams(upTo seq: UInt64) {
    appender.dropEmptyStreams(upTo: seq, in: names)
  }
}

extension EventStore {
  /// Returns the head of a stream, including events that are not durable yet.
  package func head(of stream: String) -> Head {
    names.number(of: stream).map(head(of:)) ?? .none
  }

  /// Appends a draft, as ``append(to:_:_:from:growing:at:)``, and returns its record.
  package func append(_ draft: Draft, at time: Int64) -> Record {
    let appended = append(
      to: names.add(draft.stream), draft.type, draft.data.utf8.span,
      from: EventOrigin(user: Charge.nobody, command: draft.command, meta: draft.meta),
      growing: 0, at: time)
    return Record(
      seq: appended.seq, time: time, version: appended.version, previous: appended.previous,
      stream: draft.stream, type: draft.type, data: draft.data, command: draft.command,
      meta: draft.meta)
  }
}

/// The cause of an event.
///
/// A class, because each event passes it on, and consecutive events mostly have the same.
package final class EventOrigin {
  /// The uid charged for the state that the stream keeps.
  package let user: UInt32

  /// The last fields of a row; see ``Record/command`` and ``Record/meta``.
  let fields: RecordBatch.Fields

  package init(user: UInt32, command: String? = nil, meta: String? = nil) {
    self.user = user
    fields = RecordBatch.Fields([command, meta])
  }
}

/// The notes that a journal stores beside the events, one text each.
package enum JournalNote: String, CaseIterable, Sendable {
  /// The state of the clock for age-based retention; see the services' `AgeClock`.
  case age

  /// The bindings that are declared in files.
  case filedBindings

  /// The name of the daemon that the journal belongs to; `nil` for binderd.
  case daemon

  /// Whether it belongs to the events, so that an export contains it; a clock belongs to a machine.
  package var isExported: Bool {
    switch self {
    case .age: false
    case .filedBindings, .daemon: true
    }
  }
}

extension [JournalNote: String] {
  /// The name of the daemon that the journal belongs to.
  ///
  /// The journals of binderd have no name: at first it was the only daemon.
  package var daemon: String {
    get { self[.daemon] ?? Self.firstDaemon }
    set { self[.daemon] = newValue == Self.firstDaemon ? nil : newValue }
  }

  private static var firstDaemon: String { "binderd" }
}

extension EventStore {
  /// Returns the newest snapshot of a service; `nil` if there is none.
  package func snapshot(of service: String) throws(JournalError) -> Snapshot? {
    try snapshot(of: service, upTo: .max)
  }
}

/// The urgency of a reading.
///
/// Long readings do not delay prompt ones.
package enum ReadingPace: Sendable {
  /// A caller waits for it: a page of events, or a past value.
  case prompt

  /// A reading that may go through the whole journal.
  case long

  /// A reading that may take minutes, for one caller; only others of its kind wait for it.
  case trial

  /// Maintenance of the journal: it may take any time, and no other reading waits for it.
  case care
}

/// Reads durable events on any thread; used by one thread at a time.
package protocol JournalReader {
  /// Returns records after a position, oldest first, without removed events.
  ///
  /// - Parameters:
  ///   - seq: The last known position; 0 for none.
  ///   - limit: The maximum count. Fewer are returned only at the end of the durable events, or
  ///     before a damaged record.
  /// - Throws: ``JournalError/corrupt(seq:detail:)`` when the first record to return is damaged.
  func records(after seq: UInt64, limit: Int) throws(JournalError) -> [Record]

  /// Returns the events of a stream, newest first.
  ///
  /// - Parameters:
  ///   - seq: The event to begin with, for example the stream's ``Head/seq``.
  ///   - limit: The maximum count. Fewer are returned only at the beginning of the stream or of the
  ///     retained events.
  func records(
    ofStream stream: String, from seq: UInt64, limit: Int
  ) throws(JournalError) -> [Record]

  /// Returns the newest snapshot of a service at or before a position; `nil` if there is none.
  ///
  /// Skips damaged snapshots.
  func snapshot(of service: String, upTo seq: UInt64) throws(JournalError) -> Snapshot?

  /// Returns the newest position whose time is not after `time`; 0 if there is none.
  func position(at time: Int64) throws(JournalError) -> UInt64

  /// Returns the first and the last position; the last is below the first if there are no events.
  func bounds() throws(JournalError) -> (first: UInt64, last: UInt64)

  /// Returns the last position, up to `seq`, at which an event of a service may have been removed.
  ///
  /// Returns 0 if there is none. A state as of `seq` needs a snapshot at or after the returned
  /// position.
  func lastRemoval(of service: String, upTo seq: UInt64) throws(JournalError) -> UInt64
}

/// The state of a service as of a position, from which a replay can start.
package struct Snapshot: Equatable, Sendable {
  /// The name of the service, for example `"cells"`.
  package let service: String

  /// The last event that the state contains.
  package let seq: UInt64

  /// The format version of ``data``, counted from 1.
  ///
  /// A service upgrades older formats and ignores newer ones.
  package let schema: Int

  /// The state, compact JSON text.
  package let data: String

  package init(service: String, seq: UInt64, schema: Int, data: String) {
    self.service = service
    self.seq = seq
    self.schema = schema
    self.data = data
  }
}

/// The result of saving a snapshot.
package struct SnapshotReport: Equatable, Sendable {
  package let service: String
  package let seq: UInt64

  /// The reason why it was not saved; `nil` if it was saved.
  package let failure: String?

  package init(service: String, seq: UInt64, failure: String? = nil) {
    (self.service, self.seq, self.failure) = (service, seq, failure)
  }
}
