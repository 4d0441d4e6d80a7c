/// Scans a JSON text strictly by RFC 8259, without copying it.
///
/// Every byte before ``position`` is valid: UTF-8, escapes, surrogate pairs, number grammar and
/// nesting (``JSONLimits``). The scanner does not recurse, so deep texts use no stack. Do not use a
/// scanner after one of its methods has thrown.
public struct JSONScanner: ~Escapable {
  /// The kind of a value, known from its first byte.
  public enum Kind: BitwiseCopyable, Sendable {
    case null, bool, number, string, array, object
  }

  /// A string in the text, as the offsets of the bytes between its quotes.
  public struct StringToken: Equatable, Sendable {
    /// The offset of the first byte after the opening quote.
    public let start: Int

    /// The offset of the closing quote.
    public let end: Int

    /// Whether the bytes contain escapes, so that they differ from the string.
    public let isEscaped: Bool

    /// Whether the bytes are known to be printable ASCII without escapes.
    public let isPlain: Bool

    /// Creates a token from the offsets of a scanned string.
    @inlinable
    public init(start: Int, end: Int, isEscaped: Bool, isPlain: Bool = false) {
      self.start = start
      self.end = end
      self.isEscaped = isEscaped
      self.isPlain = isPlain
    }
  }

  @usableFromInline let bytes: Span<UInt8>

  @usableFromInline var offset: Int

  /// The offset of the next byte to read.
  @inlinable
  @inline(__always)
  public var position: Int { offset }

  /// The most members of one object.
  @usableFromInline let maxMembers: Int

  /// Whether only the grammar is checked: no limits apply, and lone surrogates are allowed.
  let isLenient: Bool

  /// Whether the text was accepted before, so that numbers too large for a double are still read.
  let isKept: Bool

  /// Creates a scanner at an offset of a text.
  ///
  /// - Parameter maxMembers: The most members of one object; see ``JSONLimits/anyMembers``.
  @_lifetime(copy bytes)
  public init(
    _ bytes: Span<UInt8>, at position: Int = 0, maxMembers: Int = JSONLimits.members
  ) {
    self.bytes = bytes
    offset = position
    self.maxMembers = maxMembers
    (isLenient, isKept) = (false, false)
  }

  /// Creates a scanner that checks the grammar of RFC 8259 but no limits, to navigate a text that
  /// breaks one.
  ///
  /// Strings may contain lone surrogates, so do not read their contents.
  @_lifetime(copy bytes)
  public init(lenient bytes: Span<UInt8>, at position: Int = 0) {
    self.bytes = bytes
    offset = position
    maxMembers = JSONLimits.anyMembers
    (isLenient, isKept) = (true, false)
  }

  /// Creates a scanner for a text that was accepted before, under any limits.
  @_lifetime(copy bytes)
  init(trusted bytes: Span<UInt8>, at position: Int = 0) {
    self.bytes = bytes
    offset = position
    maxMembers = JSONLimits.anyMembers
    (isLenient, isKept) = (false, true)
  }

  // MARK: Tokens

  /// Skips spaces, tabs, carriage returns and line feeds.
  @inlinable
  @inline(__always)
  public mutating func skipWhitespace() {
    // Usually there is none.
    guard offset < bytes.count, unsafe bytes[unchecked: offset] <= 0x20 else { return }
    skipSomeWhitespace()
  }

  @usableFromInline
  @inline(never)
  mutating func skipSomeWhitespace() {
    while offset < bytes.count {
      let byte = bytes[offset]
      guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return }
      offset &+= 1
    }
  }

  /// Returns the next byte after white space without consuming it, or `nil` at the end.
  @inlinable
  @inline(__always)
  public mutating func peek() -> UInt8? {
    skipWhitespace()
    return offset < bytes.count ? unsafe bytes[unchecked: offset] : nil
  }

  /// Skips white space, then consumes `byte` if it comes next.
  ///
  /// Returns whether it did.
  @inlinable
  @inline(__always)
  public mutating func consume(_ byte: UInt8) -> Bool {
    skipWhitespace()
    guard offset < bytes.count, unsafe bytes[unchecked: offset] == byte else { return false }
    offset &+= 1
    return true
  }

  /// Returns the kind of the next value without consuming it.
  ///
  /// - Throws: ``JSONFault`` if no value can begin there.
  @inlinable
  @inline(__always)
  public mutating func kind() throws(JSONFault) -> Kind {
    guard let byte = peek() else { throw fault(.unexpectedEnd) }
    switch byte {
    case UInt8(ascii: "{"): return .object
    case UInt8(ascii: "["): return .array
    case UInt8(ascii: "\""): return .string
    case UInt8(ascii: "t"), UInt8(ascii: "f"): return .bool
    case UInt8(ascii: "n"): return .null
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number
    default: throw fault(offendingByte())
    }
  }

  /// Skips white space and throws unless the text ends there.
  @inlinable
  @inline(__always)
  public mutating func end() throws(JSONFault) {
    if peek() != nil { throw fault(.trailingBytes) }
  }

  // MARK: Objects and arrays

  /// Consumes `{`, and `}` if the object is empty; returns whether a member follows.
  @inlinable
  @inline(__always)
  public mutating func enterObject() throws(JSONFault) -> Bool {
    guard consume(UInt8(ascii: "{")) else { throw fault(.expectedValue) }
    return !consume(UInt8(ascii: "}"))
  }

  /// Consumes a member's name and its colon, and returns the name.
  @inlinable
  @inline(__always)
  public mutating func key() throws(JSONFault) -> StringToken {
    guard peek() == UInt8(ascii: "\"") else { throw missingKey() }
    let token = try string()
    guard consume(UInt8(ascii: ":")) else {
      throw fault(position < bytes.count ? .expectedColon : .unexpectedEnd)
    }
    return token
  }

  /// Returns the eight bytes behind an opening quote that comes next, little-endian; 0 if no quote
  /// comes next, or fewer bytes follow it.
  ///
  /// With it, a known name is found by one comparison; see ``skip(_:)``.
  @inlinable
  @inline(__always)
  public mutating func keyWord() -> UInt64 {
    skipWhitespace()
    guard offset &+ 9 <= bytes.count, unsafe bytes[unchecked: offset] == UInt8(ascii: "\"") else {
      return 0
    }
    return word(behind: 1)
  }

  /// Returns the eight bytes at a distance from the position, little-endian; 0 if there are fewer.
  @inlinable
  @inline(__always)
  public func word(behind distance: Int) -> UInt64 {
    guard offset &+ distance &+ 8 <= bytes.count else { return 0 }
    let raw = unsafe bytes.bytes
    return unsafe UInt64(
      littleEndian: raw.unsafeLoadUnaligned(
        fromUncheckedByteOffset: offset &+ distance, as: UInt64.self))
  }

  /// Skips bytes that the caller has compared with a text.
  @inlinable
  @inline(__always)
  public mutating func skip(_ count: Int) {
    offset &+= count
  }

  @usableFromInline
  @inline(never)
  func missingKey() -> JSONFault {
    guard position < bytes.count else { return fault(.unexpectedEnd) }
    return fault(bytes[position] == UInt8(ascii: "}") ? .trailingComma : .expectedKey)
  }

  /// Consumes `,` or `}`, and returns whether another member follows.
  @inlinable
  @inline(__always)
  public mutating func nextMember() throws(JSONFault) -> Bool {
    if consume(UInt8(ascii: ",")) { return true }
    if consume(UInt8(ascii: "}")) { return false }
    throw fault(position < bytes.count ? .expectedCommaOrBrace : .unexpectedEnd)
  }

  /// Consumes `[`, and `]` if the array is empty; returns whether an element follows.
  public mutating func enterArray() throws(JSONFault) -> Bool {
    guard consume(UInt8(ascii: "[")) else { throw fault(.expectedValue) }
    return !consume(UInt8(ascii: "]"))
  }

  /// Consumes `,` or `]`, and returns whether another element follows.
  public mutating func nextElement() throws(JSONFault) -> Bool {
    if consume(UInt8(ascii: ",")) {
      if peek() == UInt8(ascii: "]") { throw fault(.trailingComma) }
      return true
    }
    if consume(UInt8(ascii: "]")) { return false }
    throw fault(position < bytes.count ? .expectedCommaOrBracket : .unexpectedEnd)
  }

  // MARK: Whole values

  /// Skips one value of any kind.
  ///
  /// - Parameter depth: The number of arrays and objects that already enclose the value.
  /// - Returns: The kind of the value, which ends at ``position``.
  public mutating func value(depth: Int = 0) throws(JSONFault) -> Kind {
    let kind = try kind()
    try value(kind, depth: depth)
    return kind
  }

  /// Skips one value whose kind is known.
  ///
  /// - Parameter depth: The number of arrays and objects that already enclose the value.
  @inlinable
  @inline(__always)
  public mutating func value(_ kind: Kind, depth: Int) throws(JSONFault) {
    switch kind {
    case .string: _ = try string()
    case .number: try number()
    case .null, .bool, .array, .object: try otherValue(kind, depth: depth)
    }
  }

  @usableFromInline
  mutating func otherValue(_ kind: Kind, depth: Int) throws(JSONFault) {
    switch kind {
    case .string: _ = try string()
    case .number: try number()
    case .null: try literal("null")
    case .bool: try literal(bytes[position] == UInt8(ascii: "t") ? "true" : "false")
    case .array, .object: isLenient ? try deepContainer() : try container(depth: depth)
    }
  }

  /// Skips an array or object with all its contents.
  ///
  /// First counts the members of all objects together. Only if that sum exceeds the limit, scans
  /// again and counts each object separately.
  private mutating func container(depth outer: Int, countsEach: Bool = false) throws(JSONFault) {
    let start = position
    /// One bit for each open container, innermost lowest; 1 is an object.
    var isObject: UInt64 = 0
    var depth = 0
    var members = 0
    var counts: [Int] = []
    while true {
      // A value comes next. `kind` skips white space before it.
      switch try kind() {
      case .object:
        guard outer + depth < JSONLimits.depth else { throw fault(.tooDeep) }
        if try enterObject() {
          isObject = isObject << 1 | 1
          depth &+= 1
          if countsEach {
            counts.append(members)
            members = 0
          }
          members &+= 1
          _ = try key()
          continue
        }
      case .array:
        guard outer + depth < JSONLimits.depth else { throw fault(.tooDeep) }
        if try enterArray() {
          isObject <<= 1
          depth &+= 1
          continue
        }
      case .string: _ = try string()
      case .number: try number()
      case .null: try literal("null")
      case .bool: try literal(bytes[position] == UInt8(ascii: "t") ? "true" : "false")
      }
      // A value was skipped: continue in the innermost open container, or leave it.
      while true {
        guard depth > 0 else { return }
        if isObject & 1 == 1 {
          if try nextMember() {
            members &+= 1
            if members > maxMembers {
              guard !countsEach else { throw fault(.tooManyMembers) }
              offset = start
              return try container(depth: outer, countsEach: true)
            }
            _ = try key()
            break
          }
          if countsEach { members = counts.removeLast() }
        } else if try nextElement() {
          break
        }
        isObject >>= 1
        depth &-= 1
      }
    }
  }

  /// Skips an array or object of any depth and size.
  private mutating func deepContainer() throws(JSONFault) {
    /// Whether each open container is an object, innermost last.
    var isObject: [Bool] = []
    while true {
      switch try kind() {
      case .object:
        if try enterObject() {
          isObject.append(true)
          _ = try key()
          continue
        }
      case .array:
        if try enterArray() {
          isObject.append(false)
          continue
        }
      case .string: _ = try string()
      case .number: try number()
      case .null: try literal("null")
      case .bool: try literal(bytes[position] == UInt8(ascii: "t") ? "true" : "false")
      }
      while true {
        guard let isInObject = isObject.last else { return }
        if isInObject {
          if try nextMember() {
            _ = try key()
            break
          }
        } else if try nextElement() {
          break
        }
        isObject.removeLast()
      }
    }
  }

  @inline(__always)
  private mutating func literal(_ text: StaticString) throws(JSONFault) {
    for i in 0..<text.utf8CodeUnitCount {
      guard position < bytes.count else { throw fault(.unexpectedEnd) }
      guard unsafe bytes[position] == text.utf8Start[i] else { throw fault(.unexpectedByte) }
      offset += 1
    }
  }

  // MARK: Faults

  /// Returns a fault at the position.
  @inline(never)
  public func fault(_ reason: JSONFault.Reason) -> JSONFault {
    JSONFault(offset: position, reason: reason)
  }

  /// The reason why no value can begin at ``position``.
  @usableFromInline
  func offendingByte() -> JSONFault.Reason {
    switch bytes[position] {
    case 0xEF where position == 0: .byteOrderMark
    case 0x80...: .badUTF8
    case UInt8(ascii: "]"), UInt8(ascii: "}"), UInt8(ascii: ","): .expectedValue
    default: .unexpectedByte
    }
  }
}

extension JSONScanner {
  /// Skips a number.
  ///
  /// - Throws: ``JSONFault`` if the number is malformed, has more than 1024 digits, or is too large
  ///   for a double. Lenient scanners check only the grammar; texts accepted before may exceed a
  ///   double.
  @inlinable
  @inline(__always)
  public mutating func number() throws(JSONFault) {
    if !skipNatural() { try anyNumber() }
  }

  /// Skips a natural number of up to 18 digits without fraction and exponent.
  ///
  /// - Returns: Whether it did; otherwise the position is unchanged.
  @inlinable
  @inline(__always)
  mutating func skipNatural() -> Bool {
    let most = offset &+ 18
    var end = offset
    if offset &+ 8 <= bytes.count {
      // The high bit of each byte that is no digit; digits are 0x30 to 0x39.
      let word = word(behind: 0) ^ 0x3030_3030_3030_3030
      let others = ((word &+ 0x7676_7676_7676_7676) | word) & 0x8080_8080_8080_8080
      end &+= others.trailingZeroBitCount &>> 3
    }
    while end < bytes.count, end < most, unsafe bytes[unchecked: end] &- 0x30 < 10 { end &+= 1 }
    guard end > offset, end < bytes.count,
      unsafe bytes[unchecked: offset] != UInt8(ascii: "0") || end == offset &+ 1
    else { return false }
    // The number ends before white space, a comma or a bracket; not before `.`, `e` or a digit.
    let next = unsafe bytes[unchecked: end]
    guard next == UInt8(ascii: ",") || next == UInt8(ascii: "}") || next == UInt8(ascii: "]") else {
      return false
    }
    offset = end
    return true
  }

  @usableFromInline
  mutating func anyNumber() throws(JSONFault) {
    let start = position
    if position < bytes.count, bytes[position] == UInt8(ascii: "-") { offset += 1 }
    guard position < bytes.count else { throw fault(.unexpectedEnd) }
    var digits = 0
    if bytes[position] == UInt8(ascii: "0") {
      offset += 1
      digits = 1
      if position < bytes.count, 0x30...0x39 ~= bytes[position] { throw fault(.badNumber) }
    } else {
      digits = skipDigits()
      if digits == 0 { throw fault(.badNumber) }
    }
    if position < bytes.count, bytes[position] == UInt8(ascii: ".") {
      offset += 1
      let fraction = skipDigits()
      if fraction == 0 { throw fault(position < bytes.count ? .badNumber : .unexpectedEnd) }
      digits += fraction
    }
    var hasExponent = false
    if position < bytes.count, bytes[position] | 0x20 == UInt8(ascii: "e") {
      hasExponent = true
      offset += 1
      if position < bytes.count,
        bytes[position] == UInt8(ascii: "+") || bytes[position] == UInt8(ascii: "-")
      {
        offset += 1
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
    while position < bytes.count, 0x30...0x39 ~= bytes[position] { offset += 1 }
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

// What compares known texts; see `RequestShapes` in Wire.
extension JSONScanner {
  /// Returns whether a text comes next that is given by its words.
  ///
  /// A word has eight bytes, or four if the text is shorter than eight. The last one overlaps the one
  /// before.
  ///
  /// - Parameters:
  ///   - first: The index of the first word; all must be there.
  ///   - count: The number of bytes of the text, at least four.
  @inlinable
  @inline(__always)
  @unsafe
  public func holds(_ words: Span<UInt64>, from first: Int, count: Int) -> Bool {
    guard offset &+ count <= bytes.count else { return false }
    let raw = unsafe bytes.bytes
    var index = first
    var at = offset
    let end = offset &+ count
    guard count >= 8 else {
      while at &+ 4 <= end {
        guard unsafe word32(raw, at) == words[unchecked: index] else { return false }
        (index, at) = (index &+ 1, at &+ 4)
      }
      return unsafe word32(raw, end &- 4) == words[unchecked: index]
    }
    while at &+ 8 <= end {
      guard unsafe word64(raw, at) == words[unchecked: index] else { return false }
      (index, at) = (index &+ 1, at &+ 8)
    }
    return unsafe word64(raw, end &- 8) == words[unchecked: index]
  }

  @inlinable
  @inline(__always)
  @unsafe
  func word32(_ raw: RawSpan, _ at: Int) -> UInt64 {
    UInt64(
      UInt32(
        littleEndian: unsafe raw.unsafeLoadUnaligned(
          fromUncheckedByteOffset: at, as: UInt32.self)))
  }

  @inlinable
  @inline(__always)
  @unsafe
  func word64(_ raw: RawSpan, _ at: Int) -> UInt64 {
    UInt64(
      littleEndian: unsafe raw.unsafeLoadUnaligned(fromUncheckedByteOffset: at, as: UInt64.self))
  }

  /// Returns whether some braces come next, and nothing after them.
  @inlinable
  @inline(__always)
  public func isEnd(of braces: Int) -> Bool {
    guard offset &+ braces == bytes.count else { return false }
    var at = offset
    while at < bytes.count, unsafe bytes[unchecked: at] == UInt8(ascii: "}") { at &+= 1 }
    return at == bytes.count
  }

  /// Returns the range of plain bytes at a distance from the position up to a quote; `nil` if there
  /// is none.
  public func upcomingString(behind distance: Int) -> Range<Int>? {
    let start = offset &+ distance
    guard start < bytes.count else { return nil }
    let end = endOfPlainASCII(from: start)
    guard end < bytes.count, bytes[end] == UInt8(ascii: "\"") else { return nil }
    return start..<end
  }
}
