package import Connections
internal import JSON
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

/// Shows one feed and its newest episodes.
///
/// The feed is fetched while the view is open; the view closes when the feed is unsubscribed.
///
/// - Parameter mayRefresh: Whether the client may fetch the feed now.
package func bindFeed(
  _ view: View, to feeds: FeedsService, _ feed: FeedArguments, mayRefresh: Bool
) {
  let (id, count) = (feed.id, max(0, feed.newest ?? FeedArguments.newest))
  feeds.values(of: id).bind(to: view["feed"].hiding("id", "link"))
  feeds.states(of: id).ignoreNils().updateLoadingState(of: view["feed"]).bind(to: view) { _, _ in }
  feeds.episodes(of: id, newest: count).bind(to: view["episodes"].hiding("url", "audio", "key"))
  feeds.isGone(id).bind(to: view) { view, _ in view.dismiss() }
  view.intent("mark_played", MarkEpisode.self).calls {
    try feeds.mark(id, $0.episode, played: $0.played ?? true)
  }
  .main()
  if mayRefresh { view.intent("refresh").calls { _ in try feeds.refresh(id) } }
  view.intent("unsubscribe").calls { _ in try feeds.unsubscribe(id) }.destructive()
}

/// The arguments of the view of a feed.
package struct FeedArguments: Decodable {
  let id: String

  /// The maximum number of episodes; if omitted, 50, which fit into a line of the default length.
  let newest: Int?

  fileprivate static let newest = 50
}

private struct MarkEpisode: Decodable {
  let episode: Int?
  let played: Bool?
}
