// How many columns of a terminal text takes: what is wide takes two, what stands above something
// else none.
extension String {
  /// The columns of all characters.
  package var columns: Int { reduce(0) { $0 + $1.columns } }

  /// The text with spaces behind it, as wide as a column.
  func padded(to columns: Int) -> String {
    self + String(repeating: " ", count: max(0, columns - self.columns))
  }

  /// The text in one line, in at most so many columns; what does not fit has a mark in its place.
  func cut(to room: Int) -> String {
    let text = String(map { $0.isSteering ? "·" : $0 })
    return text.columns <= room ? text : text.beginning(room - 1) + "…"
  }

  /// A line with its colours, no wider than a screen.
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

  /// The characters that fit into so many columns.
  private func beginning(_ room: Int) -> String {
    var (text, width) = ("", 0)
    for character in self {
      width += character.columns
      guard width <= room else { break }
      text.append(character)
    }
    return text
  }

  /// The text in lines of at most so many columns: broken where it breaks itself, between words, and
  /// a word that is longer than a line within it.
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
          // The space is where the line ends.
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
  /// The columns that it takes in a terminal: none, one or two.
  package var columns: Int {
    let scalars = unicodeScalars
    guard let first = scalars.first, first != scalars.last else {
      return unicodeScalars.first?.columns ?? 0
    }
    // Emoji of several parts are one picture.
    let isPicture = scalars.dropFirst().contains { scalar in
      scalar == "\u{200D}" || scalar == "\u{FE0F}" || 0x1F3FB...0x1F3FF ~= scalar.value
    }
    if isPicture, first.properties.isEmoji { return 2 }
    return scalars.reduce(0) { $0 + $1.columns }
  }

  /// Whether a terminal does something else with it than show it: ends the line, moves, turns the
  /// direction of what follows.
  var isSteering: Bool { unicodeScalars.contains(where: \.isSteering) }
}

extension Unicode.Scalar {
  /// As `wcwidth` says it.
  fileprivate var columns: Int {
    guard value >= 0x300 else { return 1 }
    switch properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: break
    }
    // The second and third part of a Korean syllable stand within the first.
    if 0x1160...0x11FF ~= value { return 0 }
    // Of a flag each half takes one.
    if 0x1F1E6...0x1F1FF ~= value { return 1 }
    return properties.isEmojiPresentation || Self.wide.contains { $0 ~= value } ? 2 : 1
  }

  /// What Unicode calls wide or full width, without the emoji: by blocks, so that what is not
  /// assigned yet is wide as well.
  private static let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F,
    0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60,
    0xFFE0...0xFFE6, 0x16FE0...0x1B2FF, 0x1F200...0x1F265, 0x20000...0x3FFFD,
  ]
}
