internal import Journal
internal import Signals

/// The events on their way to the disk: those of this turn, and those that are written.
struct WriteQueue {
  /// The events of this turn, which were not passed to the writer yet.
  private(set) var batch = RecordBatch()

  /// Whether ``batch`` is durable only once the disk has it.
  private(set) var isForDisk = false

  /// The number of times that all events were dropped; the writer ignores those of an earlier one.
  private(set) var generation = 0

  /// The batches that are written, in order, until they are durable.
  private var written = Queue<RecordBatch>()

  /// Whether the batch may be written at once: no event that is not durable yet comes before it.
  var isNextBatchFirst: Bool { !batch.isEmpty && !isForDisk && written.isEmpty }

  mutating func requireDisk() { isForDisk = true }

  /// Begins the next batch, and returns the one that is to be written.
  ///
  /// - Parameter next: An empty batch.
  mutating func passOn(beginning next: RecordBatch) -> RecordBatch {
    let events = batch
    written.append(events)
    (batch, isForDisk) = (next, false)
    return events
  }

  /// Whether a batch is durable up to a position.
  func hasDurable(upTo seq: UInt64) -> Bool { written.first.map { $0.last <= seq } ?? false }

  /// Removes and returns the oldest batch, if it is durable up to a position.
  mutating func popDurable(upTo seq: UInt64) -> RecordBatch? {
    guard let first = written.first, first.last <= seq else { return nil }
    return written.popFirst()
  }

  /// Drops all events.
  mutating func discard() {
    generation += 1
    batch = RecordBatch()
    written.removeAll()
  }
}
