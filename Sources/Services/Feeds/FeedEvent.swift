/// What can happen to a feed; the stream is `feeds/ID`.
package enum FeedEvent: ServiceEvent, Codable, Equatable {
  case subscribed(url: String)
  case unsubscribed

  /// What it calls itself is new, or another.
  case described(title: String?, link: String?)

  /// By which the server knows what was read last is another.
  case validated(validators: Validators)

  /// An episode is new; it stands before all others.
  case found(episode: Episode)

  /// The feed says something else of an episode.
  case changed(at: Int, episode: Episode)

  /// An episode was played, or is not to count as such any more.
  case marked(at: Int, id: Int, played: Bool)

  /// An episode was let go, because there are so many newer ones.
  case dropped(at: Int)

  package static var kinds: Set<String> {
    [
      "subscribed", "unsubscribed", "described", "validated", "found", "changed", "marked",
      "dropped",
    ]
  }
}
