internal import JSON

/// One episode of a podcast, or one piece of news, as it was found and heard.
package struct Episode: Codable, Equatable, Sendable {
  /// Its number in its feed, from 1; a newer one has a higher one.
  package var id: Int
  package var title: String

  /// The page that it belongs to.
  package var url: String?
  package var audio: Enclosure?

  /// RFC 3339.
  package var published: String?
  package var played: Bool

  /// By which the feed knows it.
  package var key: String

  init(_ item: FeedItem, id: Int, played: Bool = false) {
    (self.id, self.played) = (id, played)
    (title, url, audio, published, key) = (
      item.title, item.url, item.audio, item.published, item.key
    )
  }

  /// As clients see it.
  var text: JSONText { EventCoder().text(self) }
}

/// A feed that is subscribed to, and what is known of it.
package struct Feed: Codable, Equatable, Sendable {
  package var id: String
  package var url: String

  /// What the feed calls itself; `nil` until it was read.
  package var title: String?

  /// The page that it belongs to.
  package var link: String?

  /// How many there are, and how many of them were not played.
  package var episodes: Int
  package var unplayed: Int
}

/// By which a server knows what we have: see RFC 9110, 8.8.
package struct Validators: Codable, Equatable, Sendable {
  package var etag: String?
  package var modified: String?

  package init(etag: String? = nil, modified: String? = nil) {
    (self.etag, self.modified) = (etag, modified)
  }
}
