// Text from web servers is untrusted and must be cleaned before display.
extension String {
  /// The text in one line, trimmed, without control or direction characters; `nil` if nothing is
  /// left.
  package var asOneLine: String? {
    let text = String(unicodeScalars.filter { $0.properties.isWhitespace || !$0.isSteering })
    let line = text.split { $0.isWhitespace }.joined(separator: " ")
    return line.isEmpty ? nil : line
  }

  /// The text as an HTTP or HTTPS address; `nil` if it is not one.
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
