internal import JSON
internal import Signals
internal import Wire

/// The answers of a client that wait for the journal, and their timeouts.
struct HeldReplies: ~Copyable {
  /// The answers that keep the order of their requests.
  var inOrder = PendingReplies()

  /// Late answers.
  ///
  /// They may overtake others.
  var late = PendingReplies()

  /// The next timeout.
  private var expiry: (at: UInt64, timer: any Disposable)?

  var isEmpty: Bool { inOrder.isEmpty && late.isEmpty }
  var count: Int { inOrder.count + late.count }
  var byteCount: Int { inOrder.byteCount + late.byteCount }

  /// See ``PendingReplies/isWaiting(_:after:)``.
  func isWaiting(_ id: RequestID, after position: UInt64) -> Bool {
    inOrder.isWaiting(id, after: position) || late.isWaiting(id, after: position)
  }

  /// See ``PendingReplies/reject(after:_:)``.
  mutating func reject(after position: UInt64, _ error: WireError) -> Int {
    inOrder.reject(after: position, error) + late.reject(after: position, error)
  }

  /// Moves the answers whose position is durable to a buffer.
  mutating func release(upTo position: UInt64, to buffer: inout ByteBuffer) {
    if !inOrder.isEmpty { inOrder.release(upTo: position, to: &buffer) }
    if !late.isEmpty { late.release(upTo: position, to: &buffer) }
  }

  // MARK: Timeouts

  /// Returns whether a timeout is earlier than the scheduled one.
  func isNext(_ time: UInt64) -> Bool { expiry.map { time < $0.at } ?? true }

  /// Replaces the scheduled timeout.
  mutating func setTimer(_ timer: any Disposable, at time: UInt64) {
    expiry?.timer.dispose()
    expiry = (time, timer)
  }

  /// Forgets the timeout that has passed.
  mutating func endTimer() { expiry = nil }

  mutating func stopTimer() {
    expiry?.timer.dispose()
    expiry = nil
  }
}
