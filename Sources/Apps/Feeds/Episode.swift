internal import Signals

/// An episode of a podcast, or an item of a news feed.
package struct Episode: Codable, Equatable, Sendable {
  /// The number in the feed, from 1; newer episodes have higher numbers.
  package var id: Int
  package var title: String

  /// The web page of the episode.
  package var url: String?
  package var audio: Enclosure?

  /// The time of publication (RFC 3339).
  package var published: String?
  package var played: Bool

  /// The identifier within the feed.
  package var key: String

  init(_ item: FeedItem, id: Int, played: Bool = false) {
    (self.id, self.played) = (id, played)
    (title, url, audio, published, key) = (
      item.title, item.url, item.audio, item.published, item.key
    )
  }
}

/// A subscribed feed.
package struct Feed: Codable, Equatable, Sendable, ListRow {
  package var id: String
  package var url: String

  /// The feed's title; `nil` until it was read.
  package var title: String?

  /// The feed's web page.
  package var link: String?

  /// The number of episodes, and of those not played yet.
  package var episodes: Int
  package var unplayed: Int

  package init(_ id: String, _ entry: Feeds.Entry) {
    (self.id, url, title, link) = (id, entry.url, entry.title, entry.link)
    (episodes, unplayed) = (entry.episodes, entry.unplayed)
  }

  /// Whether the feed was read at least once.
  package var isKnown: Bool { title != nil || link != nil || episodes > 0 }
}

/// The validators of conditional requests (RFC 9110, 8.8).
package struct Validators: Codable, Equatable, Sendable {
  package var etag: String?
  package var modified: String?

  package init(etag: String? = nil, modified: String? = nil) {
    (self.etag, self.modified) = (etag, modified)
  }
}
