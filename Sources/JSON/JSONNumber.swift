/// A JSON number as it was written, so that no digit is lost by conversion to a double.
public struct JSONNumber: Sendable {
  /// The number in the grammar of RFC 8259.
  public let text: String

  /// Creates a number from a scanned text.
  init(scanned text: String) {
    self.text = text
  }

  /// Creates a number from a text; `nil` if the text is not a JSON number.
  public init?(_ text: String) {
    var scanner = JSONScanner(text.utf8.span)
    guard (try? scanner.number()) != nil, scanner.position == text.utf8.count else { return nil }
    self.text = text
  }

  /// Creates a number from an integer.
  public init(_ integer: some BinaryInteger) {
    text = String(integer)
  }

  /// Creates a number from a double, in the shortest form that reads back equal; `nil` if it is not
  /// finite.
  public init?(_ double: Double) {
    guard double.isFinite else { return nil }
    let text = double.description
    self.text = text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }

  /// The value as `Int64`; `nil` if it is not an integer or does not fit.
  ///
  /// `1.0` and `1e2` are integers.
  public var int64: Int64? {
    if let integer = Int64(text) { return integer }
    let decimal = Decimal(self)
    guard decimal.exponent >= 0, decimal.digits.count + decimal.exponent <= 19 else {
      return decimal.digits.isEmpty ? 0 : nil
    }
    return Int64(decimal.plainText)
  }

  /// The nearest double; 0 if the number is too small for one.
  public var double: Double { Double(text) ?? .nan }

  /// Whether ``double`` is 0 although the number is not.
  ///
  /// Do not compute with such a number.
  public var isTooSmallForDouble: Bool {
    double == 0
      && text.utf8.prefix { $0 | 0x20 != UInt8(ascii: "e") }
        .contains { UInt8(ascii: "1")...UInt8(ascii: "9") ~= $0 }
  }

  /// Returns the exact sum of two numbers.
  ///
  /// - Returns: `nil` if the sum needs more than 64 digits or is too large for a double.
  public func adding(_ other: JSONNumber) -> JSONNumber? {
    if let left = Int64(text), let right = Int64(other.text) {
      let (sum, overflow) = left.addingReportingOverflow(right)
      if !overflow { return JSONNumber(sum) }
    }
    return Decimal(self).adding(Decimal(other)).flatMap { JSONNumber($0.number.text) }
  }
}

extension JSONNumber: Hashable {
  /// Returns whether two numbers have the same value, however they are written.
  public static func == (left: Self, right: Self) -> Bool {
    left.text == right.text || Decimal(left) == Decimal(right)
  }

  /// Hashes the value, so that equal numbers have equal hashes.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(Decimal(self))
  }
}

/// A number as digits and a power of ten, normalized so that there are no zeros at either end.
struct Decimal: Hashable {
  var isNegative: Bool

  /// Digits from 0 to 9, most significant first; empty for zero.
  var digits: [UInt8]

  /// The power of ten of the last digit.
  ///
  /// The magnitude is at most about ``farthest``.
  var exponent: Int

  /// The digits of an exponent's magnitude that exceeds ``farthest``, without leading zeros;
  /// otherwise empty.
  private var beyond: [UInt8] = []

  /// The exponent used for exponents of more than 17 digits.
  ///
  /// Sums of such values do not overflow.
  private static let farthest = Int.max / 8

  private init(isNegative: Bool, digits: [UInt8], exponent: Int) {
    let trailing = digits.reversed().prefix { $0 == 0 }.count
    self.digits = Array(digits.dropLast(trailing).drop { $0 == 0 })
    self.isNegative = isNegative && !self.digits.isEmpty
    self.exponent = self.digits.isEmpty ? 0 : exponent + trailing
  }

  init(_ number: JSONNumber) {
    var digits: [UInt8] = []
    var exponent = 0
    var isNegative = false
    var isFraction = false
    var beyond: [UInt8] = []
    var rest = number.text.utf8[...]
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "-"): isNegative = true
      case UInt8(ascii: "."): isFraction = true
      case UInt8(ascii: "e"), UInt8(ascii: "E"):
        let isDown = rest.first == UInt8(ascii: "-")
        let magnitude = rest.drop { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "+") }
          .drop { $0 == UInt8(ascii: "0") }
        if magnitude.count > 17 { beyond = Array(magnitude) }
        let distance = beyond.isEmpty ? Int(Substring(magnitude)) ?? 0 : Self.farthest
        exponent += isDown ? -distance : distance
        rest = rest[rest.endIndex...]
      default:
        digits.append(byte & 15)
        if isFraction { exponent -= 1 }
      }
    }
    self.init(isNegative: isNegative, digits: digits, exponent: exponent)
    if !self.digits.isEmpty { self.beyond = beyond }
  }

  /// Compares the parts of the exponents beyond ``farthest``.
  ///
  /// - Returns: Whether this number is nearer to zero than `other`, which has the same
  ///   ``exponent``; `nil` if those parts are equal.
  func isFartherDown(than other: Decimal) -> Bool? {
    guard beyond != other.beyond else { return nil }
    let isLonger =
      beyond.count != other.beyond.count
      ? beyond.count > other.beyond.count : other.beyond.lexicographicallyPrecedes(beyond)
    return isLonger == (exponent < 0)
  }

  /// Returns the exact sum, or `nil` if it has more than 64 digits.
  func adding(_ other: Decimal) -> Decimal? {
    if digits.isEmpty { return other }
    if other.digits.isEmpty { return self }
    guard beyond.isEmpty, other.beyond.isEmpty else { return nil }
    let low = min(exponent, other.exponent)
    guard let left = scaled(to: low), let right = other.scaled(to: low) else { return nil }
    let count = max(left.count, right.count) + 1
    let a = [UInt8](repeating: 0, count: count - left.count) + left
    let b = [UInt8](repeating: 0, count: count - right.count) + right
    let sum: Decimal
    if isNegative == other.isNegative {
      sum = Decimal(isNegative: isNegative, digits: Self.sum(a, b), exponent: low)
    } else if a.lexicographicallyPrecedes(b) {
      sum = Decimal(isNegative: other.isNegative, digits: Self.difference(b, a), exponent: low)
    } else {
      sum = Decimal(isNegative: isNegative, digits: Self.difference(a, b), exponent: low)
    }
    return sum.digits.count <= JSONLimits.sumDigits ? sum : nil
  }

  /// Returns the digits with zeros appended so that the last one has the weight `10^low`, or `nil`
  /// if there are too many.
  private func scaled(to low: Int) -> [UInt8]? {
    let zeros = exponent - low
    guard zeros + digits.count <= 2 * JSONLimits.sumDigits else { return nil }
    return digits + [UInt8](repeating: 0, count: zeros)
  }

  private static func sum(_ a: [UInt8], _ b: [UInt8]) -> [UInt8] {
    var result = a
    var carry: UInt8 = 0
    for i in a.indices.reversed() {
      let digit = a[i] + b[i] + carry
      result[i] = digit % 10
      carry = digit / 10
    }
    return result
  }

  /// Returns `a - b`.
  ///
  /// Requires that `a` is not smaller than `b`.
  private static func difference(_ a: [UInt8], _ b: [UInt8]) -> [UInt8] {
    var result = a
    var borrow: UInt8 = 0
    for i in a.indices.reversed() {
      let digit = a[i] + 10 - b[i] - borrow
      result[i] = digit % 10
      borrow = digit < 10 ? 1 : 0
    }
    return result
  }

  /// The number without an exponent, however long that is.
  var plainText: String {
    if digits.isEmpty { return "0" }
    let sign = isNegative ? "-" : ""
    let text = String(decoding: digits.map { $0 | 0x30 }, as: UTF8.self)
    if exponent >= 0 { return sign + text + String(repeating: "0", count: exponent) }
    let point = digits.count + exponent
    if point > 0 { return sign + text.prefix(point) + "." + text.dropFirst(point) }
    return sign + "0." + String(repeating: "0", count: -point) + text
  }

  /// The number in its plainest form that the scanner accepts.
  var number: JSONNumber {
    let length = max(digits.count, digits.count + exponent, 1 - exponent)
    if length <= JSONLimits.sumDigits { return JSONNumber(scanned: plainText) }
    let text = String(decoding: digits.map { $0 | 0x30 }, as: UTF8.self)
    return JSONNumber(scanned: (isNegative ? "-" : "") + text + "e\(exponent)")
  }
}
