// What a server of the web says is shown by others: it is text, and nothing else.
extension String {
  /// The text in one line, without white space around it, and without characters that steer who
  /// shows it: control characters, and those that turn the direction; `nil` when nothing is left.
  package var asOneLine: String? {
    let text = String(unicodeScalars.filter { $0.properties.isWhitespace || !$0.isSteering })
    let line = text.split { $0.isWhitespace }.joined(separator: " ")
    return line.isEmpty ? nil : line
  }

  /// An address of the web; `nil` for anything else.
  var asWebAddress: String? {
    guard let line = asOneLine, !line.contains(" ") else { return nil }
    let scheme = line.prefix { $0 != ":" }.lowercased()
    guard ["http", "https"].contains(scheme), line.dropFirst(scheme.count).hasPrefix("://") else {
      return nil
    }
    return line
  }
}

extension Unicode.Scalar {
  fileprivate var isSteering: Bool {
    switch value {
    case 0...0x1F, 0x7F...0x9F, 0x61C, 0x200E...0x200F, 0x202A...0x202E, 0x2066...0x2069: true
    default: false
    }
  }
}
