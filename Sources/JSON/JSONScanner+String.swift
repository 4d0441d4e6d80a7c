extension JSONScanner {
  /// Skips a string, including its quotes, and returns its token.
  @inlinable
  @inline(__always)
  public mutating func string() throws(JSONFault) -> StringToken {
    guard consume(UInt8(ascii: "\"")) else { throw fault(.expectedValue) }
    let start = offset
    let end = endOfPlainASCII(from: start)
    offset = end
    if end < bytes.count, unsafe bytes[unchecked: end] == UInt8(ascii: "\"") {
      offset = end &+ 1
      return StringToken(start: start, end: end, isEscaped: false, isPlain: true)
    }
    let isEscaped = try restOfString()
    return StringToken(start: start, end: position - 1, isEscaped: isEscaped)
  }

  /// Skips the rest of a string from its first special byte on.
  ///
  /// - Returns: Whether the string has escapes.
  @usableFromInline
  @inline(never)
  mutating func restOfString() throws(JSONFault) -> Bool {
    var isEscaped = false
    while true {
      offset = endOfPlainASCII(from: position)
      guard position < bytes.count else { throw fault(.unexpectedEnd) }
      switch bytes[position] {
      case UInt8(ascii: "\""):
        offset += 1
        return isEscaped
      case UInt8(ascii: "\\"):
        isEscaped = true
        try escape()
      case ..<0x20:
        throw fault(.controlCharacter)
      case 0x80...:
        offset = try UTF8Sequence.end(in: bytes, at: position)
      default:
        offset += 1
      }
    }
  }

  /// Returns the offset after bytes that need no check: the offset of the next quote, backslash,
  /// control, DEL or byte above 0x7F, or the end.
  ///
  /// Checks eight bytes at a time. The lowest flagged bit is exact; higher ones may be false, and
  /// only the lowest is used. A difference also has the high bit of a byte above 0x7F, which is
  /// flagged anyway.
  @inlinable
  @inline(__always)
  func endOfPlainASCII(from start: Int) -> Int {
    let raw = unsafe bytes.bytes
    let ones: UInt64 = 0x0101_0101_0101_0101
    let highs: UInt64 = 0x8080_8080_8080_8080
    var at = start
    while at &+ 8 <= raw.byteCount {
      let word = unsafe UInt64(
        littleEndian: raw.unsafeLoadUnaligned(fromUncheckedByteOffset: at, as: UInt64.self))
      let quote = word ^ 0x2222_2222_2222_2222
      let backslash = word ^ 0x5C5C_5C5C_5C5C_5C5C
      let flagged =
        ((quote &- ones) | (backslash &- ones) | (word &- 0x2020_2020_2020_2020) | word
          | (word &+ ones)) & highs
      if flagged != 0 { return at &+ flagged.trailingZeroBitCount >> 3 }
      at &+= 8
    }
    // Checks the last bytes, fewer than eight, one at a time.
    while at < bytes.count {
      let byte = unsafe bytes[unchecked: at]
      guard byte >= 0x20, byte < 0x7F, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") else {
        break
      }
      at &+= 1
    }
    return at
  }

  /// Skips one escape.
  ///
  /// A high surrogate must be followed by its low surrogate.
  private mutating func escape() throws(JSONFault) {
    let start = position
    guard position + 1 < bytes.count else { throw ended() }
    switch bytes[position + 1] {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"),
      UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      offset += 2
    case UInt8(ascii: "u"):
      offset += 2
      switch try hexadecimal() {
      case _ where isLenient: break
      case 0xDC00...0xDFFF:
        throw JSONFault(offset: start, reason: .loneSurrogate)
      case 0xD800...0xDBFF:
        for expected in "\\u".utf8 {
          guard position < bytes.count else { throw ended() }
          guard bytes[position] == expected else {
            throw JSONFault(offset: start, reason: .loneSurrogate)
          }
          offset += 1
        }
        guard 0xDC00...0xDFFF ~= (try hexadecimal()) else {
          throw JSONFault(offset: start, reason: .loneSurrogate)
        }
      default: break
      }
    default:
      throw fault(.badEscape)
    }
  }

  private func ended() -> JSONFault {
    JSONFault(offset: bytes.count, reason: .unexpectedEnd)
  }

  /// Reads four hexadecimal digits.
  private mutating func hexadecimal() throws(JSONFault) -> UInt16 {
    var value: UInt16 = 0
    for _ in 0..<4 {
      guard position < bytes.count else { throw fault(.unexpectedEnd) }
      guard let digit = hexadecimalDigit(bytes[position]) else { throw fault(.badEscape) }
      value = value << 4 | digit
      offset += 1
    }
    return value
  }

  // MARK: Token contents

  /// Returns the string of a token.
  ///
  /// - Complexity: O(*n*) in its bytes. Strings of up to 15 bytes do not allocate.
  public func text(_ token: StringToken) -> String {
    let content = bytes.extracting(token.start..<token.end)
    return token.isEscaped ? unescaped(content) : String(validUTF8: content)
  }

  /// Returns whether a token equals `text`, which must be ASCII.
  @inlinable
  @inline(__always)
  public func token(_ token: StringToken, is text: StaticString) -> Bool {
    if token.isEscaped { return self.text(token) == text.description }
    let count = text.utf8CodeUnitCount
    guard token.end &- token.start == count else { return false }
    precondition(token.start >= 0 && token.end <= bytes.count, "a token of another text")
    return unsafe bytes.bytes.holds(text, at: token.start)
  }
}

extension RawSpan {
  /// Returns whether a text begins at an offset, and compares several bytes at a time.
  ///
  /// The text must fit.
  @inlinable
  @inline(__always)
  @unsafe
  func holds(_ text: StaticString, at start: Int) -> Bool {
    let count = text.utf8CodeUnitCount
    let other = unsafe UnsafeRawPointer(text.utf8Start)
    if count >= 8 {
      var i = 0
      while i &+ 8 <= count {
        guard unsafe isSame(other, i, at: start, UInt64.self) else { return false }
        i &+= 8
      }
      // The last words overlap.
      return unsafe isSame(other, count &- 8, at: start, UInt64.self)
    }
    if count >= 4 {
      return unsafe isSame(other, 0, at: start, UInt32.self)
        && isSame(other, count &- 4, at: start, UInt32.self)
    }
    for i in 0..<count {
      guard unsafe isSame(other, i, at: start, UInt8.self) else { return false }
    }
    return true
  }

  @inlinable
  @inline(__always)
  @unsafe
  func isSame<Word: FixedWidthInteger & BitwiseCopyable>(
    _ other: UnsafeRawPointer, _ offset: Int, at start: Int, _ type: Word.Type
  ) -> Bool {
    unsafe unsafeLoadUnaligned(fromUncheckedByteOffset: start &+ offset, as: Word.self)
      == other.loadUnaligned(fromByteOffset: offset, as: Word.self)
  }
}

/// Returns the value of a hexadecimal digit, or `nil` if the byte is not one.
func hexadecimalDigit(_ byte: UInt8) -> UInt16? {
  switch byte {
  case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt16(byte - UInt8(ascii: "0"))
  case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt16(byte - UInt8(ascii: "a") + 10)
  case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt16(byte - UInt8(ascii: "A") + 10)
  default: nil
  }
}

/// Resolves the escapes of a scanned string's content.
private func unescaped(_ content: Span<UInt8>) -> String {
  var result = ByteBuffer()
  result.reserve(content.count)
  var i = 0
  /// Reads the four digits of the `\u` escape whose backslash is at `i`.
  func unit() -> UInt32 {
    var value: UInt32 = 0
    for k in 2..<6 { value = value << 4 | UInt32(hexadecimalDigit(content[i + k]) ?? 0) }
    i += 6
    return value
  }
  while i < content.count {
    let byte = content[i]
    guard byte == UInt8(ascii: "\\") else {
      result.append(byte)
      i += 1
      continue
    }
    switch content[i + 1] {
    case UInt8(ascii: "u"):
      var scalar = unit()
      if 0xD800...0xDBFF ~= scalar {
        scalar = 0x10000 + (scalar - 0xD800) << 10 + (unit() - 0xDC00)
      }
      result.append(scalar: scalar)
      continue
    case UInt8(ascii: "b"): result.append(0x08)
    case UInt8(ascii: "f"): result.append(0x0C)
    case UInt8(ascii: "n"): result.append(0x0A)
    case UInt8(ascii: "r"): result.append(0x0D)
    case UInt8(ascii: "t"): result.append(0x09)
    case let plain: result.append(plain)
    }
    i += 2
  }
  return result.string
}
