internal import JSON
internal import Wire

/// The answer to a batch: its parts come in any order and leave together, in the order of the
/// requests.
final class BatchAnswer {
  private struct Part {
    let id: RequestID

    /// The answer without its LF.
    let bytes: [UInt8]
  }

  /// More than an error takes that stands for an answer without room.
  private static let errorBytes = 224

  /// The answer to each request that wants one and has it.
  private var parts: [Part?]
  private var missing: Int
  private var position: UInt64 = 0
  private unowned let connection: Connection

  /// Whether a part came later than its turn, so that the whole does.
  private var isLate = false

  /// What is done when the answer has left.
  var behind: [() -> Void] = []

  /// Why what it waits for does not come.
  private var refusal: (error: WireError, position: UInt64)?

  init(count: Int, for connection: Connection) {
    parts = Array(repeating: nil, count: count)
    missing = count
    self.connection = connection
  }

  /// Sets the answer to a request, once.
  func set(
    _ index: Int, _ id: RequestID?, after position: UInt64, isLate: Bool,
    _ write: (inout ByteBuffer) -> Void
  ) {
    precondition(parts[index] == nil, "a request of a batch is answered twice")
    if let id {
      var buffer = ByteBuffer()
      write(&buffer)
      buffer.truncate(to: buffer.count - 1)  // the LF
      parts[index] = Part(id: id, bytes: buffer.array)
    }
    self.position = max(self.position, position)
    self.isLate = self.isLate || isLate
    missing -= 1
    if missing == 0 { send() }
  }

  /// See ``HeldAnswers/settle(at:)``.
  func settle(at position: UInt64) {
    if self.position == HeldAnswers.undecided { self.position = position }
  }

  /// See ``Connection/refuseUndecided(at:_:)``.
  func refuseUndecided(at position: UInt64, _ error: WireError) {
    if self.position == HeldAnswers.undecided { refusal = (error, position) }
  }

  private func send() {
    defer {
      connection.behindAnswers += behind
      connection.hub.list(connection)
    }
    let parts = parts.compactMap(\.self)
    guard !parts.isEmpty else { return }
    connection.emit(after: position, to: .batch(parts.map(\.id)), isLate: isLate) { buffer in
      var room = connection.lineOut - 3
      var reserved = parts.count * Self.errorBytes
      buffer.append(UInt8(ascii: "["))
      for (i, part) in parts.enumerated() {
        if i > 0 { buffer.append(UInt8(ascii: ",")) }
        let start = buffer.count
        reserved -= Self.errorBytes
        // An answer that leaves no room for the others becomes an error, and only that one.
        if part.bytes.count + 1 + reserved <= room {
          buffer.append(part.bytes.span)
        } else {
          Frame.error(
            .resultTooLarge(part.bytes.count, max: connection.lineOut), part.id, &buffer)
          buffer.truncate(to: buffer.count - 1)  // the LF
        }
        room -= buffer.count - start + 1
      }
      buffer.append("]\n")
    }
    if let refusal { connection.refuseUndecided(at: refusal.position, refusal.error) }
  }
}
