extension String {
  /// Returns the string truncated to at most `count` bytes of UTF-8, between code points.
  ///
  /// Truncates between code points because one character may be arbitrarily long.
  package func cut(toBytes count: Int) -> String {
    guard utf8.count > count else { return self }
    var end = utf8.index(startIndex, offsetBy: max(0, count))
    while end.samePosition(in: unicodeScalars) == nil { end = utf8.index(before: end) }
    return String(unicodeScalars[..<end])
  }
}
