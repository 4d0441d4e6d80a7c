package import Features

/// Parses feed texts: RSS 2.0 and 1.0, Atom, JSON Feed, and a plain list of podcasts.
package enum FeedText {
  /// Maximum number of items; further ones are ignored.
  static let maxItems = 1000

  /// Maximum size in bytes of a line of text.
  ///
  /// Longer titles and ids are cut, longer addresses are dropped.
  static let maxTextBytes = 1024

  /// Maximum number of characters in a title that is made from other text.
  static let titleLength = 80

  /// Parses a feed.
  ///
  /// - Parameter isWanted: Called before parsing and at each XML element. Parsing stops when it
  ///   returns false.
  /// - Throws: ``FeedTextFault`` for the first fault.
  package static func parse(
    _ page: FeedPage, while isWanted: () -> Bool = { true }
  ) throws(FeedTextFault) -> FeedDocument {
    guard isWanted() else { throw FeedTextFault(line: 1, "parsing was cancelled") }
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    let text = page.text.starts(with: mark) ? page.text.dropFirst(mark.count) : page.text[...]
    switch text.first(where: { $0 > 0x20 }) {
    case UInt8(ascii: "{"): return try JSONFeed.parse(Array(text), at: page.url)
    // Includes texts that are not UTF-8, such as UTF-16; the parser detects them.
    case _?: return try XMLFeed.parse(page, while: isWanted)
    case nil: throw FeedTextFault(line: 1, "the document is empty")
    }
  }
}

extension String {
  /// The text as one trimmed line of at most `FeedText.maxTextBytes` bytes; `nil` if it is empty.
  var asLine: String? {
    guard let line = asOneLine else { return nil }
    guard line.utf8.count > FeedText.maxTextBytes else { return line }
    var end = line.utf8.index(line.startIndex, offsetBy: FeedText.maxTextBytes)
    while end.samePosition(in: line) == nil { end = line.utf8.index(before: end) }
    return String(line[..<end])
  }

  /// Returns the absolute HTTP or HTTPS URL; `nil` for any other address.
  ///
  /// - Parameter base: The base URL of relative addresses.
  func address(from base: String) -> String? {
    guard let line = asLine, line.utf8.count < FeedText.maxTextBytes, !line.contains(" "),
      let address = WebReference(line).resolved(against: WebReference(base)),
      address.utf8.count < FeedText.maxTextBytes,
      address.hasPrefix("https://") || address.hasPrefix("http://")
    else { return nil }
    return address
  }

  /// The beginning of the text as a title, cut between words if possible.
  var asTitle: String? {
    guard let line = asLine else { return nil }
    guard line.count > FeedText.titleLength else { return line }
    let cut = line.prefix(FeedText.titleLength)
    let words = cut.lastIndex(of: " ").map { cut[..<$0] } ?? cut
    return (words.count > FeedText.titleLength / 2 ? words : cut) + "…"
  }
}
