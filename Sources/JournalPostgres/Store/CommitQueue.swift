internal import EventLoop
internal import Journal
internal import Model
internal import Signals

/// The events on their way into the database, in order: in flight, waiting, and of the open unit.
///
/// One batch is in flight; the next ones gather.
struct CommitQueue {
  /// The events whose outcome is not known.
  private(set) var inFlight = RecordBatch()

  /// The full batches that wait, in order.
  private var waiting = Queue<RecordBatch>()

  /// The events that wait for the batches before, and those of the open unit.
  private(set) var batch = RecordBatch()

  /// The time at which the batch in flight was first sent, in nanoseconds.
  private var sentAt: UInt64 = 0

  /// The checksum of the last durable event; `nil` if there is none, or if it is not known.
  private(set) var lastChecksum: Int64?

  /// Sends the batch in flight again, after an error that may pass.
  var retryTimer: EventLoop.Timer?
  private var retryPause = GrowingPause()

  private let rows = EventRows()

  /// The limits of a batch, which the services apply in one turn.
  private static let (maxCount, maxBytes) = (512, 4 << 20)

  init(lastChecksum: Int64?) { self.lastChecksum = lastChecksum }

  // MARK: Filling

  /// Ends the open unit.
  ///
  /// - Parameter meta: Replaces the ``Record/meta`` of its last event, if not `nil`.
  mutating func seal(meta: String?) {
    if let meta, !batch.isEmpty { batch.replaceMeta(meta) }
    // Between two units, because each is written completely or not at all.
    guard batch.count >= Self.maxCount || batch.byteCount >= Self.maxBytes else { return }
    waiting.append(batch)
    batch = RecordBatch()
  }

  // MARK: Sending

  /// Makes the next batch the one in flight, and returns whether there is one.
  ///
  /// - Parameter isSealed: Whether no unit is open.
  mutating func sendNext(isSealed: Bool, at nanoseconds: @autoclosure () -> UInt64) -> Bool {
    if let next = waiting.popFirst() {
      inFlight = next
    } else {
      guard !batch.isEmpty, isSealed else { return false }
      inFlight = batch
      batch = RecordBatch()
    }
    sentAt = nanoseconds()
    return true
  }

  /// Adds the events in flight to the parameters of an append.
  func addInFlight(to parameters: inout PostgresParameters) { rows.add(inFlight, to: &parameters) }

  /// Sends the batch in flight again after a pause.
  mutating func retry() { retryTimer?.start(afterMilliseconds: retryPause.next()) }

  /// Removes the batch in flight, which is durable now.
  ///
  /// - Returns: The events, and the time since they were first sent.
  mutating func commit(at nanoseconds: UInt64) -> (events: RecordBatch, nanoseconds: UInt64) {
    let events = inFlight
    inFlight = RecordBatch()
    retryPause.reset()
    lastChecksum = rows.lastChecksum(events)
    return (events, nanoseconds - sentAt)
  }

  /// Returns whether a result is the last event in flight.
  func isLastInFlight(_ result: PostgresResult) -> Bool { rows.isLast(of: inFlight, in: result) }

  /// Drops all events.
  mutating func discard() {
    (batch, inFlight) = (RecordBatch(), RecordBatch())
    waiting.removeAll()
    retryTimer?.stop()
  }

  // MARK: Following

  /// Returns the events of another daemon that a result has, and the position of a damaged one.
  mutating func followed(
    _ result: PostgresResult
  ) -> (events: RecordBatch, damaged: UInt64?) {
    rows.events(result)
  }

  /// Moves on to applied events of another daemon.
  mutating func follow(_ events: RecordBatch) { lastChecksum = rows.lastChecksum(events) }
}
