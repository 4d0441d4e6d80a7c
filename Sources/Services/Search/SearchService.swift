package import Signals

/// Search by one of several backends: once, or as one types.
package final class SearchService {
  package static let maxTermLength = 200
  package static let maxHits = 100
  package static let defaultHits = 20

  package let backends: [any SearchBackend]
  private let scheduler: any Scheduler

  /// - Parameter backends: The first is taken when none is named.
  package init(_ backends: [any SearchBackend], on scheduler: any Scheduler) {
    self.backends = backends
    self.scheduler = scheduler
  }

  /// Looks for a term once for each observer.
  package func find(
    _ term: String, in name: String? = nil, limit: Int? = nil
  ) throws(SearchError) -> Signal<[SearchHit], SearchError> {
    let (backend, limit) = (try backend(name), limit ?? Self.defaultHits)
    let term = trimmed(term)
    guard 1...Self.maxTermLength ~= term.count else { throw .badTerm }
    guard 1...Self.maxHits ~= limit else { throw .badLimit }
    return backend.find(term, limit: limit)
  }

  /// A search as one types.
  package func model(in name: String? = nil) throws(SearchError) -> SearchModel {
    let backend = try backend(name)
    return SearchModel(on: scheduler) { term in
      guard term.count <= Self.maxTermLength else { return .failed(.badTerm) }
      return backend.find(term, limit: Self.defaultHits)
    }
  }

  private func backend(_ name: String?) throws(SearchError) -> any SearchBackend {
    guard let backend = name == nil ? backends.first : backends.first(where: { $0.name == name })
    else { throw .unknownBackend(name ?? "", known: backends.map(\.name)) }
    return backend
  }
}
