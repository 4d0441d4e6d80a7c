package import Signals

/// A feed in a list of them.
package struct FeedRow: Codable, Equatable, Sendable {
  package let id: String
  package let url: String
  package let title: String?
  package let episodes: Int
  package let unplayed: Int

  /// `loading`, `loaded`, `reloading` or `failed`.
  package let state: String

  /// Why it has failed.
  package let error: String?

  init(_ feed: Feed, _ state: FeedState?) {
    (id, url, title) = (feed.id, feed.url, feed.title)
    (episodes, unplayed) = (feed.episodes, feed.unplayed)
    error = state?.error.map { "\($0)" }
    self.state =
      switch state {
      case .reloading: "reloading"
      case .loaded: "loaded"
      case .failed: "failed"
      case .loading, nil: "loading"
      }
  }
}

extension FeedsService {
  /// All feeds by id, fetched while somebody observes.
  package var rows: SafeSignal<[FeedRow]> {
    SafeSignal { [self] observer in
      func tell() {
        observer.receive(ledger.shown.value.all.map { FeedRow($0, state(of: $0.id)) })
      }
      let states = states(where: { _ in true }).observeNext { _ in tell() }
      tell()
      return states
    }
    .removeDuplicates()
  }
}
