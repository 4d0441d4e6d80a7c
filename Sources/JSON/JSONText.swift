/// One JSON value as compact, valid text that is stored and forwarded without being parsed.
///
/// Texts of up to 15 bytes need no allocation, so `true`, `null` and most numbers are free.
public struct JSONText: Sendable {
  /// Strict RFC 8259 text, without white space between tokens and without raw control characters.
  public let text: String

  /// Creates a value from a text that is known to be compact and valid, such as that of an earlier
  /// `JSONText`.
  ///
  /// A storage that it comes from must detect damage.
  public init(trusted text: String) {
    self.text = text
  }

  /// Creates a value from the bytes of an earlier `JSONText`.
  ///
  /// The storage must detect damage.
  public init(trusted bytes: Span<UInt8>) {
    text = String(validUTF8: bytes)
  }

  /// Parses a value.
  ///
  /// Only white space may follow it.
  ///
  /// - Parameter maxMembers: The most members of one object; see ``JSONLimits/anyMembers``.
  public init(
    parsing bytes: Span<UInt8>, maxMembers: Int = JSONLimits.members
  ) throws(JSONFault) {
    var scanner = JSONScanner(bytes, maxMembers: maxMembers)
    _ = try scanner.value()
    try scanner.end()
    self.init(scanned: bytes)
  }

  /// Parses a value from a string.
  ///
  /// - Parameter maxMembers: The most members of one object; see ``JSONLimits/anyMembers``.
  public init(
    parsing text: String, maxMembers: Int = JSONLimits.members
  ) throws(JSONFault) {
    try self.init(parsing: text.utf8.span, maxMembers: maxMembers)
  }

  /// Creates a value from bytes that a ``JSONScanner`` has accepted.
  public init(scanned bytes: Span<UInt8>) {
    if Self.isCompact(bytes) {
      text = String(validUTF8: bytes)
    } else {
      var buffer = ByteBuffer()
      buffer.append(compacting: bytes)
      text = buffer.string
    }
  }

  /// Creates an object.
  ///
  /// - Parameter members: The values by name. Their order in the text is unspecified.
  public init(members: [String: JSONText]) {
    var buffer = ByteBuffer()
    var separator = UInt8(ascii: "{")
    for (name, value) in members {
      buffer.append(separator)
      buffer.append(quoted: name)
      buffer.append(UInt8(ascii: ":"))
      buffer.append(value.text)
      separator = UInt8(ascii: ",")
    }
    if members.isEmpty { buffer.append(separator) }
    buffer.append(UInt8(ascii: "}"))
    self.init(trusted: buffer.string)
  }

  /// Creates an array.
  public init(elements: some Sequence<JSONText>) {
    var buffer = ByteBuffer()
    buffer.append(UInt8(ascii: "["))
    for (i, element) in elements.enumerated() {
      if i > 0 { buffer.append(UInt8(ascii: ",")) }
      buffer.append(element.text)
    }
    buffer.append(UInt8(ascii: "]"))
    self.init(trusted: buffer.string)
  }

  /// Returns whether two long texts have the same storage.
  ///
  /// It reads no bytes; `==` reads all that two different texts have in common.
  public func isIdentical(to other: JSONText) -> Bool {
    text.utf8.span.isIdentical(to: other.text.utf8.span)
  }

  /// The elements of an array; `nil` for other values.
  public var elements: [JSONText]? { elements(atMost: .max) }

  /// Returns the first elements of an array; `nil` for other values.
  public func elements(atMost max: Int) -> [JSONText]? {
    let bytes = text.utf8.span
    var scanner = JSONScanner(trusted: bytes)
    var elements: [JSONText] = []
    do throws(JSONFault) {
      var more = try scanner.enterArray()
      while more, elements.count < max {
        let start = scanner.position
        _ = try scanner.value()
        elements.append(
          JSONText(trusted: String(validUTF8: bytes.extracting(start..<scanner.position))))
        more = try scanner.nextElement()
      }
      return elements
    } catch {
      return nil
    }
  }

  /// The values of an object by name; `nil` for other values.
  ///
  /// If a name occurs twice, the last member counts.
  public var members: [String: JSONText]? {
    var members: [String: JSONText] = [:]
    return forEachMember { members[$0] = $1 } ? members : nil
  }

  /// Calls `body` with the name and the value of each member, in order.
  ///
  /// - Returns: Whether this is an object.
  public func forEachMember(_ body: (String, JSONText) -> Void) -> Bool {
    forEachMember(inBytes: { name, value in
      body(String(validUTF8: name), JSONText(trusted: String(validUTF8: value)))
    })
  }

  /// Calls `body` with the bytes of the name and of the value of each member, in order.
  ///
  /// For objects with very many members: it makes no strings.
  ///
  /// - Returns: Whether this is an object.
  public func forEachMember(
    inBytes body: (_ name: Span<UInt8>, _ value: Span<UInt8>) -> Void
  ) -> Bool {
    let bytes = text.utf8.span
    var scanner = JSONScanner(trusted: bytes)
    do throws(JSONFault) {
      var more = try scanner.enterObject()
      while more {
        let name = try scanner.key()
        let start = scanner.position
        _ = try scanner.value()
        let value = bytes.extracting(start..<scanner.position)
        if name.isEscaped {
          body(scanner.text(name).utf8.span, value)
        } else {
          body(bytes.extracting(name.start..<name.end), value)
        }
        more = try scanner.nextMember()
      }
      return true
    } catch {
      return false
    }
  }

  /// Returns whether the bytes contain no white space and no raw control character: DEL, or C1,
  /// whose UTF-8 begins with 0xC2.
  ///
  /// Also returns `false` for a space in a string within an array or object, and for other
  /// characters that begin with 0xC2. Such a text is copied unnecessarily, but correctly.
  private static func isCompact(_ bytes: Span<UInt8>) -> Bool {
    let raw = unsafe bytes.bytes
    // The spaces of a string are part of it.
    let quote = UInt8(ascii: "\"")
    let isString = bytes.count > 1 && bytes[0] == quote && bytes[bytes.count - 1] == quote
    let least: UInt8 = isString ? 0x20 : 0x21
    var i = 0
    while i &+ 8 <= raw.byteCount {
      let word = unsafe raw.unsafeLoadUnaligned(fromUncheckedByteOffset: i, as: UInt64.self)
      guard isCompact(word, from: least) else { return false }
      i &+= 8
    }
    while i < bytes.count {
      let byte = bytes[i]
      if byte < least || byte == 0x7F || byte == 0xC2 { return false }
      i &+= 1
    }
    return true
  }

  /// Returns whether all bytes of a word are at least `least`, and none may need an escape.
  @inline(__always)
  private static func isCompact(_ word: UInt64, from least: UInt8 = 0x21) -> Bool {
    let flagged =
      (word &- UInt64(least) &* 0x0101_0101_0101_0101) & ~word | zeros(word ^ 0x7F7F_7F7F_7F7F_7F7F)
      | zeros(word ^ 0xC2C2_C2C2_C2C2_C2C2)
    return flagged & 0x8080_8080_8080_8080 == 0
  }

  /// Returns whether the first bytes of two little-endian words have no white space and no raw
  /// control character.
  ///
  /// - Parameter count: The number of bytes, at most 16; all others are 0.
  public static func isCompact(_ first: UInt64, _ second: UInt64, count: Int) -> Bool {
    let digits: UInt64 = 0x3030_3030_3030_3030
    let bits = UInt64(truncatingIfNeeded: count &* 8)
    // The unused bytes are replaced by digits. A shift by 64 or more gives 0.
    return isCompact(first | digits << bits)
      && isCompact(bits > 64 ? second | digits << (bits &- 64) : digits)
  }

  /// JSON's `null`.
  public static let null = JSONText(trusted: "null")

  /// Creates a boolean.
  public init(_ bool: Bool) {
    text = bool ? "true" : "false"
  }

  /// Creates a number from an integer.
  public init(_ integer: some BinaryInteger) {
    text = String(integer)
  }

  /// Creates a string.
  public init(string: String) {
    var buffer = ByteBuffer()
    buffer.append(quoted: string)
    text = buffer.string
  }

  /// Creates an object with one member.
  ///
  /// - Parameter name: The member's name. It must not need escapes.
  public init(member name: StaticString, _ value: JSONText) {
    var text = "{\""
    text.reserveCapacity(name.utf8CodeUnitCount + value.text.utf8.count + 5)
    text += name.description
    text += "\":"
    text += value.text
    text += "}"
    self.text = text
  }

  /// Returns the value of an object that ``init(member:_:)`` made with this name; `nil` for any
  /// other text.
  public func onlyMember(_ name: StaticString) -> JSONText? {
    let bytes = text.utf8.span
    let count = name.utf8CodeUnitCount
    guard bytes.count > count + 5, bytes[0] == UInt8(ascii: "{"), bytes[1] == UInt8(ascii: "\""),
      bytes[count + 2] == UInt8(ascii: "\""), bytes[count + 3] == UInt8(ascii: ":"),
      bytes[bytes.count - 1] == UInt8(ascii: "}")
    else { return nil }
    for i in 0..<count where unsafe bytes[i + 2] != name.utf8Start[i] { return nil }
    return JSONText(trusted: String(validUTF8: bytes.extracting(count + 4..<bytes.count - 1)))
  }

  /// The parsed value.
  public var value: JSONValue { JSONValue(scanned: text.utf8.span) }

  /// The number, or `nil` if the value is not a number.
  public var number: JSONNumber? {
    guard let first = text.utf8.first, first == UInt8(ascii: "-") || 0x30...0x39 ~= first else {
      return nil
    }
    return JSONNumber(scanned: text)
  }

  /// The boolean, or `nil` if the value is not a boolean.
  public var bool: Bool? {
    switch text {
    case "true": true
    case "false": false
    default: nil
    }
  }

  /// Returns whether arrays and objects nest deeper than `limit`.
  ///
  /// - Complexity: O(*n*) in the length of the text; O(1) if it is no array or object, or too short
  ///   to nest that deep.
  public func isDeeper(than limit: Int) -> Bool { text.utf8.span.isDeeper(than: limit) }

  /// Returns whether two texts have the same value: numbers by value, members in any order.
  public func isEquivalent(to other: JSONText) -> Bool {
    self == other || value == other.value
  }
}

extension JSONText: Hashable {
  /// Returns whether the texts have the same bytes.
  public static func == (left: Self, right: Self) -> Bool {
    left.text.hasSameBytes(as: right.text)
  }

  /// Hashes the bytes.
  public func hash(into hasher: inout Hasher) {
    for byte in text.utf8 { hasher.combine(byte) }
  }
}

extension JSONText: CustomStringConvertible {
  /// The JSON text.
  public var description: String { text }
}

extension Span<UInt8> {
  /// Returns whether arrays and objects of a JSON text nest deeper than `limit`; see
  /// ``JSONText/isDeeper(than:)``.
  func isDeeper(than limit: Int) -> Bool {
    guard count >= 2 * (limit + 1) else { return false }
    switch self[0] {
    case UInt8(ascii: "["), UInt8(ascii: "{"): break
    default: return limit < 0
    }
    // Few texts have so many brackets; counting them is quick.
    var brackets = 0
    for i in indices where self[i] | 0x20 == UInt8(ascii: "{") { brackets &+= 1 }
    guard brackets > limit else { return false }
    var (depth, isString, isEscaped) = (0, false, false)
    for i in indices {
      switch self[i] {
      case _ where isEscaped: isEscaped = false
      case UInt8(ascii: "\\"): isEscaped = true
      case UInt8(ascii: "\""): isString.toggle()
      case _ where isString: break
      case UInt8(ascii: "["), UInt8(ascii: "{"):
        depth += 1
        if depth > limit { return true }
      case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
      default: break
      }
    }
    return false
  }
}
