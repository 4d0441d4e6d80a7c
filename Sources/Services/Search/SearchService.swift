package import Signals

/// Search by one of several backends: once, or as one types.
package final class SearchService {
  /// Bytes of a term.
  package static let maxTermBytes = 400
  package static let maxHits = 100
  package static let defaultHits = 20

  /// How many of the best are looked through for those that a client may be told of.
  package static let maxLookedThrough = 5000

  package let backends: [any SearchBackend]
  private let scheduler: any Scheduler

  /// - Parameter backends: The first is taken when none is named.
  package init(_ backends: [any SearchBackend], on scheduler: any Scheduler) {
    self.backends = backends
    self.scheduler = scheduler
  }

  /// Looks for a term once for each observer.
  ///
  /// - Parameter isWanted: Whether something that was found counts; what does not takes no place.
  package func find(
    _ term: String, in name: String? = nil, limit: Int? = nil,
    where isWanted: @escaping (SearchHit) -> Bool = { _ in true }
  ) throws(SearchError) -> Signal<[SearchHit], SearchError> {
    let (backend, limit) = (try backend(name), limit ?? Self.defaultHits)
    let term = trimmed(term)
    guard 1...Self.maxTermBytes ~= term.utf8.count else { throw .badTerm }
    guard 1...Self.maxHits ~= limit else { throw .badLimit }
    return Self.find(term, in: backend, limit: limit, where: isWanted)
  }

  /// Asks for more and more until enough of it is wanted, or there is no more.
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

  /// A search as one types.
  ///
  /// - Parameter isWanted: Whether something that was found counts; what does not takes no place.
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
