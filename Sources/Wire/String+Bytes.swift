extension String {
  /// The text cut to a number of bytes of UTF-8, between code points.
  ///
  /// A character has no longest form: one letter may carry any number of accents.
  package func cut(toBytes count: Int) -> String {
    guard utf8.count > count else { return self }
    var end = utf8.index(startIndex, offsetBy: max(0, count))
    while end.samePosition(in: unicodeScalars) == nil { end = utf8.index(before: end) }
    return String(unicodeScalars[..<end])
  }
}
