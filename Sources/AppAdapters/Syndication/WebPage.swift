internal import Apps

/// Recognizes a web page in place of a feed.
enum WebPage {
  /// The number of bytes in which the feed of a page is looked for.
  private static let headBytes = 1 << 19

  private static let types: Set = [
    "application/rss+xml", "application/atom+xml", "application/rdf+xml", "application/feed+json",
  ]

  /// Returns the fault of a text that is a web page, with the feed that the page names.
  static func fault(of text: ArraySlice<UInt8>, at url: String) -> FeedTextFault? {
    let head = String(decoding: text.prefix(headBytes), as: UTF8.self)
    guard isPage(head) else { return nil }
    guard let feed = feed(in: head, at: url) else {
      return FeedTextFault("the address leads to a web page, not to a feed")
    }
    return FeedTextFault(
      "the address leads to a web page, not to a feed; the page names this feed: \(feed)")
  }

  private static func isPage(_ text: String) -> Bool {
    var rest = text[...].drop { $0.isWhitespace }
    while rest.hasPrefix("<!--") || rest.hasPrefix("<?") {
      guard let end = rest.firstRange(of: rest.hasPrefix("<?") ? "?>" : "-->") else { return false }
      rest = rest[end.upperBound...].drop { $0.isWhitespace }
    }
    let start = rest.prefix(16).lowercased()
    return ["<!doctype html", "<html", "<head", "<body"].contains { mark in
      start.hasPrefix(mark) && !(start.dropFirst(mark.count).first?.isLetter ?? false)
    }
  }

  /// Returns the first feed that a page names with `<link rel="alternate">`.
  private static func feed(in text: String, at url: String) -> String? {
    var base = url
    var rest = text.utf8[...]
    while let mark = rest.firstIndex(of: UInt8(ascii: "<")) {
      rest = rest[mark...].dropFirst()
      if rest.starts(with: "!--".utf8) {
        while let end = rest.firstIndex(of: UInt8(ascii: ">")) {
          let isEnd = rest[..<end].suffix(2).elementsEqual("--".utf8)
          rest = rest[end...].dropFirst()
          if isEnd { break }
        }
        continue
      }
      let name = String(Substring(rest.prefix(5))).lowercased()
      guard name.hasPrefix("link") || name.hasPrefix("base") else { continue }
      rest = rest.dropFirst(4)
      let attributes = attributes(&rest)
      let href = attributes["href"].flatMap { FeedMarkup.text(of: $0).address(from: base) }
      guard let href else { continue }
      if name.hasPrefix("base") {
        base = href
      } else if let rel = attributes["rel"]?.lowercased().split(separator: " "),
        rel.contains("alternate"), let type = attributes["type"]?.lowercased(),
        types.contains(String(type.prefix { $0 != ";" && $0 != " " }))
      {
        return href
      }
    }
    return nil
  }

  /// Reads the attributes of a tag up to its end.
  private static func attributes(_ rest: inout Substring.UTF8View) -> [String: String] {
    var found: [String: String] = [:]
    func isSpace(_ byte: UInt8) -> Bool { byte <= 0x20 || byte == UInt8(ascii: "/") }
    while true {
      rest = rest.drop(while: isSpace)
      guard let first = rest.first, first != UInt8(ascii: ">") else { return found }
      let name = rest.prefix { !isSpace($0) && !"=>".utf8.contains($0) }
      rest = rest[name.endIndex...].drop { $0 <= 0x20 }
      guard rest.first == UInt8(ascii: "=") else {
        // A `=` without a name is skipped.
        if name.isEmpty { rest = rest.dropFirst() }
        continue
      }
      rest = rest.dropFirst().drop { $0 <= 0x20 }
      let value: Substring.UTF8View
      if let quote = rest.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
        value = rest.dropFirst().prefix { $0 != quote }
        rest = rest[value.endIndex...].dropFirst()
      } else {
        value = rest.prefix { $0 > 0x20 && $0 != UInt8(ascii: ">") }
        rest = rest[value.endIndex...]
      }
      let key = String(Substring(name)).lowercased()
      if found[key] == nil { found[key] = String(Substring(value)) }
    }
  }
}
