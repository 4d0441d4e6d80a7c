// The width of text in terminal columns: wide characters take two, combining ones none.
extension String {
  /// The width of all characters.
  package var columns: Int { reduce(0) { $0 + $1.columns } }

  /// Returns the text padded with spaces to a width.
  func padded(to columns: Int) -> String {
    self + String(repeating: " ", count: max(0, columns - self.columns))
  }

  /// Returns the text as one line of at most `room` columns; an ellipsis marks a cut.
  func cut(to room: Int) -> String {
    let text = String(map { $0.isSteering ? "·" : $0 })
    return text.columns <= room ? text : text.beginning(room - 1) + "…"
  }

  /// Returns a styled line cut to a width; its styles stay.
  func clipped(to room: Int) -> String {
    guard columns > room else { return self }
    var (text, width, isStyle) = ("", 0, false)
    for character in self {
      if character == "\u{1B}" { isStyle = true }
      if !isStyle { width += character.columns }
      if isStyle || width <= room { text.append(character) }
      if character == "m" { isStyle = false }
    }
    return text
  }

  /// Returns the longest prefix that fits into `room` columns.
  private func beginning(_ room: Int) -> String {
    var (text, width) = ("", 0)
    for character in self {
      width += character.columns
      guard width <= room else { break }
      text.append(character)
    }
    return text
  }

  /// Wraps the text into lines of a maximum width.
  ///
  /// It breaks at line ends and between words, and inside a word only if the word is longer than a
  /// line.
  package func lines(columns: Int) -> [String] {
    split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
      .flatMap { Self.lines($0, max(2, columns)) }
  }

  private static func lines(_ text: Substring, _ room: Int) -> [String] {
    var lines: [String] = []
    var line: [Character] = []
    var width = 0
    var wordStart = 0
    for character in text {
      let character: Character = character == "\t" ? " " : character.isSteering ? "·" : character
      if width + character.columns > room {
        if character == " " {
          // The space becomes the line end.
          lines.append(String(line))
          (line, width, wordStart) = ([], 0, 0)
          continue
        }
        let end = wordStart > 0 ? wordStart : line.count
        lines.append(String(line[..<end].withoutSpaceAtEnd))
        line.removeFirst(end)
        (width, wordStart) = (String(line).columns, 0)
      }
      line.append(character)
      width += character.columns
      if character == " " { wordStart = line.count }
    }
    return lines + [String(line)]
  }
}

extension ArraySlice<Character> {
  fileprivate var withoutSpaceAtEnd: Self {
    var rest = self
    while rest.count > 1, rest.last == " " { rest.removeLast() }
    return rest
  }
}

extension Character {
  /// The width in terminal columns: 0, 1 or 2.
  package var columns: Int {
    let scalars = unicodeScalars
    guard let first = scalars.first, first != scalars.last else {
      return unicodeScalars.first?.columns ?? 0
    }
    // Combined emoji are one picture.
    let isPicture = scalars.dropFirst().contains { scalar in
      scalar == "\u{200D}" || scalar == "\u{FE0F}" || 0x1F3FB...0x1F3FF ~= scalar.value
    }
    if isPicture, first.properties.isEmoji { return 2 }
    return scalars.reduce(0) { $0 + $1.columns }
  }

  /// Whether a terminal interprets the character instead of showing it.
  var isSteering: Bool { unicodeScalars.contains(where: \.isSteering) }
}

extension Unicode.Scalar {
  /// The width according to `wcwidth`.
  fileprivate var columns: Int {
    guard value >= 0x300 else { return 1 }
    switch properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: break
    }
    // The second and third part of a Korean syllable combine with the first.
    if 0x1160...0x11FF ~= value { return 0 }
    // Each half of a flag takes one column.
    if 0x1F1E6...0x1F1FF ~= value { return 1 }
    return properties.isEmojiPresentation || Self.wide.contains { $0 ~= value } ? 2 : 1
  }

  /// The wide and full-width characters of Unicode, without emoji.
  ///
  /// They are given as blocks, so that unassigned code points are wide too.
  private static let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F,
    0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60,
    0xFFE0...0xFFE6, 0x16FE0...0x1B2FF, 0x1F200...0x1F265, 0x20000...0x3FFFD,
  ]
}

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

extension String {
  /// The text on one line and in one column: line ends, tabs and other control characters as in JSON.
  package var onOneLine: String {
    guard unicodeScalars.contains(where: \.isControl) else { return self }
    var text = ""
    for scalar in unicodeScalars {
      switch scalar {
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\t": text += "\\t"
      case _ where scalar.isControl: text += scalar.escaped
      default: text.unicodeScalars.append(scalar)
      }
    }
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

  fileprivate var isControl: Bool { value < 0x20 || value == 0x7F }

  fileprivate var isHarmful: Bool { isSteering && self != "\n" && self != "\t" }

  /// The character as a JSON escape.
  fileprivate var escaped: String {
    let digits = String(value, radix: 16)
    return "\\u" + String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits
  }
}
