/// Converts HTML to plain text; Atom titles, for example, can be HTML.
enum FeedMarkup {
  /// Elements that separate words.
  static let breaks: Set = ["br", "p", "div", "li"]

  /// Returns the text of HTML without tags and with decoded entities.
  static func text(of html: String) -> String {
    var text = ""
    var rest = html[...]
    while let mark = rest.firstIndex(where: { $0 == "<" || $0 == "&" }) {
      text.append(contentsOf: rest[..<mark])
      rest = rest[mark...]
      if let tag = tag(rest) {
        if breaks.contains(tag.name) { text.append(" ") }
        rest = rest[tag.end...]
      } else if let entity = entity(rest) {
        text.unicodeScalars.append(entity.scalar)
        rest = rest[entity.end...]
      } else {
        text.append(rest.removeFirst())
      }
    }
    text.append(contentsOf: rest)
    return text
  }

  /// Returns the tag at the start of a text.
  ///
  /// An unclosed tag extends to the end of the text.
  private static func tag(_ text: Substring) -> (name: String, end: Substring.Index)? {
    guard text.first == "<", let second = text.dropFirst().first,
      second.isLetter || "/!?".contains(second)
    else { return nil }
    let end = text.firstIndex(of: ">").map { text.index(after: $0) } ?? text.endIndex
    let name = text.dropFirst().drop { $0 == "/" }.prefix { $0.isLetter || $0.isNumber }
    return (name.lowercased(), end)
  }

  /// Returns the named or numeric entity at the start of a text.
  private static func entity(
    _ text: Substring
  ) -> (scalar: Unicode.Scalar, end: Substring.Index)? {
    guard text.first == "&", let end = text.prefix(10).firstIndex(of: ";") else { return nil }
    let name = String(text[..<end].dropFirst())
    var number: UInt32?
    if name.hasPrefix("#x") || name.hasPrefix("#X") {
      number = UInt32(name.dropFirst(2), radix: 16)
    } else if name.hasPrefix("#") {
      number = UInt32(name.dropFirst())
    }
    guard let scalar = FeedEntities.scalar(name) ?? number.flatMap({ Unicode.Scalar($0) }) else {
      return nil
    }
    return (scalar, text.index(after: end))
  }
}
