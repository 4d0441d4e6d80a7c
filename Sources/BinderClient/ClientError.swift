internal import Glibc
public import JSON
public import Wire

/// Why a client has no answer.
public enum ClientError: Error, Equatable, Sendable {
  /// A place that was tried, and what the system said.
  public struct Attempt: Equatable, Sendable {
    /// The place.
    public let place: SocketSearch.Place

    /// The `errno` of it.
    public let code: Int32

    /// The system's words for ``code``.
    public let reason: String

    /// Whether somebody may be there whom this user may not see.
    public var isDenied: Bool { code == EACCES || code == EPERM }

    /// An attempt that has failed.
    public init(place: SocketSearch.Place, code: Int32, reason: String) {
      self.place = place
      self.code = code
      self.reason = reason
    }
  }

  /// Nobody listens at any of the places.
  case noDaemon([Attempt])

  /// The connection is gone, with the reason that the daemon gave; whether a request without an
  /// answer was run is not known.
  case lost(reason: String?)

  /// The time that the caller has set is over.
  case timedOut

  /// The daemon has answered with an error.
  case refused(WireError)

  /// The daemon has answered with an error that this version does not know.
  case unknownError(JSONText)

  /// What the daemon sent is not what was asked for.
  case notUnderstood(String)

  /// A stream was ended because of what somebody else has done: `stolen`, `forgotten`.
  case closed(reason: String)

  /// Nobody reads any more what this program writes.
  case readerGone
}

extension ClientError {
  /// Whether this user is not let in: by the permissions of a socket, or by the daemon's roles.
  public var isDenied: Bool {
    switch self {
    case .noDaemon(let attempts): attempts.contains(where: \.isDenied)
    case .lost(let reason): reason == "permission_denied"
    default: false
    }
  }
}

extension ClientError: CustomStringConvertible {
  /// One sentence for people.
  public var description: String {
    switch self {
    case .noDaemon(let attempts):
      (isDenied ? "permission denied" : "no daemon answers") + ": tried "
        + attempts.map { "\($0.place.path) (\($0.place.origin): \($0.reason))" }
        .joined(separator: ", ")
    case .lost(nil): "the connection to the daemon was lost"
    case .lost(let reason?): "the daemon has closed the connection: \(reason)"
    case .timedOut: "the time is over"
    case .refused(let error): error.message
    case .unknownError(let error): "the daemon answers with an error of a newer version: \(error)"
    case .notUnderstood(let what): "the daemon's answer is not understood: \(what)"
    case .closed(let reason): "the daemon has ended the stream: \(reason)"
    case .readerGone: "nobody reads the output"
    }
  }
}
