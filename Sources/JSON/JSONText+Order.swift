extension JSONText {
  /// The order of two values.
  public enum Order: Sendable {
    case less, same, more
  }

  /// Compares two values: numbers exactly by value, strings by code points.
  ///
  /// - Returns: `nil` unless both are numbers or both are strings.
  public func order(to other: JSONText) -> Order? {
    if let left = number, let right = other.number {
      return left == right ? .same : left < right ? .less : .more
    }
    guard let left = string, let right = other.string else { return nil }
    if left.hasSameBytes(as: right) { return .same }
    return left.utf8.lexicographicallyPrecedes(right.utf8) ? .less : .more
  }

  /// The string, or `nil` if the value is not a string.
  public var string: String? {
    guard text.utf8.first == UInt8(ascii: "\"") else { return nil }
    var scanner = JSONScanner(text.utf8.span)
    guard let token = try? scanner.string() else { return nil }
    return scanner.text(token)
  }
}

extension JSONNumber: Comparable {
  /// Returns whether the left number has the smaller value, however both are written.
  public static func < (left: Self, right: Self) -> Bool {
    if let left = Int64(left.text), let right = Int64(right.text) { return left < right }
    return Decimal(left) < Decimal(right)
  }
}

extension Decimal: Comparable {
  static func < (left: Decimal, right: Decimal) -> Bool {
    guard left.isNegative == right.isNegative else { return left.isNegative }
    return left.isNegative ? right.isCloser(than: left) : left.isCloser(than: right)
  }

  /// Returns whether this number is nearer to zero, whatever the signs.
  private func isCloser(than other: Decimal) -> Bool {
    if digits.isEmpty || other.digits.isEmpty { return digits.isEmpty && !other.digits.isEmpty }
    if let isFartherDown = isFartherDown(than: other) { return isFartherDown }
    // Neither begins with a zero digit, so the first digits' places decide if they differ.
    let (place, otherPlace) = (digits.count + exponent, other.digits.count + other.exponent)
    if place != otherPlace { return place < otherPlace }
    return digits.lexicographicallyPrecedes(other.digits)
  }
}
