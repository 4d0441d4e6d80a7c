package import JSON
package import Signals
package import Wire

/// A request that is being answered.
package struct Call {
  package let connection: Connection

  /// The request identifier; `nil` for a notification, which is run without an answer.
  package let id: RequestID?

  /// The parts that few calls have.
  ///
  /// They are in one object, so that copies of other calls are cheap. Nothing changes it once it is
  /// part of a call.
  private final class Rare {
    var batch: BatchAnswer?
    var index = 0
    var timeoutMilliseconds: Int?
    var late: LateCall?
    var outcome: CallOutcome?

    init() {}

    init(copy other: Rare) {
      (batch, index, late) = (other.batch, other.index, other.late)
      (timeoutMilliseconds, outcome) = (other.timeoutMilliseconds, other.outcome)
    }
  }

  /// `nil` for a call that is answered in its turn, alone in its line, without a time limit and
  /// without an outcome.
  private var rare: Rare?

  init(connection: Connection, id: RequestID?, batch: BatchAnswer? = nil, index: Int = 0) {
    self.connection = connection
    self.id = id
    if let batch { change { ($0.batch, $0.index) = (batch, index) } }
  }

  private mutating func change(_ body: (Rare) -> Void) {
    let changed = rare.map(Rare.init(copy:)) ?? Rare()
    body(changed)
    rare = changed
  }

  private var batch: BatchAnswer? { rare?.batch }
  private var index: Int { rare?.index ?? 0 }

  /// The time that the client waits for the answer in milliseconds from now (`_meta.timeout_ms`);
  /// `nil` for no limit.
  package var timeoutMilliseconds: Int? {
    get { rare?.timeoutMilliseconds }
    set { change { $0.timeoutMilliseconds = newValue } }
  }

  /// The action that follows from a result; `nil` if there is none.
  package var outcome: CallOutcome? {
    get { rare?.outcome }
    set { change { $0.outcome = newValue } }
  }

  /// The state of a late call; `nil` before ``later(waitingFor:isLong:)``.
  private var late: LateCall? {
    get { rare?.late }
    set { change { $0.late = newValue } }
  }

  /// The bytes available for the answer line; in a batch, the bytes that the other answers leave.
  package var room: Int { batch.map { min($0.room, connection.room) } ?? connection.room }

  /// Answers with a result.
  ///
  /// - Parameters:
  ///   - position: The position that must be durable before the answer is sent.
  ///   - write: Writes the result, an object.
  package func answer(after position: UInt64 = 0, _ write: (inout ByteBuffer) -> Void) {
    if rare == nil, let id {
      return connection.answer(id, after: position, write)
    }
    if let outcome, !isOver { outcome.succeed() }
    respond(after: position) { id, buffer in
      Frame.result(id, &buffer, write)
    }
  }

  /// Answers with a result that may be long: long values in it are shared and not copied.
  ///
  /// - Parameter write: Writes the result, an object.
  package func answerInPieces(_ write: (inout PieceBuffer) -> Void) {
    guard !isOver else { return }
    outcome?.succeed()
    var answer = PieceBuffer()
    if let id {
      Frame.begin(id, &answer.tail)
      answer.tail.append(#","result":"#)
      write(&answer)
      Frame.end(&answer.tail)
    }
    if let batch {
      batch.set(index, id, after: 0, isLate: late != nil, answer)
    } else if let id {
      connection.emit(
        answer, to: .request(id), isLate: late != nil,
        within: late == nil ? timeoutMilliseconds : nil)
    }
    if let late { connection.endLate(late) }
  }

  /// Answers with the answer of another daemon to the same request.
  ///
  /// - Parameters:
  ///   - position: The position that must be durable here before the answer is sent.
  ///   - isResult: Whether `text` is the result; otherwise it is the error.
  package func answer(after position: UInt64, isResult: Bool, _ text: JSONText) {
    if isResult, !isOver { outcome?.succeed() }
    respond(after: position, isForwarded: true) { id, buffer in
      if isResult {
        Frame.result(id, &buffer) { $0.append(text.text) }
      } else {
        Frame.error(text, id, &buffer)
      }
    }
  }

  /// Answers with a result that is sent once the events recorded at the end of this turn are
  /// durable.
  ///
  /// ``Connection/decide(at:)`` or ``Connection/refuseUndecided(at:_:)`` must follow at that point.
  package func answerAtTurnEnd(_ write: (inout ByteBuffer) -> Void) {
    answer(after: PendingReplies.undecided, write)
  }

  /// Answers with an error.
  ///
  /// - Parameter isForwarded: Whether the error overtakes no answers of another daemon.
  package func refuse(
    _ error: WireError, after position: UInt64 = 0, isForwarded: Bool = false
  ) {
    if !isOver { connection.context.traffic.countRefusal(error.name) }
    respond(after: position, isForwarded: isForwarded) { id, buffer in
      Frame.error(error, id, &buffer)
    }
  }

  private func respond(
    after position: UInt64, isForwarded: Bool = false,
    _ write: (RequestID, inout ByteBuffer) -> Void
  ) {
    guard !isOver else { return }
    if let batch {
      batch.set(index, id, after: position, isLate: late != nil) { buffer in
        if let id { write(id, &buffer) }
      }
    } else if let id {
      connection.emit(
        after: position, to: .request(id), isLate: late != nil, isForwarded: isForwarded,
        within: late == nil ? timeoutMilliseconds : nil
      ) { buffer in write(id, &buffer) }
    } else if position > connection.context.position {
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
  package func markBegun() { late?.hasBegun = true }

  func isLate(_ late: LateCall) -> Bool { self.late === late }

  var isLong: Bool { late?.isLong ?? false }

  /// Releases the call's work without an answer.
  func abandon() { late?.end() }

  var lateBytes: Int { late?.bytes ?? 0 }

  /// Returns this call as a late call, which is answered in a later turn, out of order, and can be
  /// cancelled until then.
  ///
  /// - Parameters:
  ///   - source: The source whose value the call waits for. It may never come, so the daemon does
  ///     not wait for the call when it stops. `nil` if the call waits for work.
  ///   - isLong: Whether the answer may be as long as a line. This limits such calls in flight.
  ///   - isLimited: Whether the limits of late calls apply.
  ///   - bytes: What the user is charged until the call is answered.
  /// - Returns: `nil` if too many calls are in flight; the call is then refused.
  package func later(
    waitingFor source: String? = nil, isLong: Bool = false, isLimited: Bool = true,
    bytes: Int = ItemBytes.lateCall
  ) -> Call? {
    var call = self
    call.late = LateCall(waitingFor: source, isLong: isLong, bytes: bytes)
    do throws(WireError) {
      try connection.startLate(call, isLimited: isLimited)
    } catch {
      refuse(error)
      return nil
    }
    if let milliseconds = timeoutMilliseconds {
      let context = connection.context
      call.keep(
        context.scheduler.schedule(after: Double(milliseconds) / 1000) {
          call.refuse(.timeout(after: milliseconds, mayBeDone: call.hasBegun))
        })
    }
    return call
  }

  /// Keeps the call's work alive until it is answered.
  package func keep(_ work: any Disposable) {
    if let late { late.work.add(disposable: work) } else { connection.attach(work) }
  }
}

/// An action that follows from the answer to a call, if that is a result.
package final class CallOutcome {
  private var action: (() -> Void)?

  package init(onResult action: @escaping () -> Void) { self.action = action }

  fileprivate func succeed() {
    let action = action
    self.action = nil
    action?()
  }
}

/// The state of a call that is answered in a later turn.
final class LateCall {
  /// The source whose value the call waits for, which may never come; `nil` if it waits for work.
  let source: String?

  /// Whether the answer may be as long as a line.
  let isLong: Bool

  /// The bytes charged to the user.
  let bytes: Int

  /// Whether the call has had a lasting effect.
  var hasBegun = false

  /// Whether the call was answered.
  private(set) var isOver = false

  /// The work for this call.
  ///
  /// It is disposed when the call is answered, by any path.
  let work = DisposeBag()

  init(waitingFor source: String?, isLong: Bool, bytes: Int) {
    (self.source, self.isLong, self.bytes) = (source, isLong, bytes)
  }

  func end() {
    isOver = true
    work.dispose()
  }
}

/// Late calls, which are answered in a later turn, and their cancellation and timeouts.
extension Connection {
  /// The outcome of a cancellation.
  package enum Fate: String {
    /// The calls were in flight and are answered with `cancelled`.
    case active
    /// The calls have recorded events, which stay.
    ///
    /// The answer waits for the disk.
    case recorded
    /// No call with that identifier is pending.
    case unknown
  }

  /// Registers a late call.
  ///
  /// - Throws: ``WireError``: `limit_reached` or `overloaded`.
  func startLate(_ call: Call, isLimited: Bool) throws(WireError) {
    if isLimited { try checkLate(bytes: call.lateBytes) }
    lateCalls.append(call)
    charge(call.lateBytes)
    context.countLate(1, of: user)
  }

  /// Checks that a late call may start.
  ///
  /// - Throws: ``WireError``: `limit_reached` or `overloaded`.
  package func checkLate(bytes: Int = ItemBytes.lateCall) throws(WireError) {
    guard lateCalls.all.count < limits.inFlight else {
      throw .limitReached(.inFlight, limits)
    }
    guard context.mayStartLate(for: user) else {
      throw .limit(.allInFlight, limits, .overloaded)
    }
    try checkMemory(for: bytes)
  }

  /// Whether another late call with a long answer may start.
  ///
  /// One line for each such call and the pending output must together fit the output limit.
  package var hasRoomForLate: Bool {
    let lines = 1 + lateCalls.longCount
    return outputBytes + lines * lineOut <= max(outputSoft, lineOut)
  }

  /// Removes an answered call.
  func endLate(_ ended: LateCall) {
    ended.end()
    guard lateCalls.remove(ended) else { return }
    charge(-ended.bytes)
    context.countLate(-1, of: user)
    list()
  }

  /// Releases the work of all late calls without answering them.
  func abandonLate() {
    let late = lateCalls.removeAll()
    context.countLate(-late.count, of: user)
    for call in late {
      charge(-call.lateBytes)
      call.abandon()
    }
  }

  /// Cancels the calls in flight with an identifier.
  package func cancel(_ id: RequestID) -> Fate {
    let calls = lateCalls.all.filter { $0.id == id }
    for call in calls where !call.hasBegun { call.refuse(.cancelled) }
    guard calls.isEmpty else { return calls.contains(where: \.hasBegun) ? .recorded : .active }
    return held.isWaiting(id, after: context.position) ? .recorded : .unknown
  }

  /// Refuses the calls that wait for sources that the client may no longer read.
  ///
  /// - Parameter error: Returns the error for a source; `nil` if the client may read it.
  package func endWaits(_ error: (_ source: String) -> WireError?) {
    for call in lateCalls.all {
      if let error = call.awaitedSource.flatMap(error) { call.refuse(error) }
    }
  }

  /// Refuses the calls that wait for a source, whose value may never come.
  func endOpenEnded() {
    for call in lateCalls.all where call.awaitedSource != nil {
      call.refuse(.shuttingDown(reconnectMilliseconds: Closing.shutdown.reconnectMilliseconds ?? 0))
    }
  }

  /// Schedules a timeout at a time in milliseconds for answers that wait for the journal.
  func expireHeld(at time: UInt64) {
    guard held.isNext(time) else { return }
    let now = context.now()
    let seconds = Double(time - min(time, now)) / 1000
    let timer = context.scheduler.schedule(after: seconds) { [weak self] in self?.expireHeld() }
    held.setTimer(timer, at: time)
  }

  private func expireHeld() {
    held.endTimer()
    guard !isEnded else { return }
    for (addressee, milliseconds) in held.inOrder.expire(at: context.now()) {
      context.traffic.countRefusal(.timeout)
      Frame.error(.timeout(after: milliseconds, mayBeDone: true), addressee.id, &output.tail)
      list()
    }
    if let next = held.inOrder.nextExpiry { expireHeld(at: next) }
  }
}

extension WireError {
  fileprivate static func shuttingDown(reconnectMilliseconds: Int) -> WireError {
    WireError(
      .shuttingDown, "the daemon is shutting down",
      ["reconnect_ms": .number(JSONNumber(reconnectMilliseconds))])
  }
}
