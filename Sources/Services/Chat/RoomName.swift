// Names of rooms are told apart by people who look at them.
extension String {
  /// The first character in it that nobody sees, or that turns the order of those around it.
  ///
  /// What holds an emoji together is none.
  var hiddenCharacter: Unicode.Scalar? {
    var isEmoji = false
    var joiner: Unicode.Scalar?
    for scalar in unicodeScalars {
      // A joiner is for another emoji.
      if let joiner, !scalar.isPicture { return joiner }
      if scalar.isHidden, !(isEmoji && scalar.isPartOfEmoji) { return scalar }
      isEmoji = scalar.isPicture || isEmoji && scalar.isPartOfEmoji
      joiner = scalar.value == 0x200D ? scalar : nil
    }
    return joiner
  }

  /// The same for all names that look alike but for the size of letters and the width of spaces.
  var asItLooks: String {
    String(String.UnicodeScalarView(unicodeScalars.filter { $0.value != 0xFE0F }))
      .split(whereSeparator: \.isWhitespace).joined(separator: " ").lowercased()
  }
}

extension Unicode.Scalar {
  /// Whether it is an emoji and no digit, which Unicode counts among them.
  fileprivate var isPicture: Bool { properties.isEmoji && value > 0x7F }

  fileprivate var isHidden: Bool {
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: true
    default: properties.isDefaultIgnorableCodePoint
    }
  }

  /// What joins two emoji, or says that a character is shown as one.
  fileprivate var isPartOfEmoji: Bool { value == 0x200D || value == 0xFE0F }
}
