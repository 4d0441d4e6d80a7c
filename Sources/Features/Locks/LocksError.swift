package import EventSourcing

/// An error from acquiring or releasing a lock.
package enum LocksError: ServiceError, Equatable {
  case badName(rule: String)
  case locked(name: String, by: Locks.Claim)
  case notHeld(name: String)
  case lost(String)
  case tooMany(max: Int)

  /// The named lease cannot be used.
  case lease(LeasesError)

  package var kind: ServiceErrorKind {
    switch self {
    case .badName(let rule): .invalid(parameter: "name", expected: rule)
    case .locked: .rejected(reason: "locked")
    case .lost: .rejected(reason: "lease_ended")
    case .notHeld: .rejected(reason: "not_held")
    case .tooMany: .rejected(reason: "too_many")
    case .lease(let error): error.kind
    }
  }

  package var description: String {
    switch self {
    case .badName(let rule): rule
    case .locked(let name, let holder):
      "lock '\(name)' is held by process \(holder.pid) of user \(holder.uid)"
    case .lost(let name): "the lease has ended, or lock '\(name)' was released meanwhile"
    case .notHeld(let name): "no lease of this client holds lock '\(name)' or waits for it"
    case .tooMany(let max): "a user has at most \(max) places at locks (locks_user)"
    case .lease(let error): error.description
    }
  }

  /// Whether another holder is the reason, who may release it.
  package var isPassing: Bool {
    if case .locked = self { return true }
    return false
  }
}
