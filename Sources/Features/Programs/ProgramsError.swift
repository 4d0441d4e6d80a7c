internal import EventSourcing
internal import JSON
internal import Wire

/// An error from calling a service made of programs.
enum ProgramsError: ServiceError, Equatable {
  case tooManyQueued(service: String, max: Int)
  case tooManyOfUser(max: Int)
  case unknownService(String)
  case notParked(UInt64)
  case isProvided(String)

  var kind: ServiceErrorKind {
    switch self {
    case .tooManyQueued, .tooManyOfUser: .rejected(reason: "too_many")
    case .unknownService(let name): .notFound(what: "service", id: name)
    case .isProvided: .rejected(reason: "provided")
    case .notParked: .rejected(reason: "not_parked")
    }
  }

  var description: String {
    switch self {
    case .unknownService(let name): "no program has declared a service '\(name)'"
    case .notParked(let call): "call \(call) is not parked"
    case .isProvided(let name): "service '\(name)' has a provider; end it first"
    case .tooManyQueued(let service, let max):
      "service '\(service)' has \(max) queued calls, and takes no more"
    case .tooManyOfUser(let max):
      "at most \(max) queued calls of a user wait (queued_user)"
    }
  }
}

extension WireError {
  /// Returns the error for a limit of a user or a connection.
  static func tooMany(_ message: String) -> WireError {
    WireError(.rejected, message, ["reason": .string("too_many")])
  }

  static func exists(_ service: String, _ message: String) -> WireError {
    WireError(
      .alreadyExists, message, ["what": .string("service"), "id": .string(service)])
  }

  /// Returns the error for a call that no provider answers.
  static func unavailable(_ service: String, _ why: String) -> WireError {
    WireError(
      .unavailable, "service '\(service)' is not available: \(why)",
      ["service": .string(service)])
  }
}
