// Protection of the terminal from control characters in foreign text.
extension String {
  /// Returns the text with control characters escaped as in JSON, for example `\u009b`.
  ///
  /// Line ends and tabs stay.
  ///
  /// - Parameter keepsStyle: Whether a style written by ``Style`` stays, if it is terminated.
  package func harmless(keepsStyle: Bool = false) -> String {
    guard unicodeScalars.contains(where: \.isHarmful) else { return self }
    var text = ""
    var rest = unicodeScalars[...]
    var isStyled = false
    while let place = rest.firstIndex(where: \.isHarmful) {
      text.unicodeScalars.append(contentsOf: rest[..<place])
      rest = rest[place...]
      if keepsStyle, let style = rest.style, style.isEnd ? isStyled : rest[style.end...].endsStyle {
        text.unicodeScalars.append(contentsOf: rest[..<style.end])
        rest = rest[style.end...]
        isStyled = !style.isEnd
      } else {
        text.append(rest.removeFirst().escaped)
      }
    }
    text.unicodeScalars.append(contentsOf: rest)
    return text
  }
}

extension Substring.UnicodeScalarView {
  /// The style sequence at the start; `nil` if there is none.
  ///
  /// `isEnd` is true for a reset.
  fileprivate var style: (isEnd: Bool, end: Index)? {
    let head = prefix(5)
    guard head.starts(with: "\u{1B}[".unicodeScalars), let last = head.firstIndex(of: "m"),
      let code = Int(String(head[..<last].dropFirst(2))),
      code == 0 || Style.Code(rawValue: code) != nil
    else { return nil }
    return (code == 0, index(after: last))
  }

  /// Whether the next escape sequence resets the style.
  fileprivate var endsStyle: Bool { drop { $0 != "\u{1B}" }.style?.isEnd == true }
}

extension Unicode.Scalar {
  /// Whether a terminal interprets the character instead of showing it.
  ///
  /// Examples are line ends, cursor movements and changes of text direction.
  var isSteering: Bool {
    switch value {
    case 0...0x1F, 0x7F...0x9F, 0x61C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
  }

  fileprivate var isHarmful: Bool { isSteering && self != "\n" && self != "\t" }

  /// The character as a JSON escape.
  fileprivate var escaped: String {
    let digits = String(value, radix: 16)
    return "\\u" + String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits
  }
}
