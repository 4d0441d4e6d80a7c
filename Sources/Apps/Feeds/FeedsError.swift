package import EventSourcing

/// An error from reading or changing subscriptions.
package enum FeedsError: ServiceError, Equatable {
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

  package var kind: ServiceErrorKind {
    switch self {
    case .badAddress, .secretAddress: .invalid(parameter: "url", expected: description)
    case .badID: .invalid(parameter: "id", expected: description)
    case .exists(let id), .subscribed(_, let id): .alreadyExists(what: "feed", id: id)
    case .tooMany, .tooManyOfUser: .rejected(reason: "too_many")
    case .unknown(let id): .notFound(what: "feed", id: id)
    case .noEpisode(let number, _): .notFound(what: "episode", id: "\(number)")
    }
  }

  package var description: String {
    switch self {
    case .badAddress: "http:// or https://, \(FeedsService.maxAddressBytes) bytes at most"
    case .secretAddress:
      "no user and no password: an address is journaled, and shown to everybody"
    case .badID: "1 to 64 of [A-Za-z0-9_.:-]"
    case .exists(let id): "there is a feed '\(id)' already"
    case .subscribed(_, let id): "feed '\(id)' already has that address"
    case .tooMany(let max): "there are at most \(max) feeds"
    case .tooManyOfUser(let max):
      "there are at most \(max) feeds of one user; end some with feeds.unsubscribe"
    case .unknown(let id): "there is no feed '\(id)'"
    case .noEpisode(let number, let id): "feed '\(id)' has no episode \(number)"
    }
  }
}

/// The reason why a fetch failed; the feed is fetched again later.
package enum FeedFault: ServiceError, Equatable {
  /// The download failed.
  case server(WebError)
  /// The response is not a feed, or only its beginning is one.
  case text(FeedTextFault)
  /// The journal could not record the result.
  case journal

  package var kind: ServiceErrorKind {
    switch self {
    case .server(.timedOut): .rejected(reason: "upstream_timeout")
    case .server: .rejected(reason: "server_error")
    case .text: .rejected(reason: "parse_error")
    case .journal: .rejected(reason: "not_kept")
    }
  }

  package var isPassing: Bool {
    switch self {
    case .server(let error): error.isPassing
    case .text: false
    case .journal: true
    }
  }

  package var description: String {
    switch self {
    case .server(let error): "\(error)"
    case .text(let fault): "\(fault)"
    case .journal: "the feed could not be saved"
    }
  }
}
