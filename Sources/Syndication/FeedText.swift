package import Services

/// The texts that feeds are written in: RSS 2.0 and 1.0, Atom, JSON Feed, and a plain list of podcasts.
package enum FeedText {
  /// Items of one text; those beyond are passed over.
  static let maxItems = 1000

  /// Bytes of a title, an address or an identity; what is longer is cut.
  static let maxTextBytes = 1024

  /// What a text says.
  ///
  /// - Throws: ``FeedTextFault``: the first thing that is wrong.
  package static func parse(_ bytes: [UInt8]) throws(FeedTextFault) -> FeedDocument {
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    let text = bytes.starts(with: mark) ? bytes.dropFirst(mark.count) : bytes[...]
    switch text.first(where: { $0 > 0x20 }) {
    case UInt8(ascii: "{"): return try JSONFeed.parse(Array(text))
    // Also what is not UTF-8 and so begins otherwise: the parser knows.
    case _?: return try XMLFeed.parse(bytes)
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
  var asAddress: String? {
    guard let line = asLine, line.utf8.count < FeedText.maxTextBytes, !line.contains(" "),
      line.hasPrefix("https://") || line.hasPrefix("http://")
    else { return nil }
    return line
  }
}
