// Some scripts have no spaces between words. For the table, each of their characters is a word, and
// a search finds its characters wherever they follow each other.
extension String {
  /// The zero-width space, put between characters and words.
  private static let separator: Character = "\u{200B}"

  /// The text with a separator on each side of characters of such scripts.
  var withSeparateCharacters: String {
    guard unicodeScalars.contains(where: \.isOfScriptWithoutSpaces) else { return self }
    var text = ""
    var wasSeparate = false
    for character in self {
      let isSeparate = character.unicodeScalars.first?.isOfScriptWithoutSpaces == true
      if (isSeparate || wasSeparate) && !text.isEmpty { text.append(Self.separator) }
      text.append(character)
      wasSeparate = isSeparate
    }
    return text
  }

  var withoutSeparators: String {
    contains(Self.separator) ? filter { $0 != Self.separator } : self
  }
}

extension Unicode.Scalar {
  fileprivate var isOfScriptWithoutSpaces: Bool {
    switch value {
    case 0x0E00..<0x0F00, 0x1000..<0x10A0, 0x1780..<0x1800: true  // Thai and Lao, Burmese, Khmer
    case 0x3040..<0x3100, 0x31F0..<0x3200, 0xFF66..<0xFFA0: true  // kana
    case 0x3005, 0x3400..<0x4DC0, 0x4E00..<0xA000, 0xF900..<0xFB00: true  // Han
    case 0x20000..<0x32000: true  // rare Han
    default: false
    }
  }
}
