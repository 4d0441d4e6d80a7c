// Names of rooms are told apart by people who look at them.
extension String {
  /// The first character in it that nobody sees, or that turns the order of those around it.
  ///
  /// What holds an emoji together is none.
  var hiddenCharacter: Unicode.Scalar? {
    var isEmoji = false
    for scalar in unicodeScalars {
      if scalar.isHidden, !(isEmoji && scalar.isPartOfEmoji) { return scalar }
      isEmoji = scalar.properties.isEmoji || isEmoji && scalar.isPartOfEmoji
    }
    return nil
  }

  /// The same for all names that look alike but for the size of letters and the width of spaces.
  var asItLooks: String {
    split(whereSeparator: \.isWhitespace).joined(separator: " ").lowercased()
  }
}

extension Unicode.Scalar {
  fileprivate var isHidden: Bool {
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: true
    default: properties.isDefaultIgnorableCodePoint
    }
  }

  /// What joins two emoji, or says that a character is shown as one.
  fileprivate var isPartOfEmoji: Bool { value == 0x200D || value == 0xFE0F }
}
