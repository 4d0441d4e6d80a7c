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
    private var answer: PieceBuffer

    init(_ id: RequestID, _ answer: consuming PieceBuffer) {
      self.id = id
      self.answer = answer
    }

    /// Moves the answer to the end of a buffer.
    func move(to buffer: inout PieceBuffer) {
      var moved = PieceBuffer()
      swap(&moved, &answer)
      buffer.append(moved)
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
    var answer = PieceBuffer()
    if id != nil { write(&answer.tail) }
    set(index, id, after: position, isLate: isLate, answer)
  }

  /// Sets the answer to a request like ``set(_:_:after:isLate:_:)``; a notification has an empty one.
  func set(
    _ index: Int, _ id: RequestID?, after position: UInt64, isLate: Bool,
    _ answer: consuming PieceBuffer
  ) {
    precondition(parts[index] == nil, "a request of a batch is answered twice")
    if let id {
      // An answer that leaves no room for the others becomes an error.
      let error =
        answer.count - 1 > room
        ? WireError.resultTooLarge(answer.count - 1, max: connection.lineOut)
        : connection.refusal(ofAnswerWith: answer.count)
      if let error {
        answer = PieceBuffer()
        connection.context.traffic.countRefusal(error.name)
        Frame.error(error, id, &answer.tail)
      }
      answer.tail.truncate(to: answer.tail.count - 1)  // removes the LF
      expected -= 1
      addBytes(answer.count + 1)
      parts[index] = Part(id, answer)
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
    var answer = PieceBuffer()
    answer.tail.append(UInt8(ascii: "["))
    for (i, part) in parts.enumerated() {
      if i > 0 { answer.tail.append(UInt8(ascii: ",")) }
      part.move(to: &answer)
    }
    answer.tail.append("]\n")
    connection.emit(answer, after: position, to: .batch(parts.map(\.id)), isLate: isLate)
    if let refusal { connection.refuseUndecided(at: refusal.position, refusal.error) }
  }
}
