package import Signals

/// The parsed content of a feed, independent of its format.
package struct FeedDocument: Equatable, Sendable {
  package var title: String?

  /// The feed's web page.
  package var link: String?

  /// The items in document order, usually the newest first.
  package var items: [FeedItem]

  /// The fault at which parsing stopped; the document has only what is before it.
  package var fault: FeedTextFault?

  package init(
    title: String? = nil, link: String? = nil, items: [FeedItem] = [], fault: FeedTextFault? = nil
  ) {
    (self.title, self.link, self.items, self.fault) = (title, link, items, fault)
  }
}

/// An item of a feed: an episode or a piece of news.
package struct FeedItem: Equatable, Sendable {
  /// The identifier, unique within the feed.
  package var key: String
  package var title: String

  /// The web page of the item.
  package var url: String?
  package var audio: Enclosure?

  /// The time of publication (RFC 3339).
  package var published: String?

  package init(
    key: String, title: String, url: String? = nil, audio: Enclosure? = nil,
    published: String? = nil
  ) {
    (self.key, self.title, self.url) = (key, title, url)
    (self.audio, self.published) = (audio, published)
  }
}

/// A file attached to an episode, usually audio.
package struct Enclosure: Codable, Equatable, Sendable {
  package var url: String

  /// The media type, for example `audio/mpeg`.
  package var type: String?
  package var bytes: Int?

  package init(url: String, type: String? = nil, bytes: Int? = nil) {
    (self.url, self.type, self.bytes) = (url, type, bytes)
  }
}

/// The downloaded text of a feed.
package struct FeedPage: Equatable, Sendable {
  package var text: [UInt8]

  /// Base URL for the document's relative links.
  package var url: String

  /// The encoding given by the server; `nil` if it gave none.
  package var charset: String?

  package init(_ text: [UInt8], url: String, charset: String? = nil) {
    (self.text, self.url, self.charset) = (text, url, charset)
  }
}

/// Parses feeds.
package protocol FeedReader: AnyObject {
  /// Parses a page, once for each observer; disposing the observation cancels it.
  ///
  /// The signal emits one document and completes, or fails.
  func read(_ page: FeedPage) -> Signal<FeedDocument, FeedTextFault>
}

/// A parse error in a feed.
package struct FeedTextFault: Error, Equatable, Sendable {
  /// The line and the column, from 1; `nil` for a fault of the whole document.
  package let line: Int?
  package let column: Int?
  package let what: String

  package init(line: Int, column: Int, _ what: String) {
    (self.line, self.column, self.what) = (line, column, what)
  }

  package init(_ what: String) {
    (line, column, self.what) = (nil, nil, what)
  }
}

extension FeedTextFault: CustomStringConvertible {
  package var description: String {
    guard let line, let column else { return what }
    return "line \(line), column \(column) of the feed: \(what)"
  }
}

/// The normalized address of a feed: scheme and host in lower case.
struct FeedAddress {
  let text: String

  /// Normalizes an address.
  ///
  /// - Throws: ``FeedsError`` for an address that is not HTTP or HTTPS. Also for one with a user
  ///   name or password, because addresses are journaled and visible to everybody.
  init(_ text: String) throws(FeedsError) {
    guard text.utf8.count <= FeedsService.maxAddressBytes,
      text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }),
      let scheme = ["http://", "https://"].first(where: text.lowercased().hasPrefix)
    else { throw .badAddress }
    let rest = text.utf8.dropFirst(scheme.utf8.count)
    let host = rest.prefix { !"/?#\\".utf8.contains($0) }
    guard !host.contains(UInt8(ascii: "@")) else { throw .secretAddress }
    guard !host.isEmpty else { throw .badAddress }
    self.text =
      scheme + String(Substring(host)).lowercased() + String(Substring(rest[host.endIndex...]))
  }
}

// Text from web servers is untrusted and must be cleaned before display.
extension String {
  /// The text in one line, trimmed, without control or direction characters; `nil` if nothing is
  /// left.
  package var asOneLine: String? {
    let text = String(unicodeScalars.filter { $0.properties.isWhitespace || !$0.isSteering })
    let line = text.split { $0.isWhitespace }.joined(separator: " ")
    return line.isEmpty ? nil : line
  }

  /// The text as an HTTP or HTTPS address; `nil` if it is not one.
  var asWebAddress: String? {
    guard let line = asOneLine, !line.contains(" ") else { return nil }
    let scheme = line.prefix { $0 != ":" }.lowercased()
    guard ["http", "https"].contains(scheme), line.dropFirst(scheme.count).hasPrefix("://") else {
      return nil
    }
    return line
  }
}

extension Unicode.Scalar {
  fileprivate var isSteering: Bool {
    switch value {
    case 0...0x1F, 0x7F...0x9F, 0x61C, 0x200E...0x200F, 0x202A...0x202E, 0x2066...0x2069: true
    default: false
    }
  }
}
