package import Services

/// The texts that feeds are written in: RSS 2.0 and 1.0, Atom, JSON Feed, and a plain list of podcasts.
package enum FeedText {
  /// Items of one text; those beyond are passed over.
  static let maxItems = 1000

  /// Bytes of a title, an address or an identity; what is longer is cut.
  static let maxTextBytes = 1024

  /// Characters of a title that is made of what has none.
  static let titleLength = 80

  /// Reads a text.
  ///
  /// - Parameter isWanted: Asked at each element: reading stops when the result is not wanted.
  /// - Throws: ``FeedTextFault``: the first thing that is wrong.
  package static func parse(
    _ page: FeedPage, while isWanted: () -> Bool = { true }
  ) throws(FeedTextFault) -> FeedDocument {
    guard isWanted() else { throw FeedTextFault(line: 1, "it was given up") }
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    let text = page.text.starts(with: mark) ? page.text.dropFirst(mark.count) : page.text[...]
    switch text.first(where: { $0 > 0x20 }) {
    case UInt8(ascii: "{"): return try JSONFeed.parse(Array(text), at: page.url)
    // Also what is not UTF-8 and so begins otherwise: the parser knows.
    case _?: return try XMLFeed.parse(page, while: isWanted)
    case nil: throw FeedTextFault(line: 1, "there is nothing")
    }
  }
}

extension String {
  /// One line without white space around it, not too long; `nil` when nothing is left.
  var asLine: String? {
    guard let line = asOneLine else { return nil }
    guard line.utf8.count > FeedText.maxTextBytes else { return line }
    var end = line.utf8.index(line.startIndex, offsetBy: FeedText.maxTextBytes)
    while end.samePosition(in: line) == nil { end = line.utf8.index(before: end) }
    return String(line[..<end])
  }

  /// An address that a client may open; `nil` for anything else.
  ///
  /// - Parameter base: Where it stands: it may be said from there.
  func address(from base: String) -> String? {
    guard let line = asLine, line.utf8.count < FeedText.maxTextBytes, !line.contains(" "),
      let address = WebReference(line).resolved(against: WebReference(base)),
      address.utf8.count < FeedText.maxTextBytes,
      address.hasPrefix("https://") || address.hasPrefix("http://")
    else { return nil }
    return address
  }

  /// Its beginning as a title: as many words as there is room for.
  var asTitle: String? {
    guard let line = asLine else { return nil }
    guard line.count > FeedText.titleLength else { return line }
    let cut = line.prefix(FeedText.titleLength)
    let words = cut.lastIndex(of: " ").map { cut[..<$0] } ?? cut
    return (words.count > FeedText.titleLength / 2 ? words : cut) + "…"
  }
}
