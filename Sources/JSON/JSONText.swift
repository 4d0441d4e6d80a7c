/// One JSON value as compact, valid text: what is kept and passed on without being looked into.
///
/// A service that stores whatever its clients send stores this. Fifteen bytes and fewer, so
/// `true`, `null` and most numbers, need no memory of their own.
public struct JSONText: Sendable {
  /// The text: strict RFC 8259 without white space between tokens, and without raw control
  /// characters of any kind.
  public let text: String

  /// A text that is known to be compact and valid.
  init(trusted text: String) {
    self.text = text
  }

  /// A text that was a `JSONText` before and was kept since, by somebody who would have noticed
  /// damage.
  public init(kept text: String) {
    self.text = text
  }

  /// The value at the start of `bytes`; nothing but white space may follow it.
  ///
  /// - Parameter maxMembers: How many members an object may have, see ``JSONLimits/anyMembers``.
  public init(
    parsing bytes: Span<UInt8>, maxMembers: Int = JSONLimits.members
  ) throws(JSONFault) {
    var scanner = JSONScanner(bytes, maxMembers: maxMembers)
    _ = try scanner.value()
    try scanner.end()
    self.init(scanned: bytes)
  }

  /// A value by its text.
  ///
  /// - Parameter maxMembers: How many members an object may have, see ``JSONLimits/anyMembers``.
  public init(
    parsing text: String, maxMembers: Int = JSONLimits.members
  ) throws(JSONFault) {
    try self.init(parsing: text.utf8.span, maxMembers: maxMembers)
  }

  /// A value that a ``JSONScanner`` has passed.
  public init(scanned bytes: Span<UInt8>) {
    if Self.isCompact(bytes) {
      text = String(validUTF8: bytes)
    } else {
      var buffer = ByteBuffer()
      buffer.append(compacting: bytes)
      text = buffer.string
    }
  }

  /// An object.
  ///
  /// - Parameter members: The values by name; they stand in no order.
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

  /// An array.
  public init(elements: [JSONText]) {
    var buffer = ByteBuffer()
    buffer.append(UInt8(ascii: "["))
    for (i, element) in elements.enumerated() {
      if i > 0 { buffer.append(UInt8(ascii: ",")) }
      buffer.append(element.text)
    }
    buffer.append(UInt8(ascii: "]"))
    self.init(trusted: buffer.string)
  }

  /// The values of an array; `nil` for anything else.
  public var elements: [JSONText]? {
    let bytes = text.utf8.span
    var scanner = JSONScanner(kept: bytes)
    var elements: [JSONText] = []
    do throws(JSONFault) {
      var more = try scanner.enterArray()
      while more {
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

  /// The values of an object by name; `nil` for anything else.
  ///
  /// Of a name that stands twice the last.
  public var members: [String: JSONText]? {
    var members: [String: JSONText] = [:]
    return forEachMember { members[$0] = $1 } ? members : nil
  }

  /// Calls `body` with the name and the value of each member, in order.
  ///
  /// - Returns: Whether this is an object.
  public func forEachMember(_ body: (String, JSONText) -> Void) -> Bool {
    let bytes = text.utf8.span
    var scanner = JSONScanner(kept: bytes)
    do throws(JSONFault) {
      var more = try scanner.enterObject()
      while more {
        let name = scanner.text(try scanner.key())
        let start = scanner.position
        _ = try scanner.value()
        body(name, JSONText(trusted: String(validUTF8: bytes.extracting(start..<scanner.position))))
        more = try scanner.nextMember()
      }
      return true
    } catch {
      return false
    }
  }

  /// Whether no byte can be white space between tokens, nor of a control character that RFC 8259
  /// allows in a string and a terminal obeys: DEL, and C1, which begins with 0xC2.
  ///
  /// A space within a string says no as well, and so does what else begins so; that costs a copy and
  /// nothing else.
  private static func isCompact(_ bytes: Span<UInt8>) -> Bool {
    for i in bytes.indices {
      let byte = bytes[i]
      if byte <= 0x20 || byte == 0x7F || byte == 0xC2 { return false }
    }
    return true
  }

  /// JSON's `null`.
  public static let null = JSONText(trusted: "null")

  /// A boolean.
  public init(_ bool: Bool) {
    text = bool ? "true" : "false"
  }

  /// An integer.
  public init(_ integer: some BinaryInteger) {
    text = String(integer)
  }

  /// A string.
  public init(string: String) {
    var buffer = ByteBuffer()
    buffer.append(quoted: string)
    text = buffer.string
  }

  /// An object with one member.
  ///
  /// - Parameter name: Plain: it needs no escape.
  public init(member name: StaticString, _ value: JSONText) {
    var text = "{\""
    text.reserveCapacity(name.utf8CodeUnitCount + value.text.utf8.count + 5)
    text += name.description
    text += "\":"
    text += value.text
    text += "}"
    self.text = text
  }

  /// The value of the one member of an object as ``init(member:_:)`` makes it; `nil` for any other
  /// text.
  public func member(_ name: StaticString) -> JSONText? {
    let bytes = text.utf8.span
    let count = name.utf8CodeUnitCount
    guard bytes.count > count + 5, bytes[0] == UInt8(ascii: "{"), bytes[1] == UInt8(ascii: "\""),
      bytes[count + 2] == UInt8(ascii: "\""), bytes[count + 3] == UInt8(ascii: ":"),
      bytes[bytes.count - 1] == UInt8(ascii: "}")
    else { return nil }
    for i in 0..<count where unsafe bytes[i + 2] != name.utf8Start[i] { return nil }
    return JSONText(trusted: String(validUTF8: bytes.extracting(count + 4..<bytes.count - 1)))
  }

  /// The value, taken apart.
  public var value: JSONValue { JSONValue(scanned: text.utf8.span) }

  /// The number, if it is one.
  public var number: JSONNumber? {
    guard let first = text.utf8.first, first == UInt8(ascii: "-") || 0x30...0x39 ~= first else {
      return nil
    }
    return JSONNumber(scanned: text)
  }

  /// The boolean, if it is one.
  public var bool: Bool? {
    switch text {
    case "true": true
    case "false": false
    default: nil
    }
  }

  /// Whether more than so many arrays and objects stand in each other.
  ///
  /// - Complexity: O(*n*) in the text; O(1) when it is too short for that.
  public func isDeeper(than limit: Int) -> Bool {
    let bytes = text.utf8.span
    guard bytes.count >= 2 * (limit + 1) else { return false }
    var (depth, isString, isEscaped) = (0, false, false)
    for i in bytes.indices {
      switch bytes[i] {
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

  /// Whether two texts stand for the same value: numbers by value, members in any order.
  public func isEquivalent(to other: JSONText) -> Bool {
    self == other || value == other.value
  }
}

extension JSONText: Hashable {
  /// Whether the texts are the same bytes.
  public static func == (left: Self, right: Self) -> Bool {
    left.text.hasSameBytes(as: right.text)
  }

  /// Equal bytes hash alike.
  public func hash(into hasher: inout Hasher) {
    for byte in text.utf8 { hasher.combine(byte) }
  }
}

extension JSONText: CustomStringConvertible {
  /// The text itself.
  public var description: String { text }
}
