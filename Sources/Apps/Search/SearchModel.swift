package import Signals

/// An incremental search: a term is typed, and results are emitted.
///
/// The term is trimmed. The search begins when nothing was typed for 0.33 s, and cancels the
/// previous one. All observers share one search.
package final class SearchModel {
  /// Seconds without typing before a search begins.
  package static let pause = 0.33

  /// The typed text.
  package let term = Property("")

  /// The state of the newest search.
  private let state: SafeSignal<LoadingState<[SearchHit], SearchError>>
  private let newest = Property([SearchHit]())

  /// - Parameter find: Searches for a non-empty term.
  init(
    on scheduler: any Scheduler, _ find: @escaping (String) -> Signal<[SearchHit], SearchError>
  ) {
    let newest = newest
    state = term.toSignal().map(\.trimmed).removeDuplicates()
      .debounce(for: Self.pause, queue: scheduler)
      .flatMapLatest { term -> LoadingSignal<[SearchHit], SearchError> in
        term.isEmpty ? .loaded([]) : find(term).toLoadingSignal()
      }
      .handleEvents(receiveOutput: { newest.value = $0.hits ?? newest.value })
      .share()
  }

  /// The results of the newest search; empty if it failed.
  package var results: SafeSignal<[SearchHit]> {
    state.compactMap(\.hits).prepend([]).removeDuplicates()
  }

  /// The error of the newest search; `nil` if it did not fail.
  package var failure: SafeSignal<SearchError?> {
    state.map(\.error).prepend(nil).removeDuplicates()
  }

  /// Whether a search is running.
  package var isSearching: SafeSignal<Bool> {
    state.map(\.isLoading).prepend(false).removeDuplicates()
  }

  /// Returns one of the current results.
  package func hit(_ id: String) throws(SearchError) -> SearchHit {
    guard let hit = newest.value.first(where: { $0.id == id }) else { throw .notFound(id: id) }
    return hit
  }
}

extension LoadingState<[SearchHit], SearchError> {
  /// The results to show; `nil` to keep the current ones.
  fileprivate var hits: [SearchHit]? {
    switch self {
    case .loading: nil
    case .loaded(let hits): hits
    case .failed: []
    }
  }
}
