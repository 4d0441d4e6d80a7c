package import Signals

/// What the text of a feed says, in whatever form it is written.
package struct FeedDocument: Equatable, Sendable {
  package var title: String?

  /// The page that it belongs to.
  package var link: String?

  /// In the order of the text, as a rule the newest first.
  package var items: [FeedItem]

  package init(title: String? = nil, link: String? = nil, items: [FeedItem] = []) {
    (self.title, self.link, self.items) = (title, link, items)
  }
}

/// What a feed says of one episode, or one piece of news.
package struct FeedItem: Equatable, Sendable {
  /// By which it is known again: of its feed, no other has it.
  package var key: String
  package var title: String

  /// The page that it belongs to.
  package var url: String?
  package var audio: Enclosure?

  /// RFC 3339.
  package var published: String?

  package init(
    key: String, title: String, url: String? = nil, audio: Enclosure? = nil,
    published: String? = nil
  ) {
    (self.key, self.title, self.url) = (key, title, url)
    (self.audio, self.published) = (audio, published)
  }
}

/// A file that belongs to an episode: as a rule what is heard.
package struct Enclosure: Codable, Equatable, Sendable {
  package var url: String

  /// For example `audio/mpeg`.
  package var type: String?
  package var bytes: Int?

  package init(url: String, type: String? = nil, bytes: Int? = nil) {
    (self.url, self.type, self.bytes) = (url, type, bytes)
  }
}

/// The text of a feed as it has come.
package struct FeedPage: Equatable, Sendable {
  package var text: [UInt8]

  /// Where it was found: what it says of other pages may be said from there.
  package var url: String

  /// The encoding that its server names; `nil` when it names none.
  package var charset: String?

  package init(_ text: [UInt8], url: String, charset: String? = nil) {
    (self.text, self.url, self.charset) = (text, url, charset)
  }
}

/// Reads the texts of feeds.
package protocol FeedReader: AnyObject {
  /// Reads a text: once for each observer, who may end it.
  ///
  /// The signal emits one document and completes, or fails.
  func read(_ page: FeedPage) -> Signal<FeedDocument, FeedTextFault>
}

/// Why a text is no feed.
package struct FeedTextFault: Error, Equatable, Sendable {
  /// Counted from 1.
  package let line: Int
  package let what: String

  package init(line: Int, _ what: String) {
    (self.line, self.what) = (line, what)
  }
}
