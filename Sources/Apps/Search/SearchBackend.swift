package import Binder
package import Signals

/// A searchable collection.
package protocol SearchBackend: AnyObject {
  /// The name for clients, for example `"local"`.
  var name: String { get }

  /// A short description of the collection.
  var doc: String { get }

  /// Searches for a term, once for each observer; disposing the observation cancels the search.
  ///
  /// - Parameters:
  ///   - term: A non-empty term without surrounding white space.
  ///   - limit: The maximum number of results.
  /// - Returns: A signal of the results, the best first.
  func find(_ term: String, limit: Int) -> Signal<[SearchHit], SearchError>
}

/// A search result.
package struct SearchHit: Codable, Equatable, Sendable {
  /// The identifier, for example `"threads/1/3"`.
  package let id: String
  package let title: String

  /// The words around the match, or a description.
  package let text: String

  /// The daemon's source of the result; clients without read access to it do not receive the
  /// result.
  ///
  /// `nil` for other results.
  package let source: String?

  /// The web page of the result.
  package let url: String?

  /// The web address of an image, for example the cover of a song.
  package let image: String?

  package init(
    id: String, title: String, text: String, source: String? = nil, url: String? = nil,
    image: String? = nil
  ) {
    (self.id, self.title, self.text, self.source) = (id, title, text, source)
    (self.url, self.image) = (url, image)
  }
}

/// An error from a search.
package enum SearchError: Rejecting, Equatable {
  case unknownBackend(String, known: [String])
  case badTerm
  case badLimit
  case notFound(id: String)
  /// The backend failed.
  case failed(String)

  package var rejection: Rejection {
    switch self {
    case .unknownBackend(let name, let known):
      .notFound("backend", id: name)
        .saying("no search backend '\(name)'; there is \(known.joined(separator: ", "))")
    case .badTerm: .invalid("term", "a term has 1 to \(SearchService.maxTermBytes) bytes")
    case .badLimit: .invalid("limit", "1 to \(SearchService.maxHits)")
    case .notFound(let id):
      .notFound("result", id: id).saying("'\(id)' is not one of the results")
    case .failed(let reason): .rejected("search_failed", "the search has failed: \(reason)")
    }
  }
}
