internal import JSON
internal import Wire

/// A batch with requests that were not run yet.
struct RunningBatch {
  /// The requests, or their faults, in order.
  let requests: [Result<Request, Request.Fault>]
  let answer: BatchAnswer

  /// The index of the first request that was not run.
  var next = 0
}

/// The answer to a batch.
///
/// Its parts arrive in any order and are sent together, in request order.
final class BatchAnswer {
  private final class Part {
    let id: RequestID

    /// The answer without its LF.
    let bytes: ByteBuffer

    init(_ id: RequestID, _ bytes: consuming ByteBuffer) {
      self.id = id
      self.bytes = bytes
    }
  }

  /// The space to reserve for each missing answer, larger than the error that may replace it.
  private static let errorBytes = 224

  /// The answers that have arrived, by request index.
  ///
  /// Notifications get none.
  private var parts: [Part?]
  private var missing: Int

  /// The number of answers still to come.
  private var expected: Int

  /// Bytes of the answers so far, including separators.
  private var bytes = 0
  private var position: UInt64 = 0
  private unowned let connection: Connection

  /// Whether a part was answered in a later turn, so that the whole answer may overtake others.
  private var isLate = false

  /// Actions to run after the answer was sent.
  var behind: [() -> Void] = []

  /// The error that replaces the answer if its event was not recorded, and the position to wait
  /// for.
  private var refusal: (error: WireError, position: UInt64)?

  /// - Parameter requests: The requests of the batch.
  init(to requests: [Result<Request, Request.Fault>], for connection: Connection) {
    parts = Array(repeating: nil, count: requests.count)
    missing = requests.count
    expected = requests.count { request in
      if case .success(let request) = request { !request.isNotification } else { true }
    }
    self.connection = connection
  }

  /// The bytes available for the next answer, if all other missing answers are errors.
  var room: Int { connection.lineOut - 4 - bytes - max(0, expected - 1) * Self.errorBytes }

  /// Sets the answer to a request.
  ///
  /// Traps if it was set before.
  func set(
    _ index: Int, _ id: RequestID?, after position: UInt64, isLate: Bool,
    _ write: (inout ByteBuffer) -> Void
  ) {
    precondition(parts[index] == nil, "a request of a batch is answered twice")
    if let id {
      var buffer = ByteBuffer()
      write(&buffer)
      // An answer that leaves no room for the others becomes an error.
      let error =
        buffer.count - 1 > room
        ? WireError.resultTooLarge(buffer.count - 1, max: connection.lineOut)
        : connection.refusal(ofAnswerWith: buffer.count)
      if let error {
        buffer = ByteBuffer()
        connection.context.traffic.countRefusal(error.name)
        Frame.error(error, id, &buffer)
      }
      buffer.truncate(to: buffer.count - 1)  // removes the LF
      expected -= 1
      addBytes(buffer.count + 1)
      parts[index] = Part(id, buffer)
    }
    self.position = max(self.position, position)
    self.isLate = self.isLate || isLate
    missing -= 1
    if missing == 0 { send() }
  }

  /// See ``PendingReplies/decide(at:)``.
  func decide(at position: UInt64) {
    if self.position == PendingReplies.undecided { self.position = position }
  }

  /// See ``Connection/refuseUndecided(at:_:)``.
  func refuseUndecided(at position: UInt64, _ error: WireError) {
    if self.position == PendingReplies.undecided { refusal = (error, position) }
  }

  private func addBytes(_ count: Int) {
    bytes += count
    connection.intake.batchBytes += count
  }

  private func send() {
    connection.intake.batchBytes -= bytes
    defer {
      connection.followUps.append(behind)
      connection.list()
    }
    let parts = parts.compactMap(\.self)
    guard !parts.isEmpty else { return connection.hold(until: position) }
    connection.emit(after: position, to: .batch(parts.map(\.id)), isLate: isLate) { buffer in
      buffer.reserve(bytes + 3)
      buffer.append(UInt8(ascii: "["))
      for (i, part) in parts.enumerated() {
        if i > 0 { buffer.append(UInt8(ascii: ",")) }
        buffer.append(part.bytes)
      }
      buffer.append("]\n")
    }
    if let refusal { connection.refuseUndecided(at: refusal.position, refusal.error) }
  }
}
