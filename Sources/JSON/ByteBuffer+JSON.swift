extension ByteBuffer {
  /// Appends a JSON string, its quotes included.
  ///
  /// Escapes what RFC 8259 demands and no more: quote, backslash, controls.
  public mutating func append(quoted text: String) {
    append(UInt8(ascii: "\""))
    let bytes = text.utf8.span
    if Self.isPlain(bytes) {
      append(bytes)
    } else {
      for i in bytes.indices { append(escaping: bytes[i]) }
    }
    append(UInt8(ascii: "\""))
  }

  /// Whether no byte needs an escape, eight at a time.
  @inline(__always)
  private static func isPlain(_ bytes: Span<UInt8>) -> Bool {
    let raw = unsafe bytes.bytes
    let ones: UInt64 = 0x0101_0101_0101_0101
    var i = 0
    var flagged: UInt64 = 0
    while i + 8 <= raw.byteCount {
      let word = unsafe raw.unsafeLoadUnaligned(fromByteOffset: i, as: UInt64.self)
      let quote = word ^ 0x2222_2222_2222_2222
      let backslash = word ^ 0x5C5C_5C5C_5C5C_5C5C
      flagged |=
        (quote &- ones) & ~quote | (backslash &- ones) & ~backslash
        | (word &- 0x2020_2020_2020_2020) & ~word
      i += 8
    }
    guard flagged & 0x8080_8080_8080_8080 == 0 else { return false }
    while i < bytes.count {
      let byte = bytes[i]
      guard byte >= 0x20, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") else {
        return false
      }
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
    case ..<0x20:
      append("\\u00")
      append(Self.hexadecimal(byte >> 4))
      append(Self.hexadecimal(byte & 15))
    default: append(byte)
    }
  }

  private static func hexadecimal(_ nibble: UInt8) -> UInt8 {
    nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "a") + nibble - 10
  }

  /// Appends a scanned JSON text without the white space between its tokens.
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
        append(text.extracting(i..<end))
        i = end
      default:
        append(byte)
        i += 1
      }
    }
  }

  /// The offset after the string whose opening quote is at `start`.
  private static func endOfString(_ text: Span<UInt8>, from start: Int) -> Int {
    var i = start + 1
    while text[i] != UInt8(ascii: "\"") { i += text[i] == UInt8(ascii: "\\") ? 2 : 1 }
    return i + 1
  }
}
