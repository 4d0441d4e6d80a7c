extension JSONScanner {
  /// Skips a number.
  ///
  /// - Throws: ``JSONFault`` if the number is malformed, has more than 1024 digits, or is too large
  ///   for a double. Lenient scanners check only the grammar; texts accepted before may exceed a
  ///   double.
  public mutating func number() throws(JSONFault) {
    let start = position
    if position < bytes.count, bytes[position] == UInt8(ascii: "-") { position += 1 }
    guard position < bytes.count else { throw fault(.unexpectedEnd) }
    var digits = 0
    if bytes[position] == UInt8(ascii: "0") {
      position += 1
      digits = 1
      if position < bytes.count, 0x30...0x39 ~= bytes[position] { throw fault(.badNumber) }
    } else {
      digits = skipDigits()
      if digits == 0 { throw fault(.badNumber) }
    }
    if position < bytes.count, bytes[position] == UInt8(ascii: ".") {
      position += 1
      let fraction = skipDigits()
      if fraction == 0 { throw fault(position < bytes.count ? .badNumber : .unexpectedEnd) }
      digits += fraction
    }
    var hasExponent = false
    if position < bytes.count, bytes[position] | 0x20 == UInt8(ascii: "e") {
      hasExponent = true
      position += 1
      if position < bytes.count,
        bytes[position] == UInt8(ascii: "+") || bytes[position] == UInt8(ascii: "-")
      {
        position += 1
      }
      let exponent = skipDigits()
      if exponent == 0 { throw fault(position < bytes.count ? .badNumber : .unexpectedEnd) }
      digits += exponent
    }
    guard digits <= JSONLimits.digits || isLenient else {
      throw JSONFault(offset: start, reason: .tooManyDigits)
    }
    // Up to 300 digits without an exponent fit a double. Texts accepted before are not checked
    // again.
    if hasExponent || digits > 300, !isKept, !isLenient { try checkRange(start..<position) }
  }

  @inline(__always)
  private mutating func skipDigits() -> Int {
    let start = position
    while position < bytes.count, 0x30...0x39 ~= bytes[position] { position += 1 }
    return position - start
  }

  /// - Throws: A fault if the number is too large for a double.
  @inline(never)
  private func checkRange(_ range: Range<Int>) throws(JSONFault) {
    let double = Double(String(validUTF8: bytes.extracting(range))) ?? .infinity
    guard double.isFinite else {
      throw JSONFault(offset: range.lowerBound, reason: .numberOverflow)
    }
  }

  /// Returns the value of a scanned number, or `nil` if it is not an integer or does not fit
  /// `Int64`.
  ///
  /// `1.0` and `1e2` are integers, because the value counts and not the spelling.
  public func integer(_ range: Range<Int>) -> Int64? {
    var i = range.lowerBound
    let isNegative = bytes[i] == UInt8(ascii: "-")
    if isNegative { i += 1 }
    var value: Int64 = 0
    while i < range.upperBound, 0x30...0x39 ~= bytes[i] {
      let (shifted, overflow) = value.multipliedReportingOverflow(by: 10)
      let digit = Int64(bytes[i] & 15)
      // Accumulates towards the sign so that `Int64.min` can be reached.
      let (sum, carry) =
        isNegative
        ? shifted.subtractingReportingOverflow(digit) : shifted.addingReportingOverflow(digit)
      if overflow || carry { return nil }
      value = sum
      i += 1
    }
    if i == range.upperBound { return value }
    return JSONNumber(scanned: String(validUTF8: bytes.extracting(range))).int64
  }
}
