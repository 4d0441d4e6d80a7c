package import JSON
package import Signals
package import Wire

/// One request on its way to an answer.
package struct Call {
  package let connection: Connection

  /// `nil` when nobody wants an answer; the call is made all the same.
  package let id: RequestID?

  /// How long the client waits for the answer (`_meta.timeout_ms`), from now on; `nil` for as long
  /// as it takes.
  package var timeoutMilliseconds: Int?

  private let batch: BatchAnswer?
  private let index: Int

  /// Since ``later(waitingFor:)``.
  private var late: LateCall?

  init(connection: Connection, id: RequestID?, batch: BatchAnswer? = nil, index: Int = 0) {
    self.connection = connection
    self.id = id
    self.batch = batch
    self.index = index
  }

  /// Bytes that the line of the answer may have: of a batch, what the others leave.
  package var room: Int { batch.map { min($0.room, connection.room) } ?? connection.room }

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

  /// Answers with a result that must not leave before what is recorded at the end of this turn is
  /// durable; ``Connection/settle(at:)`` or ``Connection/refuseUndecided(at:_:)`` follows there.
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

  // MARK: Calls that take longer

  /// Whether it was answered in a later turn: what still comes for it is dropped.
  package var isOver: Bool { late?.isOver ?? false }

  /// The source that it waits for; see ``later(waitingFor:)``.
  var awaitedSource: String? { late?.source }

  var hasBegun: Bool { late?.hasBegun ?? false }

  /// Notes that something is done for it that stays: it cannot be cancelled any more, and when its
  /// client does not wait for the end, that is unknown.
  package func noteBegun() { late?.hasBegun = true }

  func isLate(_ late: LateCall) -> Bool { self.late === late }

  var isLong: Bool { late?.isLong ?? false }

  /// Lets go of what is done for it, without an answer.
  func abandon() { late?.end() }

  /// The same call, to be answered in a later turn and out of order; it can be cancelled until then.
  ///
  /// - Parameters:
  ///   - source: The source whose value it waits for: that may never come, so the end of the daemon
  ///     does not wait for it. Left out, it is answered when some work is done.
  ///   - isLong: Whether the answer may be as long as a line: so that not too many are made at a time.
  /// - Returns: `nil` when there are as many as may be; the call is refused then.
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

  /// Keeps what is done for this call as long as it is not answered.
  package func keep(_ work: any Disposable) {
    (late?.work ?? connection.bag).add(disposable: work)
  }
}
