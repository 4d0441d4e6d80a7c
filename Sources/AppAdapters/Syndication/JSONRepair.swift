/// Repairs the common faults of JSON in feeds.
///
/// In strings, invalid bytes and lone surrogates become U+FFFD, and raw control characters are
/// escaped. Trailing commas, and text after the end of the value, are left out.
struct JSONRepair {
  private let source: [UInt8]
  private var text: RepairedText

  /// The index of the next byte.
  private var next = 0
  private var depth = 0

  /// - Parameter source: UTF-8 that begins with an object.
  static func repair(_ source: [UInt8]) -> RepairedText {
    var repair = Self(source)
    repair.run()
    return repair.text
  }

  private init(_ source: [UInt8]) {
    (self.source, text) = (source, RepairedText(of: source))
  }

  private mutating func run() {
    while next < source.count {
      switch source[next] {
      case UInt8(ascii: "\""): string()
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        depth += 1
        next += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        depth -= 1
        next += 1
        if depth == 0 { return text.end(at: next) }
      case UInt8(ascii: ","):
        let following = source[(next + 1)...].first { $0 > 0x20 }
        let isTrailing = following == UInt8(ascii: "}") || following == UInt8(ascii: "]")
        if isTrailing { text.replace(next..<(next + 1), by: []) }
        next += 1
      default: next += 1
      }
    }
    text.end(at: source.count)
  }

  /// Handles a string, from its first quote.
  private mutating func string() {
    next += 1
    while next < source.count {
      let byte = source[next]
      switch byte {
      case UInt8(ascii: "\""):
        next += 1
        return
      case UInt8(ascii: "\\"): escape()
      case ..<0x20:
        let isSpace = byte == 0x09 || byte == 0x0A || byte == 0x0D
        text.replace(next..<(next + 1), by: isSpace ? " ".utf8.map { $0 } : replacementCharacter)
        next += 1
      default:
        let length = source.lengthOfCharacter(at: next)
        if length == nil { text.replace(next..<(next + 1), by: replacementCharacter) }
        next += length ?? 1
      }
    }
  }

  /// Handles an escape; a surrogate that is not in a pair is replaced.
  private mutating func escape() {
    guard let unit = unit(at: next) else {
      next += 2
      return
    }
    switch unit {
    case 0xD800...0xDBFF:
      if let second = self.unit(at: next + 6), 0xDC00...0xDFFF ~= second {
        next += 12
        return
      }
      fallthrough
    case 0xDC00...0xDFFF: text.replace(next..<(next + 6), by: replacementCharacter)
    default: break
    }
    next += 6
  }

  /// Returns the number of an escape such as `\u00e9`.
  private func unit(at index: Int) -> UInt16? {
    guard source.has("\\u", at: index), index + 6 <= source.count else { return nil }
    return UInt16(String(decoding: source[(index + 2)..<(index + 6)], as: UTF8.self), radix: 16)
  }

  /// Returns the beginning of an object, closed after its last whole member or element.
  ///
  /// It ends after an object or array that is a member of the object, or an element of a member.
  ///
  /// - Parameter bytes: The text up to a fault.
  static func wholePart(of bytes: ArraySlice<UInt8>) -> [UInt8] {
    var closers: [UInt8] = []
    var end: (index: Int, closers: [UInt8])?
    var isInString = false
    var isEscaped = false
    for (index, byte) in zip(bytes.indices, bytes) {
      if isInString {
        if byte == UInt8(ascii: "\""), !isEscaped { isInString = false }
        isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
        continue
      }
      switch byte {
      case UInt8(ascii: "\""): isInString = true
      case UInt8(ascii: "{"): closers.append(UInt8(ascii: "}"))
      case UInt8(ascii: "["): closers.append(UInt8(ascii: "]"))
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        _ = closers.popLast()
        if 1...2 ~= closers.count { end = (index, closers) }
      default: break
      }
    }
    return end.map { Array(bytes[...$0.index]) + $0.closers.reversed() } ?? []
  }
}
