/// How much an expression may say that comes from outside.
///
/// The language itself has no limit; who keeps what it says, and runs it again and again, has one.
package struct BindLimits: Equatable, Sendable {
  /// Bytes of the text, and of the same with one space between its parts.
  package let bytes: Int
  /// How many transformers there may be.
  package let transformers: Int

  package init(bytes: Int, transformers: Int) {
    self.bytes = bytes
    self.transformers = transformers
  }
}

extension BindExpression {
  /// The expression that a text is, if it says no more than it may.
  ///
  /// - Throws: The first fault; a text that is too long is not looked into.
  package init(_ text: String, within limits: BindLimits) throws(BindFault) {
    let bytes = text.utf8.count
    guard bytes <= limits.bytes else { throw .tooLong(text, limits) }
    try self.init(text)
    if transformers.count > limits.transformers {
      throw BindFault(
        .tooMuch, "an expression has at most \(limits.transformers) transformers",
        at: transformers[limits.transformers].column, found: "\(transformers.count) transformers",
        expected: ["at most \(limits.transformers) transformers"])
    }
    // Written out, a part takes up to three times its bytes: `|` as ` | `, `\b` as `\u0008`. It is
    // kept so, and must be readable again.
    guard bytes * 3 > limits.bytes else { return }
    let whole = description
    guard whole.utf8.count <= limits.bytes else {
      throw .tooLong(bytes: whole.utf8.count, at: 1, limits)
    }
  }
}

extension BindFault {
  /// A text that is too long, with the column in which it passes the limit.
  fileprivate static func tooLong(_ text: String, _ limits: BindLimits) -> BindFault {
    var (column, bytes) = (0, 0)
    for scalar in text.unicodeScalars {
      column += 1
      bytes += UTF8.width(scalar)
      if bytes > limits.bytes { break }
    }
    return tooLong(bytes: text.utf8.count, at: column, limits)
  }

  fileprivate static func tooLong(
    bytes: Int, at column: Int, _ limits: BindLimits
  ) -> BindFault {
    BindFault(
      .tooMuch, "an expression has at most \(limits.bytes) bytes", at: column,
      found: "\(bytes) bytes", expected: ["at most \(limits.bytes) bytes"])
  }
}
