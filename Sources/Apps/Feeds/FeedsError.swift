package import Binder

/// An error from reading or changing subscriptions.
package enum FeedsError: Rejecting, Equatable {
  case badAddress

  /// The address contains a user name or a password.
  case secretAddress
  case badID
  case exists(id: String)
  case subscribed(url: String, id: String)
  case tooMany(max: Int)

  /// The user has reached the per-user limit.
  case tooManyOfUser(max: Int)
  case unknown(id: String)
  case noEpisode(Int, id: String)

  package var rejection: Rejection {
    switch self {
    case .badAddress:
      .invalid("url", "http:// or https://, \(FeedsService.maxAddressBytes) bytes at most")
    case .secretAddress:
      .invalid(
        "url", "no user and no password: an address is journaled, and shown to everybody")
    case .badID: .invalid("id", "1 to 64 of [A-Za-z0-9_.:-]")
    case .exists(let id): .exists("feed", id: id).saying("there is a feed '\(id)' already")
    case .subscribed(_, let id):
      .exists("feed", id: id).saying("feed '\(id)' already has that address")
    case .tooMany(let max): .rejected("too_many", "there are at most \(max) feeds")
    case .tooManyOfUser(let max):
      .rejected(
        "too_many",
        "there are at most \(max) feeds of one user; end some with feeds.unsubscribe")
    case .unknown(let id): .notFound("feed", id: id).saying("there is no feed '\(id)'")
    case .noEpisode(let number, let id):
      .notFound("episode", number).saying("feed '\(id)' has no episode \(number)")
    }
  }
}

/// The reason why a fetch failed; the feed is fetched again later.
package enum FeedFault: Rejecting, Equatable {
  /// The download failed.
  case server(WebError)
  /// The response is not a feed, or only its beginning is one.
  case text(FeedTextFault)
  /// The journal could not record the result.
  case journal

  package var rejection: Rejection {
    switch self {
    case .server(let error):
      .rejected(error == .timedOut ? "upstream_timeout" : "server_error", "\(error)")
    case .text(let fault): .rejected("parse_error", "\(fault)")
    case .journal: .rejected("not_kept", "the feed could not be saved")
    }
  }

  package var isPassing: Bool {
    switch self {
    case .server(let error): error.isPassing
    case .text: false
    case .journal: true
    }
  }
}
