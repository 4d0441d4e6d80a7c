package import Binder

/// An error from a login, or from reading or changing users.
package enum UsersError: Rejecting, Equatable {
  case badName
  case tooLong(parameter: String, max: Int)
  case badText(parameter: String)
  case unknown(name: String)

  /// Another uid has claimed the name.
  case taken(name: String)
  case tooManyNames(max: Int)
  case badToken
  case tooManyTokens(max: Int)

  /// Tokens are not supported on this machine.
  case noTokens
  case oneself
  case tooManyFriends(max: Int)
  case notLoggedIn

  /// A user is logged in, and the call names another one.
  case loggedIn(name: String)

  /// A login needs either a name or a token.
  case nameOrToken

  /// The events were lost before they became durable.
  case lost

  /// A user whose existence is hidden from the caller.
  case hidden(name: String)

  /// A secret is being made or verified; run the same command again afterwards.
  case pending

  package var rejection: Rejection {
    switch self {
    case .badName, .nameOrToken: .invalid("name", description)
    case .tooLong(let parameter, _), .badText(let parameter): .invalid(parameter, description)
    case .unknown(let name): .notFound("user", name).saying(description)
    case .hidden(let name): .notFound("source", "users/" + name).saying(description)
    default: .rejected(reason, description)
    }
  }

  private var reason: String {
    switch self {
    case .taken: "name_taken"
    case .tooManyNames, .tooManyTokens, .tooManyFriends: "too_many"
    case .badToken: "bad_token"
    case .noTokens: "no_tokens"
    case .oneself: "oneself"
    case .notLoggedIn: "not_logged_in"
    case .loggedIn: "logged_in"
    case .lost: "not_kept"
    default: "pending"
    }
  }

  package var description: String {
    switch self {
    case .badName: "a name is 1 to 32 of a-z 0-9 _ - and begins with a letter"
    case .tooLong(let parameter, let max): "'\(parameter)' has at most \(max) bytes"
    case .badText(let parameter): "'\(parameter)' has no control characters"
    case .nameOrToken: "either a name or a token"
    case .unknown(let name): "there is no user '\(name)'"
    case .taken(let name): "'\(name)' belongs to another user of this machine; log in with a token"
    case .tooManyNames(let max): "a user of this machine has at most \(max) names"
    case .badToken: "the token is not valid or was revoked"
    case .tooManyTokens(let max): "a user has at most \(max) tokens; revoke them first"
    case .noTokens: "this machine does not support tokens"
    case .oneself: "you cannot be your own friend"
    case .tooManyFriends(let max): "a user has at most \(max) friends"
    case .notLoggedIn: "you are not logged in: log in first, or name one of your users with 'as'"
    case .loggedIn(let name): "already logged in as '\(name)': log out first, or omit 'as'"
    case .lost: "it could not be saved"
    case .hidden(let name): "no source 'users/\(name)'"
    case .pending: "the result is not known yet"
    }
  }

  package var isPending: Bool { self == .pending }
}
