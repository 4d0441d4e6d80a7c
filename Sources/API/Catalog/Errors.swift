package import EventSourcing
internal import JSON
package import Model
package import Wire

/// The internal errors of a daemon: the client gets a reference to the details in the log.
package struct InternalErrors {
  private var count = 0

  /// Called for each error, with the reference sent to the client and the details for the log.
  package var onError: (_ ref: String, _ detail: String) -> Void = { _, _ in }

  /// Returns the reference to a new error.
  mutating func makeReference() -> String {
    count += 1
    return "E-\(count)"
  }
}

/// Maps errors to wire errors.
extension Catalog {
  /// Maps any error of a service or the journal to the error sent to clients.
  package func error(_ error: any Error) -> WireError {
    switch error {
    case let error as WireError: error
    case let error as any ServiceError: WireError(error)
    case let fault as JournalError: self.error(fault)
    default: internalError("the service has failed", "\(error)")
    }
  }

  /// Maps a journal error to the error sent to the client.
  package func error(_ fault: JournalError) -> WireError {
    switch fault {
    case .readOnly(let reason, let outcome):
      .readOnly("\(fault)", reason: reason, outcome)
    case .following(let active, let address):
      .following(active, address)
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
    let ref = internalErrors.makeReference()
    internalErrors.onError(ref, detail)
    return WireError(.internalError, message, ["ref": .string(ref)])
  }
}

extension WireError {
  /// Returns the error for a command that the journal does not take.
  ///
  /// - Parameters:
  ///   - reason: A word or a system error, for example `ENOSPC`.
  ///   - outcome: Whether the command may have been stored.
  static func readOnly(
    _ message: String, reason: String, _ outcome: JournalError.Outcome
  ) -> WireError {
    WireError(
      .readOnly, message, ["reason": .string(reason), "outcome": .string(outcome.rawValue)])
  }

  /// Returns the error for a command at a daemon that follows.
  ///
  /// - Parameters:
  ///   - active: The name of the active daemon; `nil` if no daemon takes commands.
  ///   - address: The address for its clients; `nil` if it tells none.
  static func following(_ active: String?, _ address: String?) -> WireError {
    var error = readOnly(
      "\(JournalError.following(active: active, address: address))", reason: "following", .none)
    if let active { error.data["active"] = .string(active) }
    if let address { error.data["address"] = .string(address) }
    return error
  }

  /// Returns the error for a write that would exceed a quota.
  static func full(_ limit: LimitName, _ max: Int) -> WireError {
    var data = JSONObject()
    data.add(limit, max: max)
    return WireError(
      .limitReached, "\(limit.row.meaning): \(max) at most; remove something to make room", data,
      retry: false)
  }

  /// Returns the error for a method that has exceeded its time limit.
  static func tooLong(_ milliseconds: Int) -> WireError {
    var error = WireError.timeout(after: milliseconds, mayBeDone: false)
    error.data.add(.call, max: milliseconds)
    return error
  }
}

/// A command looks at more values than one turn of the loop has time for.
package struct TooExpensive: ServiceError {
  package let description: String

  package init(_ description: String) { self.description = description }

  package var kind: ServiceErrorKind { .rejected(reason: "too_expensive") }
}

extension LimitName {
  /// Returns the limit that sets a quota.
  init(_ scope: StateQuota.Scope) {
    self = scope == .total ? .state : .statePerUser
  }
}

extension StateQuota {
  /// Creates the quota set by the limits.
  package init(_ limits: Limits) {
    self.init(total: limits.state, ofUser: limits.statePerUser)
  }
}
