internal import JSON
internal import Signals
package import Wire

/// Calls that are answered in a later turn, and those whose client does not wait for that.
extension Connection {
  /// What has become of calls that were to be cancelled.
  package enum Fate: String {
    /// They were in flight, and are answered with `cancelled`.
    case active
    /// What they have recorded stays; the answer waits for the disk.
    case recorded
    /// None of that name waits for anything.
    case unknown
  }

  /// Notes a call that is answered in a later turn.
  ///
  /// - Throws: ``WireError``: `limit_reached`, or `overloaded`.
  func startLate(_ call: Call) throws(WireError) {
    guard late.count < limits.inFlight else { throw .limitReached(.inFlight, limits) }
    guard hub.mayStartLate(for: user) else {
      throw .limit(.allInFlight, limits, .overloaded)
    }
    late.append(call)
    hub.countLate(1, of: user)
  }

  /// Whether one more async call may be begun whose answer may be as long as a line: all of them that
  /// are in flight and what the client has not taken are to be no more than it may have waiting.
  package var hasRoomForLate: Bool {
    let lines = 1 + late.count(where: \.isLong)
    return outputBytes + lines * lineOut <= max(outputSoft, lineOut)
  }

  /// Forgets a call that was answered.
  func endLate(_ ended: LateCall) {
    ended.end()
    guard let i = late.firstIndex(where: { $0.isLate(ended) }) else { return }
    late.remove(at: i)
    hub.countLate(-1, of: user)
    hub.list(self)
  }

  /// Lets go of all that is done for calls that will not be answered.
  func abandonLate() {
    let late = late
    self.late = []
    hub.countLate(-late.count, of: user)
    for call in late { call.abandon() }
  }

  /// Cancels the calls of an identity that are in flight.
  package func cancel(_ id: RequestID) -> Fate {
    let calls = late.filter { $0.id == id }
    for call in calls where !call.hasBegun { call.refuse(.cancelled) }
    guard calls.isEmpty else { return calls.contains(where: \.hasBegun) ? .recorded : .active }
    return held.isWaiting(id, after: hub.position) || heldLate.isWaiting(id, after: hub.position)
      ? .recorded : .unknown
  }

  /// Refuses the calls that wait for sources that the client may not read any more.
  ///
  /// - Parameter error: What is wrong with a source; `nil` when nothing is.
  package func endWaits(_ error: (_ source: String) -> WireError?) {
    for call in late {
      if let error = call.awaitedSource.flatMap(error) { call.refuse(error) }
    }
  }

  /// Refuses the calls that wait for something that may never come.
  func endOpenEnded() {
    for call in late where call.awaitedSource != nil {
      call.refuse(.shuttingDown(reconnectMilliseconds: Closing.shutdown.reconnectMilliseconds ?? 0))
    }
  }

  /// Looks at a time for answers that still wait for the journal and whose time is over.
  func expireHeld(at time: UInt64) {
    if let expiry {
      guard time < expiry.at else { return }
      expiry.timer.dispose()
    }
    let now = hub.now()
    let seconds = Double(time - min(time, now)) / 1000
    expiry = (
      time,
      hub.scheduler.schedule(after: seconds) { [weak self] in self?.expireHeld() }
    )
  }

  private func expireHeld() {
    expiry = nil
    guard !isEnded else { return }
    for (addressee, milliseconds) in held.expire(at: hub.now()) {
      Frame.error(.timeout(after: milliseconds, mayBeDone: true), addressee.id, &output)
      hub.list(self)
    }
    if let next = held.nextExpiry { expireHeld(at: next) }
  }
}

extension WireError {
  fileprivate static func shuttingDown(reconnectMilliseconds: Int) -> WireError {
    WireError(
      .shuttingDown, "the daemon is about to end",
      ["reconnect_ms": .number(JSONNumber(reconnectMilliseconds))])
  }
}
