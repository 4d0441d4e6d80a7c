package import JSON
package import Signals
package import Wire

/// A request that is being answered.
package struct Call {
  package let connection: Connection

  /// The request identifier; `nil` for a notification, which is run without an answer.
  package let id: RequestID?

  /// The time that the client waits for the answer in milliseconds from now (`_meta.timeout_ms`);
  /// `nil` for no limit.
  package var timeoutMilliseconds: Int?

  private let batch: BatchAnswer?
  private let index: Int

  /// The state of a late call; `nil` before ``later(waitingFor:isLong:)``.
  private var late: LateCall?

  init(connection: Connection, id: RequestID?, batch: BatchAnswer? = nil, index: Int = 0) {
    self.connection = connection
    self.id = id
    self.batch = batch
    self.index = index
  }

  /// The bytes available for the answer line; in a batch, the bytes that the other answers leave.
  package var room: Int { batch.map { min($0.room, connection.room) } ?? connection.room }

  /// Answers with a result.
  ///
  /// - Parameters:
  ///   - position: The position that must be durable before the answer is sent.
  ///   - write: Writes the result, an object.
  package func answer(after position: UInt64 = 0, _ write: (inout ByteBuffer) -> Void) {
    respond(after: position) { id, buffer in
      Frame.result(id, &buffer, write)
    }
  }

  /// Answers with a result that is sent once the events recorded at the end of this turn are
  /// durable.
  ///
  /// ``Connection/settle(at:)`` or ``Connection/refuseUndecided(at:_:)`` must follow at that point.
  package func answerAtTurnEnd(_ write: (inout ByteBuffer) -> Void) {
    answer(after: HeldAnswers.undecided, write)
  }

  /// Answers with an error.
  package func refuse(_ error: WireError, after position: UInt64 = 0) {
    respond(after: position) { id, buffer in Frame.error(error, id, &buffer) }
  }

  private func respond(
    after position: UInt64, _ write: (RequestID, inout ByteBuffer) -> Void
  ) {
    guard !isOver else { return }
    if let batch {
      batch.set(index, id, after: position, isLate: late != nil) { buffer in
        if let id { write(id, &buffer) }
      }
    } else if let id {
      connection.emit(
        after: position, to: .request(id), isLate: late != nil,
        within: late == nil ? timeoutMilliseconds : nil
      ) { buffer in write(id, &buffer) }
    } else if position > connection.hub.position {
      connection.hold(until: position)
    }
    if let late { connection.endLate(late) }
  }

  // MARK: Late calls

  /// Whether a late call was answered, so that further answers are dropped.
  package var isOver: Bool { late?.isOver ?? false }

  /// The source whose value the call waits for; see ``later(waitingFor:isLong:)``.
  var awaitedSource: String? { late?.source }

  var hasBegun: Bool { late?.hasBegun ?? false }

  /// Records that the call has a lasting effect.
  ///
  /// It can no longer be cancelled, and after a timeout its outcome is unknown.
  package func noteBegun() { late?.hasBegun = true }

  func isLate(_ late: LateCall) -> Bool { self.late === late }

  var isLong: Bool { late?.isLong ?? false }

  /// Releases the call's work without an answer.
  func abandon() { late?.end() }

  /// Returns this call as a late call, which is answered in a later turn, out of order, and can be
  /// cancelled until then.
  ///
  /// - Parameters:
  ///   - source: The source whose value the call waits for. It may never come, so the daemon does
  ///     not wait for the call when it stops. `nil` if the call waits for work.
  ///   - isLong: Whether the answer may be as long as a line. This limits such calls in flight.
  /// - Returns: `nil` if too many calls are in flight; the call is then refused.
  package func later(waitingFor source: String? = nil, isLong: Bool = false) -> Call? {
    var call = self
    call.late = LateCall(waitingFor: source, isLong: isLong)
    do throws(WireError) {
      try connection.startLate(call)
    } catch {
      refuse(error)
      return nil
    }
    if let milliseconds = timeoutMilliseconds {
      let hub = connection.hub
      call.keep(
        hub.scheduler.schedule(after: Double(milliseconds) / 1000) {
          call.refuse(.timeout(after: milliseconds, mayBeDone: call.hasBegun))
        })
    }
    return call
  }

  /// Keeps the call's work alive until it is answered.
  package func keep(_ work: any Disposable) {
    (late?.work ?? connection.bag).add(disposable: work)
  }
}
