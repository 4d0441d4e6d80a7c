internal import Binder
package import Signals

/// A feed in a list of feeds.
package struct FeedRow: Codable, Equatable, Sendable {
  package let id: String
  package let url: String
  package let title: String?
  package let episodes: Int
  package let unplayed: Int

  /// `loading`, `loaded`, `reloading` or `failed`.
  package let state: String

  /// The error of the last fetch; `nil` if it did not fail.
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
  /// All feeds by id; they are fetched while observed.
  package var rows: RowList<String, FeedRow> {
    let known = ledger.events.map(\.context).merge(with: ledger.restored)
      .compactMap { $0.key(String.self) }
    return RowList(
      Identity(self), keys: { [ledger] in Array(ledger.committed.ids) },
      row: { [self] id in ledger.committed.feed(id).map { FeedRow($0, state(of: id)) } },
      changes: states(where: { _ in true }).map(\.key).merge(with: known).map { .rows([$0]) })
  }

  /// Returns the newest episodes of a feed.
  package func episodes(of id: String, newest count: Int) -> Computed<[Episode]> {
    Computed(
      Identity(self, id, count), changes: changes(of: id)
    ) { [ledger] in Array(ledger.committed.episodes(of: id).prefix(count)) }
  }
}
