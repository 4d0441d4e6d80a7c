package import EventSourcing
internal import JSON

/// The reason why a service refuses a command; its client gets it as the error.
///
/// A service that has many reasons may have an error type of its own; see ``Rejecting``.
public enum Rejection: Rejecting, Equatable {
  /// A parameter breaks a rule: `invalid_params`, with the parameter and the rule.
  case invalid(_ parameter: String, _ rule: String)

  /// Something does not exist: `not_found`, with its kind and its name.
  case notFound(_ what: String, id: String)

  /// Something exists already: `already_exists`, with its kind and its name.
  case exists(_ what: String, id: String)

  /// A rule of the service: `rejected`, with a word for programs and a sentence for people.
  case rejected(_ reason: String, _ sentence: String)

  /// One of the others, with another sentence for people; see ``saying(_:)``.
  indirect case worded(Rejection, String)

  /// Returns the rejection with another sentence for people.
  ///
  ///     throw .notFound("chore", id).saying("nothing is to be done with the number \(id)")
  public func saying(_ sentence: String) -> Rejection { .worded(self, sentence) }

  /// Something does not exist: `not_found`, with its kind and its name.
  public static func notFound(_ what: String, _ id: some CustomStringConvertible) -> Rejection {
    .notFound(what, id: id.description)
  }

  /// Something exists already: `already_exists`, with its kind and its name.
  public static func exists(_ what: String, _ id: some CustomStringConvertible) -> Rejection {
    .exists(what, id: id.description)
  }

  /// The rejection itself.
  public var rejection: Rejection { self }

  /// The sentence for people.
  public var description: String {
    switch self {
    case .invalid(_, let rule): rule
    case .notFound(let what, let id): "no \(what) '\(id)'"
    case .exists(let what, let id): "the \(what) '\(id)' exists"
    case .rejected(_, let sentence), .worded(_, let sentence): sentence
    }
  }
}

/// An error type of a service: why it refuses a command.
public protocol Rejecting: Error, CustomStringConvertible {
  /// The error for clients.
  var rejection: Rejection { get }

  /// Whether the error is temporary, so that a retry may succeed; clients get it as `retry`.
  var isPassing: Bool { get }

  /// Whether the command waits for a result that is not there yet.
  ///
  /// It has no effect then, and runs again after ``Caller/runAgain()``.
  var isPending: Bool { get }
}

extension Rejecting {
  /// By default the same call fails again.
  public var isPassing: Bool { false }

  /// By default no result is missing.
  public var isPending: Bool { false }

  /// The sentence of the rejection.
  public var description: String { rejection.description }
}

/// The error of a service, as the engine expects it.
package struct ServiceRejection: ServiceError {
  let rejection: Rejection
  package let isPassing: Bool
  package let isPending: Bool

  package init(_ error: some Rejecting) {
    (rejection, isPassing, isPending) = (error.rejection, error.isPassing, error.isPending)
  }

  /// Returns the error for the engine, in place of one that a service has thrown.
  package static func adapted(_ error: any Error) -> any Error {
    (error as? any Rejecting).map { ServiceRejection($0) } ?? error
  }

  /// Returns the error of a function that sets or removes a row.
  static func ofWriter(_ error: any Error) -> any ServiceError {
    switch error {
    case let error as any Rejecting: ServiceRejection(error)
    case let error as JSONDecodingError: ServiceRejection(Rejection.invalid("value", "\(error)"))
    case let error as any ServiceError: error
    default: ServiceRejection(Rejection.rejected("failed", "\(error)"))
    }
  }

  package var kind: ServiceErrorKind { Self.kind(of: rejection) }

  private static func kind(of rejection: Rejection) -> ServiceErrorKind {
    switch rejection {
    case .invalid(let parameter, let rule): .invalid(parameter: parameter, expected: rule)
    case .notFound(let what, let id): .notFound(what: what, id: id)
    case .exists(let what, let id): .alreadyExists(what: what, id: id)
    case .rejected(let reason, _): .rejected(reason: reason)
    case .worded(let rejection, _): kind(of: rejection)
    }
  }

  package var description: String { rejection.description }
}
