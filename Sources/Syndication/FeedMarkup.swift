/// Texts that are written in HTML, as titles of Atom may be.
enum FeedMarkup {
  /// The elements between which one does not read on without a space.
  static let breaks: Set = ["br", "p", "div", "li"]

  /// What is read of HTML: without its tags, with its entities as what they mean.
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

  /// The tag that a text begins with; what does not end goes up to the end of the text.
  private static func tag(_ text: Substring) -> (name: String, end: Substring.Index)? {
    guard text.first == "<", let second = text.dropFirst().first,
      second.isLetter || "/!?".contains(second)
    else { return nil }
    let end = text.firstIndex(of: ">").map { text.index(after: $0) } ?? text.endIndex
    let name = text.dropFirst().drop { $0 == "/" }.prefix { $0.isLetter || $0.isNumber }
    return (name.lowercased(), end)
  }

  /// The entity that a text begins with, by its name or its number.
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
