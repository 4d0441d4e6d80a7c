package import Connections
internal import JSON
package import Services
internal import Signals

/// Shows one feed and its newest episodes; it is fetched while it is shown, and goes with its
/// subscription.
///
/// - Parameter mayRefresh: Whether the client may have it fetched now.
package func bindFeed(
  _ view: View, to feeds: FeedsService, _ feed: FeedArguments, mayRefresh: Bool
) {
  let (id, count) = (feed.id, max(0, feed.newest ?? FeedArguments.newest))
  feeds.values(of: id).bind(to: view["feed"])
  feeds.states(of: id).ignoreNils().updateLoadingState(of: view["feed"]).bind(to: view) { _, _ in }
  feeds.episodes(of: id, newest: count).bind(to: view["episodes"])
  feeds.isGone(id).bind(to: view) { view, _ in view.dismiss() }
  view.intent("markPlayed", MarkEpisode.self).calls {
    try feeds.mark(id, $0.episode, played: $0.played ?? true)
  }
  if mayRefresh { view.intent("refresh").calls { _ in try feeds.refresh(id) } }
  view.intent("unsubscribe").calls { _ in try feeds.unsubscribe(id) }.destructive()
}

/// What the view of a feed takes.
package struct FeedArguments: Decodable {
  let id: String

  /// How many episodes; left out, so many as fit into a line of the usual length.
  let newest: Int?

  fileprivate static let newest = 50
}

private struct MarkEpisode: Decodable {
  let episode: Int?
  let played: Bool?
}
