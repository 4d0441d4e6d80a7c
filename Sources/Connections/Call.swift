package import JSON
package import Wire

/// One request on its way to an answer.
package struct Call {
  package let connection: Connection

  /// `nil` when nobody wants an answer; the call is made all the same.
  package let id: RequestID?

  private let batch: BatchAnswer?
  private let index: Int

  /// Whether ``Connection/startLate(_:)`` was called for it.
  private var isLate = false

  init(connection: Connection, id: RequestID?, batch: BatchAnswer? = nil, index: Int = 0) {
    self.connection = connection
    self.id = id
    self.batch = batch
    self.index = index
  }

  /// Answers with a result.
  ///
  /// - Parameters:
  ///   - position: What must be durable before the answer leaves.
  ///   - write: Writes the result, an object.
  package func answer(after position: UInt64 = 0, _ write: (inout ByteBuffer) -> Void) {
    respond(after: position) { id, buffer in
      Frame.beginResult(id, &buffer)
      write(&buffer)
      Frame.end(&buffer)
    }
  }

  /// Answers with an error.
  package func refuse(_ error: WireError, after position: UInt64 = 0) {
    respond(after: position) { id, buffer in Frame.error(error, id, &buffer) }
  }

  private func respond(
    after position: UInt64, _ write: (RequestID, inout ByteBuffer) -> Void
  ) {
    if let batch {
      batch.set(index, id, after: position, isLate: isLate) { buffer in
        if let id { write(id, &buffer) }
      }
    } else if let id {
      connection.emit(after: position, to: .request(id), isLate: isLate) { buffer in
        write(id, &buffer)
      }
    }
    if isLate { connection.finishLate() }
  }

  /// The same call, to be answered in a later turn and out of order.
  ///
  /// - Returns: `nil` when the connection has as many as it may; the call is refused then.
  package func later() -> Call? {
    guard connection.startLate() else {
      refuse(.limitReached(.inFlight, connection.limits))
      return nil
    }
    var call = self
    call.isLate = true
    return call
  }
}
