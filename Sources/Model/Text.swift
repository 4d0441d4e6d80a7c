extension String {
  /// The string without leading and trailing white space.
  package var trimmed: String {
    let rest = drop { $0.isWhitespace }
    let end = rest.lastIndex { !$0.isWhitespace }
    return end.map { String(rest[...$0]) } ?? ""
  }
}
