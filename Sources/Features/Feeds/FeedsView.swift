package import Connections
internal import Signals

/// Shows all feeds, which are fetched while the view is open.
///
/// - Parameter mayRefresh: Whether the client may fetch the feeds now.
package func bindFeeds(_ view: View, to feeds: FeedsService, mayRefresh: Bool) {
  feeds.rows.bind(to: view["feeds"].hiding("url"))
  view.intent("open", FeedArguments.self).calls { _ = try feeds.feed($0.id) }
    .opens("feed") { view, feed in bindFeed(view, to: feeds, feed, mayRefresh: mayRefresh) }
    .main()
  view.intent("add", AddFeed.self).calls { try feeds.subscribe(to: $0.url, as: $0.id) }
  if mayRefresh { view.intent("refresh").calls { _ in try feeds.refresh() } }
}

private struct AddFeed: Decodable {
  let url: String
  let id: String?
}
