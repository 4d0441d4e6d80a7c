extension ByteBuffer {
  /// Appends a JSON string, including its quotes.
  ///
  /// Escapes the characters that RFC 8259 requires: quote, backslash and controls below U+0020.
  /// Also escapes DEL and the C1 controls, because terminals interpret them.
  public mutating func append(quoted text: String) {
    append(quoted: text.utf8.span)
  }

  /// Appends UTF-8 as a JSON string; see ``append(quoted:)-(String)``.
  public mutating func append(quoted bytes: Span<UInt8>) {
    append(UInt8(ascii: "\""))
    if Self.isPlain(bytes) {
      append(bytes)
    } else {
      var i = 0
      while i < bytes.count {
        if bytes[i] == 0xC2, i + 1 < bytes.count, bytes[i + 1] < 0xA0 {
          append(control: bytes[i + 1])
          i += 2
        } else {
          append(escaping: bytes[i])
          i += 1
        }
      }
    }
    append(UInt8(ascii: "\""))
  }

  /// Returns whether no byte needs an escape.
  ///
  /// Checks eight bytes at a time.
  @inline(__always)
  private static func isPlain(_ bytes: Span<UInt8>) -> Bool {
    let raw = unsafe bytes.bytes
    let ones: UInt64 = 0x0101_0101_0101_0101
    var i = 0
    var flagged: UInt64 = 0
    while i < raw.byteCount, raw.byteCount >= 8 {
      // The last word overlaps the one before it.
      i = min(i, raw.byteCount &- 8)
      let word = unsafe raw.unsafeLoadUnaligned(fromUncheckedByteOffset: i, as: UInt64.self)
      let quote = word ^ 0x2222_2222_2222_2222
      let backslash = word ^ 0x5C5C_5C5C_5C5C_5C5C
      flagged |=
        (quote &- ones) & ~quote | (backslash &- ones) & ~backslash
        | (word &- 0x2020_2020_2020_2020) & ~word | zeros(word ^ 0x7F7F_7F7F_7F7F_7F7F)
        | zeros(word ^ 0xC2C2_C2C2_C2C2_C2C2)
      i &+= 8
    }
    guard flagged & 0x8080_8080_8080_8080 == 0 else { return false }
    while i < bytes.count {
      let byte = bytes[i]
      guard byte >= 0x20, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte != 0x7F,
        byte != 0xC2
      else { return false }
      i += 1
    }
    return true
  }

  private mutating func append(escaping byte: UInt8) {
    switch byte {
    case UInt8(ascii: "\""): append("\\\"")
    case UInt8(ascii: "\\"): append("\\\\")
    case 0x08: append("\\b")
    case 0x09: append("\\t")
    case 0x0A: append("\\n")
    case 0x0C: append("\\f")
    case 0x0D: append("\\r")
    case ..<0x20, 0x7F: append(control: byte)
    default: append(byte)
    }
  }

  /// Appends a control character below U+0100 as a `\u` escape.
  private mutating func append(control scalar: UInt8) {
    append("\\u00")
    append(Self.hexadecimal(scalar >> 4))
    append(Self.hexadecimal(scalar & 15))
  }

  private static func hexadecimal(_ nibble: UInt8) -> UInt8 {
    nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "a") + nibble - 10
  }

  /// Appends a scanned JSON text without white space between tokens.
  ///
  /// Escapes the raw control characters DEL and C1.
  public mutating func append(compacting text: Span<UInt8>) {
    reserve(text.count)
    var i = 0
    while i < text.count {
      let byte = text[i]
      switch byte {
      case 0x20, 0x09, 0x0A, 0x0D:
        i += 1
      case UInt8(ascii: "\""):
        let end = Self.endOfString(text, from: i)
        append(string: text, i..<end)
        i = end
      default:
        append(byte)
        i += 1
      }
    }
  }

  private mutating func append(string text: Span<UInt8>, _ range: Range<Int>) {
    var start = range.lowerBound
    var i = start
    while i < range.upperBound {
      let isDelete = text[i] == 0x7F
      guard isDelete || text[i] == 0xC2 && text[i + 1] < 0xA0 else {
        i += 1
        continue
      }
      append(text.extracting(start..<i))
      append(control: isDelete ? 0x7F : text[i + 1])
      i += isDelete ? 1 : 2
      start = i
    }
    append(text.extracting(start..<range.upperBound))
  }

  /// Returns the offset after the string whose opening quote is at `start`.
  private static func endOfString(_ text: Span<UInt8>, from start: Int) -> Int {
    var i = start + 1
    while text[i] != UInt8(ascii: "\"") { i += text[i] == UInt8(ascii: "\\") ? 2 : 1 }
    return i + 1
  }
}

/// Writes objects and arrays member by member.
///
/// The buffer keeps no state for this: a member needs a comma unless it follows `{`, `[` or a comma.
///
///     buffer.object {
///       $0.member("source", name)       // a string, an integer, a Bool or a ``JSONText``
///       $0.member("time", time)         // nothing, if it is `nil`
///       $0.array("values") { … }
///     }
///
/// No function allocates memory, except to grow the buffer.
extension ByteBuffer {
  /// Appends a comma, unless the buffer is empty or ends with `{`, `[` or a comma.
  @inlinable
  @inline(__always)
  public mutating func separate() {
    guard let last else { return }
    switch last {
    case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: ","): break
    default: append(UInt8(ascii: ","))
    }
  }

  /// Begins a member whose name needs no escapes; the caller appends the value.
  @inlinable
  @inline(__always)
  public mutating func key(_ name: StaticString) {
    reserve(name.utf8CodeUnitCount &+ 4)
    separate()
    append(UInt8(ascii: "\""))
    append(name)
    append("\":")
  }

  /// Begins a member with any name; the caller appends the value.
  public mutating func key(quoted name: String) {
    key(quoted: name.utf8.span)
  }

  /// Begins a member with any name, as UTF-8; the caller appends the value.
  public mutating func key(quoted name: Span<UInt8>) {
    separate()
    append(quoted: name)
    append(UInt8(ascii: ":"))
  }

  /// Appends a string as a member; nothing if it is `nil`.
  @inlinable
  @inline(__always)
  public mutating func member(_ name: StaticString, _ value: String?) {
    guard let value else { return }
    key(name)
    append(quoted: value)
  }

  /// Appends an integer as a member; nothing if it is `nil`.
  @inlinable
  @inline(__always)
  public mutating func member(_ name: StaticString, _ value: (some BinaryInteger)?) {
    guard let value else { return }
    key(name)
    append(integer: value)
  }

  /// Appends `true` or `false` as a member; nothing if it is `nil`.
  @inlinable
  @inline(__always)
  public mutating func member(_ name: StaticString, _ value: Bool?) {
    guard let value else { return }
    key(name)
    append(value ? "true" as StaticString : "false")
  }

  /// Appends any value as a member; nothing if it is `nil`.
  @inlinable
  @inline(__always)
  public mutating func member(_ name: StaticString, _ value: JSONText?) {
    guard let value else { return }
    key(name)
    append(value.text)
  }

  /// Appends all members of an object, without its braces.
  public mutating func members(of object: JSONText) {
    separate()
    append(object.text.utf8.span.extracting(1..<object.text.utf8.count - 1))
  }

  /// Appends an object as a member.
  @inlinable
  @inline(__always)
  public mutating func object(_ name: StaticString, _ body: (inout ByteBuffer) -> Void) {
    key(name)
    object(body)
  }

  /// Appends an object as a value.
  @inlinable
  @inline(__always)
  public mutating func object(_ body: (inout ByteBuffer) -> Void) {
    append(UInt8(ascii: "{"))
    body(&self)
    append(UInt8(ascii: "}"))
  }

  /// Appends an array as a member; its body calls ``separate()`` before each element.
  @inlinable
  @inline(__always)
  public mutating func array(_ name: StaticString, _ body: (inout ByteBuffer) -> Void) {
    key(name)
    append(UInt8(ascii: "["))
    body(&self)
    append(UInt8(ascii: "]"))
  }
}

/// Sets the high bit of the lowest zero byte of a word.
///
/// Bytes above that one may be flagged falsely.
@inline(__always)
func zeros(_ word: UInt64) -> UInt64 {
  (word &- 0x0101_0101_0101_0101) & ~word
}
