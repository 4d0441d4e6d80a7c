// Rules that keep users from confusing the names of rooms.
extension String {
  /// The first invisible character, or one that changes the direction of text; `nil` if there is
  /// none.
  ///
  /// Joiners and selectors within an emoji do not count.
  var hiddenCharacter: Unicode.Scalar? {
    var isEmoji = false
    var joiner: Unicode.Scalar?
    for scalar in unicodeScalars {
      // A joiner must be followed by another emoji.
      if let joiner, !scalar.isPicture { return joiner }
      if scalar.isHidden, !(isEmoji && scalar.isPartOfEmoji) { return scalar }
      isEmoji = scalar.isPicture || isEmoji && scalar.isPartOfEmoji
      joiner = scalar.value == 0x200D ? scalar : nil
    }
    return joiner
  }

  /// A key that is equal for names that differ only in case, white space or emoji selectors.
  var asItLooks: String {
    String(String.UnicodeScalarView(unicodeScalars.filter { $0.value != 0xFE0F }))
      .split(whereSeparator: \.isWhitespace).joined(separator: " ").lowercased()
  }
}

extension Unicode.Scalar {
  /// Whether the character is an emoji.
  ///
  /// Excludes ASCII digits, which Unicode also counts as emoji.
  fileprivate var isPicture: Bool { properties.isEmoji && value > 0x7F }

  fileprivate var isHidden: Bool {
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: true
    default: properties.isDefaultIgnorableCodePoint
    }
  }

  /// Whether the character joins two emoji or selects the emoji style.
  fileprivate var isPartOfEmoji: Bool { value == 0x200D || value == 0xFE0F }
}
