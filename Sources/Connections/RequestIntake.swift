internal import JSON
internal import Wire

/// The requests of a client that were received and not answered: which one waits, and since when.
struct RequestIntake {
  /// The bounds that each line is checked against.
  ///
  /// It is made once for the lines that are run together, because a look at the limits for each line
  /// would cost more than many requests.
  struct Bounds {
    /// The bytes of pending output at which the next line waits.
    var output = 0

    /// The number of answers, and their bytes, that may wait for the journal.
    var (held, heldBytes) = (0, 0)

    /// The most bytes of an identifier.
    var idBytes = 0
  }

  var bounds = Bounds()

  /// The reason why a line is parked; `nil` if none is.
  private(set) var parked: Connection.Parking?

  /// Whether the parked line waits for work on another thread.
  private(set) var isAwaitingWork = false

  /// The time at which the parked line was first tried.
  private var parkedSince: UInt64?

  /// The time since which the last line is incomplete; `nil` if it is complete.
  private(set) var partialSince: UInt64?

  /// The number of lines without a valid request since the last valid one.
  private var badLines = 0

  /// The batch that was interrupted between two requests.
  private(set) var batch: RunningBatch?

  /// The batch whose request is running.
  var runningBatch: BatchAnswer?

  /// Bytes of the parts of incomplete batch answers.
  var batchBytes = 0

  // MARK: Parking

  /// Parks the line that was tried at a time.
  mutating func park(for reason: Connection.Parking, at now: UInt64) {
    parked = reason
    if parkedSince == nil { parkedSince = now }
  }

  /// Lets the parked line run again.
  mutating func unpark() { parked = nil }

  /// Ends the time of waiting, because the request was handled.
  mutating func endWaiting() { parkedSince = nil }

  /// The milliseconds for which the current request was parked.
  func waitedMilliseconds(at now: UInt64) -> UInt64 { parkedSince.map { now - $0 } ?? 0 }

  mutating func awaitWork() { isAwaitingWork = true }

  /// - Returns: Whether the parked line waited for work.
  mutating func endWork() -> Bool {
    defer { isAwaitingWork = false }
    return isAwaitingWork
  }

  // MARK: Lines

  mutating func acceptLine() { badLines = 0 }

  /// Counts a line without a valid request.
  ///
  /// - Returns: The number of such lines in a row.
  mutating func countBadLine() -> Int {
    badLines += 1
    return badLines
  }

  /// Records whether the last line is incomplete.
  mutating func setPartial(_ isPartial: Bool, at now: @autoclosure () -> UInt64) {
    guard isPartial else {
      partialSince = nil
      return
    }
    if partialSince == nil { partialSince = now() }
  }

  // MARK: Batches

  /// Interrupts a batch before one of its requests.
  mutating func interrupt(_ batch: RunningBatch, before next: Int) {
    self.batch = batch
    self.batch?.next = next
  }

  /// Removes and returns the interrupted batch; `nil` if there is none.
  mutating func removeBatch() -> RunningBatch? {
    defer { batch = nil }
    return batch
  }
}
