internal import Glibc
public import JSON
public import Wire

/// The reasons why a client has no answer.
public enum ClientError: Error, Equatable, Sendable {
  /// A failed attempt to connect to one place.
  public struct Attempt: Equatable, Sendable {
    /// The place of the socket.
    public let place: SocketSearch.Place

    /// The `errno` of the failure.
    public let code: Int32

    /// The system's message for ``code``.
    public let reason: String

    /// Whether the user lacks permission, so that a daemon may still be there.
    public var isDenied: Bool { code == EACCES || code == EPERM }

    /// Creates a failed attempt.
    public init(place: SocketSearch.Place, code: Int32, reason: String) {
      self.place = place
      self.code = code
      self.reason = reason
    }
  }

  /// No daemon listens at any of the places.
  case noDaemon([Attempt])

  /// The connection is lost, with the daemon's reason if there is one.
  ///
  /// An unanswered request may or may not have been run.
  case lost(reason: String?)

  /// The caller's deadline has passed.
  case timedOut

  /// The daemon answered with an error.
  case refused(WireError)

  /// The daemon answered with an error that this version does not know.
  case unknownError(JSONText)

  /// The daemon's message is malformed or unexpected.
  case notUnderstood(String)

  /// The daemon ended the stream because of another client's action: `stolen` or `removed`.
  case closed(reason: String)

  /// The journal was replaced while a command was in flight.
  ///
  /// The new journal may not know its idempotency key, so the command is not sent again. Look at the
  /// present values first.
  case outcomeUnknown

  /// The reader of this program's output has closed it.
  case readerGone

  /// The session with the daemon has ended, so that the daemon will not return.
  case sessionEnded
}

extension ClientError {
  /// Whether this user is refused, by the permissions of a socket or by the daemon's roles.
  public var isDenied: Bool {
    switch self {
    case .noDaemon(let attempts): attempts.contains(where: \.isDenied)
    case .lost(let reason): reason == "permission_denied"
    default: false
    }
  }
}

extension ClientError: CustomStringConvertible {
  /// A one-sentence message for people.
  public var description: String {
    switch self {
    case .noDaemon(let attempts):
      (isDenied ? "permission denied" : "no daemon answers") + ": tried "
        + attempts.map { "\($0.place.path) (\($0.place.origin): \($0.reason))" }
        .joined(separator: ", ")
    case .lost(nil): "the connection to the daemon was lost"
    case .lost(let reason?): "the daemon has closed the connection: \(reason)"
    case .timedOut: "the daemon did not answer in time"
    case .refused(let error): error.message
    case .unknownError(let error): "the daemon answered with an error of a newer version: \(error)"
    case .notUnderstood(let what): "cannot understand the daemon's answer: \(what)"
    case .closed(reason: "stolen"): "another client took over the reader"
    case .closed(let reason): "the daemon ended the stream: \(reason)"
    case .outcomeUnknown:
      "the journal was replaced while the command was in flight; check before you repeat it"
    case .readerGone: "nobody reads the output"
    case .sessionEnded: "the session has ended"
    }
  }
}
