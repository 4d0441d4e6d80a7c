package import EventSourcing
internal import Facts
internal import JSON
package import Wire

/// Maps errors of services and the journal to wire errors.
extension Interface {
  /// Maps a refusal to the error sent to the client.
  func error(_ refusal: Refusal) -> WireError {
    switch refusal {
    case .service(let error): WireError(error)
    case .conflict(let stream, let expected, let actual):
      .conflict(stream, expected: expected, actual: actual)
    case .reused(let seq): .reused(seq)
    case .denied(let stream): notWritable(stream)
    case .full(let scope, let max): full(LimitName(scope), max)
    case .journal(let fault): error(fault)
    case .tooLong(let milliseconds): tooLong(milliseconds)
    case .pending: deferred()
    case .unexpected(let detail): internalError("the method has failed", detail)
    }
  }

  /// Marks the current request to run again later.
  ///
  /// The returned error is never sent.
  private func deferred() -> WireError {
    isDeferred = true
    return WireError(.internalError, "not decided yet")
  }

  private func full(_ limit: LimitName, _ max: Int) -> WireError {
    var data = JSONObject()
    data.add(limit, max: max)
    return WireError(
      .limitReached, "\(limit.row.meaning): \(max) at most; remove something to make room", data,
      retry: false)
  }

  private func tooLong(_ milliseconds: Int) -> WireError {
    var error = WireError.timeout(after: milliseconds, mayBeDone: false)
    error.data.add(.call, max: milliseconds)
    return error
  }

  /// Maps any error of a service to the error sent to the client.
  func error(_ error: any Error) -> WireError {
    switch error {
    case let error as WireError: error
    case let refusal as Refusal: self.error(refusal)
    case let error as any ServiceError: WireError(error)
    case let fault as JournalError: self.error(fault)
    default: internalError("the service has failed", "\(error)")
    }
  }

  /// Maps a journal error to the error sent to the client.
  func error(_ fault: JournalError) -> WireError {
    switch fault {
    case .readOnly(let reason, let outcome):
      WireError(
        .readOnly, "\(fault)",
        ["reason": .string(reason), "outcome": .string(outcome.rawValue)])
    case .outOfRange(let first, let last): .seqExpired(first: first, last: last)
    case .corrupt(let seq, _):
      internalError("event \(seq) of the journal is damaged", "\(fault)")
    case .notUnderstood(let seq, _):
      internalError("event \(seq) of the journal is unknown to this program", "\(fault)")
    case .newerFormat, .notAJournal, .locked, .unavailable:
      internalError("the journal cannot be read", "\(fault)")
    }
  }

  /// Returns an internal error with a reference under which the log has the details.
  func internalError(_ message: String, _ detail: String) -> WireError {
    commons.internalErrors += 1
    let ref = "E-\(commons.internalErrors)"
    commons.onInternalError(ref, detail)
    return WireError(.internalError, message, ["ref": .string(ref)])
  }
}

extension LimitName {
  /// Returns the limit that sets a quota.
  fileprivate init(_ scope: StateQuota.Scope) {
    self = scope == .total ? .state : .statePerUser
  }
}

extension StateQuota {
  /// Creates the quota set by the limits.
  package init(_ limits: Limits) {
    self.init(total: limits.state, ofUser: limits.statePerUser)
  }
}
