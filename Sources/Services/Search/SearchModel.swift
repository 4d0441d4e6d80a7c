package import Signals

/// One search as one types: a term goes in, results come out.
///
/// The term is trimmed; it is looked for when nothing was typed for 0.33 s, and what was looked for
/// before is cancelled. All who observe what it shows share one search.
package final class SearchModel {
  /// Seconds without a key before a search begins.
  package static let pause = 0.33

  /// What is typed.
  package let term = Property("")

  /// What has come of the newest term.
  private let state: SafeSignal<LoadingState<[SearchHit], SearchError>>
  private let newest = Property([SearchHit]())

  /// - Parameter find: Looks for a term that is not empty.
  init(
    on scheduler: any Scheduler, _ find: @escaping (String) -> Signal<[SearchHit], SearchError>
  ) {
    let newest = newest
    state = term.toSignal().map(trimmed).removeDuplicates()
      .debounce(for: Self.pause, queue: scheduler)
      .flatMapLatest { term -> LoadingSignal<[SearchHit], SearchError> in
        term.isEmpty ? .loaded([]) : find(term).toLoadingSignal()
      }
      .handleEvents(receiveOutput: { newest.value = $0.hits ?? newest.value })
      .share()
  }

  /// What was found; empty when the search has failed.
  package var results: SafeSignal<[SearchHit]> {
    state.compactMap(\.hits).prepend([]).removeDuplicates()
  }

  /// Why the newest search has failed; `nil` when it has not.
  package var failure: SafeSignal<SearchError?> {
    state.map(\.error).prepend(nil).removeDuplicates()
  }

  /// Whether it is being looked for.
  package var isSearching: SafeSignal<Bool> {
    state.map(\.isLoading).prepend(false).removeDuplicates()
  }

  /// One of the results that are shown.
  package func hit(_ id: String) throws(SearchError) -> SearchHit {
    guard let hit = newest.value.first(where: { $0.id == id }) else { throw .notFound(id: id) }
    return hit
  }
}

extension LoadingState<[SearchHit], SearchError> {
  /// What is to be shown; `nil` for what is shown already.
  fileprivate var hits: [SearchHit]? {
    switch self {
    case .loading: nil
    case .loaded(let hits): hits
    case .failed: []
    }
  }
}
