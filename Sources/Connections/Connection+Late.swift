internal import JSON
internal import Signals
package import Wire

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
  func startLate(_ call: Call) throws(WireError) {
    guard late.count < limits.inFlight else { throw .limitReached(.inFlight, limits) }
    guard hub.mayStartLate(for: user) else {
      throw .limit(.allInFlight, limits, .overloaded)
    }
    late.append(call)
    hub.countLate(1, of: user)
  }

  /// Whether another late call with a long answer may start.
  ///
  /// One line for each such call and the pending output must together fit the output limit.
  package var hasRoomForLate: Bool {
    let lines = 1 + late.count(where: \.isLong)
    return outputBytes + lines * lineOut <= max(outputSoft, lineOut)
  }

  /// Removes an answered call.
  func endLate(_ ended: LateCall) {
    ended.end()
    guard let i = late.firstIndex(where: { $0.isLate(ended) }) else { return }
    late.remove(at: i)
    hub.countLate(-1, of: user)
    hub.list(self)
  }

  /// Releases the work of all late calls without answering them.
  func abandonLate() {
    let late = late
    self.late = []
    hub.countLate(-late.count, of: user)
    for call in late { call.abandon() }
  }

  /// Cancels the calls in flight with an identifier.
  package func cancel(_ id: RequestID) -> Fate {
    let calls = late.filter { $0.id == id }
    for call in calls where !call.hasBegun { call.refuse(.cancelled) }
    guard calls.isEmpty else { return calls.contains(where: \.hasBegun) ? .recorded : .active }
    return held.isWaiting(id, after: hub.position) || heldLate.isWaiting(id, after: hub.position)
      ? .recorded : .unknown
  }

  /// Refuses the calls that wait for sources that the client may no longer read.
  ///
  /// - Parameter error: Returns the error for a source; `nil` if the client may read it.
  package func endWaits(_ error: (_ source: String) -> WireError?) {
    for call in late {
      if let error = call.awaitedSource.flatMap(error) { call.refuse(error) }
    }
  }

  /// Refuses the calls that wait for a source, whose value may never come.
  func endOpenEnded() {
    for call in late where call.awaitedSource != nil {
      call.refuse(.shuttingDown(reconnectMilliseconds: Closing.shutdown.reconnectMilliseconds ?? 0))
    }
  }

  /// Schedules a timeout at a time in milliseconds for answers that wait for the journal.
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
      .shuttingDown, "the daemon is shutting down",
      ["reconnect_ms": .number(JSONNumber(reconnectMilliseconds))])
  }
}
