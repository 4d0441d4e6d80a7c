internal import EventSourcing

/// The events of a feed; the stream is `feeds/ID`.
package enum FeedEvent: ServiceEvent, Codable, Equatable {
  case subscribed(url: String)
  case unsubscribed

  /// The title or the link of the feed changed.
  case described(title: String?, link: String?)

  /// The validators of the last read response changed.
  case validated(validators: Validators)

  /// A new episode was found; it is inserted before all others.
  case found(episode: Episode)

  /// The feed changed the data of an episode.
  case changed(at: Int, episode: Episode)

  /// An episode was marked as played or as not played.
  case marked(at: Int, id: Int, played: Bool)

  /// An old episode was dropped, because the feed exceeds the limit.
  case dropped(at: Int)

  package static var kinds: Set<String> {
    [
      "subscribed", "unsubscribed", "described", "validated", "found", "changed", "marked",
      "dropped",
    ]
  }
}
