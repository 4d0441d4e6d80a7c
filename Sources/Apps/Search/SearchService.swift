package import Signals

/// Search in one of several backends, once or as the user types.
package final class SearchService {
  /// The maximum length of a term in bytes.
  package static let maxTermBytes = 400
  package static let maxHits = 100
  package static let defaultHits = 20

  /// The maximum number of results to examine for those that a client may see.
  package static let maxLookedThrough = 5000

  package let backends: [any SearchBackend]
  private let scheduler: any Scheduler

  /// - Parameter backends: The available backends. The first one is the default.
  package init(_ backends: [any SearchBackend], on scheduler: any Scheduler) {
    self.backends = backends
    self.scheduler = scheduler
  }

  /// Searches for a term, once for each observer.
  ///
  /// - Parameter isWanted: Returns whether to include a result. Excluded results do not count
  ///   towards the limit.
  package func find(
    _ term: String, in name: String? = nil, limit: Int? = nil,
    where isWanted: @escaping (SearchHit) -> Bool = { _ in true }
  ) throws(SearchError) -> Signal<[SearchHit], SearchError> {
    let (backend, limit) = (try backend(name), limit ?? Self.defaultHits)
    let term = term.trimmed
    guard 1...Self.maxTermBytes ~= term.utf8.count else { throw .badTerm }
    guard 1...Self.maxHits ~= limit else { throw .badLimit }
    return Self.find(term, in: backend, limit: limit, where: isWanted)
  }

  /// Requests more results until enough of them are wanted, or there are no more.
  private static func find(
    _ term: String, in backend: any SearchBackend, limit: Int, asking count: Int? = nil,
    where isWanted: @escaping (SearchHit) -> Bool
  ) -> Signal<[SearchHit], SearchError> {
    let count = count ?? limit
    let found = backend.find(term, limit: count)
    return found.flatMapLatest { hits -> Signal<[SearchHit], SearchError> in
      let wanted = hits.filter(isWanted)
      guard wanted.count < limit, hits.count >= count, count < maxLookedThrough else {
        return Signal(just: Array(wanted.prefix(limit)))
      }
      return find(
        term, in: backend, limit: limit, asking: min(count * 8, maxLookedThrough),
        where: isWanted)
    }
  }

  /// Creates an incremental search.
  ///
  /// - Parameter isWanted: Returns whether to include a result. Excluded results do not count
  ///   towards the limit.
  package func model(
    in name: String? = nil, where isWanted: @escaping (SearchHit) -> Bool = { _ in true }
  ) throws(SearchError) -> SearchModel {
    let backend = try backend(name)
    return SearchModel(on: scheduler) { term in
      guard term.utf8.count <= Self.maxTermBytes else { return .failed(.badTerm) }
      return Self.find(term, in: backend, limit: Self.defaultHits, where: isWanted)
    }
  }

  private func backend(_ name: String?) throws(SearchError) -> any SearchBackend {
    guard let backend = name == nil ? backends.first : backends.first(where: { $0.name == name })
    else { throw .unknownBackend(name ?? "", known: backends.map(\.name)) }
    return backend
  }
}

extension String {
  /// The string without leading and trailing white space.
  var trimmed: String {
    let rest = drop { $0.isWhitespace }
    let end = rest.lastIndex { !$0.isWhitespace }
    return end.map { String(rest[...$0]) } ?? ""
  }
}
