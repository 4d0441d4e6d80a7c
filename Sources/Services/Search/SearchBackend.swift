package import Signals

/// Where something can be looked for.
package protocol SearchBackend: AnyObject {
  /// How clients call it, for example `"local"`.
  var name: String { get }

  /// What it looks through, in a few words.
  var doc: String { get }

  /// Finds what fits a term, the best first: once for each observer. Disposing a run ends it.
  ///
  /// - Parameters:
  ///   - term: Not empty, and without space around it.
  ///   - limit: How many at the most; fewer when there are no more.
  func find(_ term: String, limit: Int) -> Signal<[SearchHit], SearchError>
}

/// Something that was found.
package struct SearchHit: Codable, Equatable, Sendable {
  /// What it is, for example `"threads/1/3"`.
  package let id: String
  package let title: String

  /// The words around what was looked for, or more of what it is.
  package let text: String

  /// The source of this daemon that it is from; who may not read that is not told of it.
  package let source: String?

  /// Where more of it is on the web.
  package let url: String?

  /// Where a picture of it is on the web, for example the cover of a song.
  package let image: String?

  package init(
    id: String, title: String, text: String, source: String? = nil, url: String? = nil,
    image: String? = nil
  ) {
    (self.id, self.title, self.text, self.source) = (id, title, text, source)
    (self.url, self.image) = (url, image)
  }
}

/// Why nothing was found.
package enum SearchError: ServiceError, Equatable {
  case unknownBackend(String, known: [String])
  case badTerm
  case badLimit
  case notFound(id: String)
  /// The backend could not do it.
  case failed(String)

  package var kind: ServiceErrorKind {
    switch self {
    case .unknownBackend(let name, _): .notFound(what: "backend", id: name)
    case .badTerm: .invalid(parameter: "term", expected: description)
    case .badLimit: .invalid(parameter: "limit", expected: description)
    case .notFound(let id): .notFound(what: "result", id: id)
    case .failed: .rejected(reason: "search_failed")
    }
  }

  package var description: String {
    switch self {
    case .unknownBackend(let name, let known):
      "nothing called '\(name)' is searched; there is \(known.joined(separator: ", "))"
    case .badTerm: "a term has 1 to \(SearchService.maxTermBytes) bytes"
    case .badLimit: "1 to \(SearchService.maxHits)"
    case .notFound(let id): "'\(id)' is none of the results"
    case .failed(let reason): "the search has failed: \(reason)"
    }
  }
}
