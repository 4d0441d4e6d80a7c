package import EventSourcing
internal import Model

/// An error from using a lease.
package enum LeasesError: ServiceError, Equatable {
  case notFound(id: String)
  case notOwner(id: String)
  case noTTL(id: String)
  case hasTTL(id: String)
  case inUse(id: String)
  case badTTL(milliseconds: Int)
  case tooMany(max: Int)
  case badWill(rule: String)
  case longWill(max: Int)
  case tooManyParts(id: String, max: Int)
  case endsTooMany(max: Int)

  package var kind: ServiceErrorKind {
    switch self {
    case .notFound(let id): .notFound(what: "lease", id: id)
    case .notOwner: .rejected(reason: "not_owner")
    case .noTTL: .rejected(reason: "no_ttl")
    case .hasTTL: .rejected(reason: "has_ttl")
    case .inUse: .rejected(reason: "in_use")
    case .badWill(let rule): .invalid(parameter: "calls", expected: rule)
    case .tooMany, .longWill, .tooManyParts, .endsTooMany: .rejected(reason: "too_many")
    case .badTTL(let milliseconds):
      .invalid(parameter: "ttl_ms", expected: Self.range(milliseconds))
    }
  }

  package var description: String {
    switch self {
    case .notFound(let id): "there is no lease '\(id)'; it may have ended"
    case .notOwner(let id): "lease '\(id)' belongs to another user"
    case .noTTL(let id): "lease '\(id)' ends with its connection and needs no renewal"
    case .hasTTL(let id): "lease '\(id)' has a ttl and belongs to no connection"
    case .inUse(let id): "lease '\(id)' belongs to another connection, which is still open"
    case .badWill(let rule): rule
    case .tooMany(let max): "a user has at most \(max) leases (leases_user)"
    case .longWill(let max): "a will has at most \(max) calls"
    case .tooManyParts(let id, let max):
      "at most \(max) values and locks end with '\(id)'; grant another lease for more"
    case .endsTooMany(let max):
      "a command ends leases with at most \(max) values and locks together"
    case .badTTL(let milliseconds): Self.range(milliseconds)
    }
  }

  private static func range(_ got: Int) -> String {
    "a ttl has \(LeaseLimits.ttls.lowerBound) to \(LeaseLimits.ttls.upperBound) ms, not \(got)"
  }
}
