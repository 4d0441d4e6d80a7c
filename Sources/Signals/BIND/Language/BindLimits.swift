/// Limits for expressions from outside.
///
/// The language has no limits. A limit protects a caller that stores expressions and runs them
/// repeatedly.
public struct BindLimits: Equatable, Sendable {
  /// Maximum size in bytes, as given and with one space between the parts.
  public let bytes: Int
  /// Maximum number of transformers.
  public let transformers: Int

  public init(bytes: Int, transformers: Int) {
    self.bytes = bytes
    self.transformers = transformers
  }
}

extension BindExpression {
  /// Parses an expression within limits.
  ///
  /// - Throws: ``BindFault`` for the first fault. A text that is too long is not parsed.
  public init(_ text: String, within limits: BindLimits) throws(BindFault) {
    let bytes = text.utf8.count
    guard bytes <= limits.bytes else { throw .tooLong(text, limits) }
    try self.init(text)
    if transformers.count > limits.transformers {
      throw BindFault(
        .tooMuch, "an expression has at most \(limits.transformers) transformers",
        at: transformers[limits.transformers].column, found: "\(transformers.count) transformers",
        expected: ["at most \(limits.transformers) transformers"])
    }
    // The canonical form takes up to three times the bytes: `|` becomes ` | `, `\b` becomes
    // `\u0008`. It is stored, so it must stay within the limit to be parsed again.
    guard bytes * 3 > limits.bytes else { return }
    let whole = description
    guard whole.utf8.count <= limits.bytes else {
      throw .tooLong(bytes: whole.utf8.count, at: 1, limits)
    }
  }
}

extension BindFault {
  /// Returns the fault for a text that is too long, at the column that exceeds the limit.
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
