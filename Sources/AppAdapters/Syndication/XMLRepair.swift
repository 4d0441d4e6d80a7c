/// Repairs the common faults of XML in feeds.
///
/// Invalid bytes and characters become U+FFFD. A `&` that begins no known reference, and a `<` that
/// begins no tag, are text. Entities of HTML become characters.
struct XMLRepair {
  private enum State {
    case text
    case tag
    /// An attribute value and its quote.
    case value(UInt8)
    /// A comment, a CDATA section or an instruction, and its end.
    case section(StaticString)
  }

  private let source: [UInt8]
  private var text: RepairedText
  private var state = State.text

  /// The index of the next byte.
  private var next = 0

  /// - Parameter source: UTF-8; white space before the first element is left out.
  static func repair(_ source: [UInt8]) -> RepairedText {
    var repair = Self(source)
    repair.run()
    return repair.text
  }

  private init(_ source: [UInt8]) {
    (self.source, text) = (source, RepairedText(of: source))
  }

  private mutating func run() {
    let space = source.prefix { [0x20, 0x09, 0x0A, 0x0D].contains($0) }.count
    if space > 0, space < source.count, source[space] == UInt8(ascii: "<") {
      text.replace(0..<space, by: [])
      next = space
    }
    while next < source.count { step() }
    text.end(at: source.count)
  }

  /// Handles the next character.
  private mutating func step() {
    let byte = source[next]
    guard byte < 0x80 else { return checkCharacter() }
    guard byte >= 0x20 || [0x09, 0x0A, 0x0D].contains(byte) else {
      return replace(1, by: replacementCharacter)
    }
    switch state {
    case .text:
      switch byte {
      case UInt8(ascii: "<"): beginMarkup()
      case UInt8(ascii: "&"): checkReference()
      case UInt8(ascii: "]") where source.has("]]>", at: next): replace(3, by: "]]&gt;".utf8)
      default: next += 1
      }
    case .tag:
      if byte == UInt8(ascii: ">") { state = .text }
      if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") { state = .value(byte) }
      next += 1
    case .value(let quote):
      switch byte {
      case quote:
        state = .tag
        next += 1
      case UInt8(ascii: "&"): checkReference()
      case UInt8(ascii: "<"): replace(1, by: "&lt;".utf8)
      default: next += 1
      }
    case .section(let end):
      guard source.has(end, at: next) else {
        next += 1
        break
      }
      next += end.utf8CodeUnitCount
      state = .text
    }
  }

  private mutating func replace(_ count: Int, by bytes: some Collection<UInt8>) {
    text.replace(next..<(next + count), by: bytes)
    next += count
  }

  /// Replaces what is not UTF-8, and the two characters that XML does not allow.
  private mutating func checkCharacter() {
    guard let length = source.lengthOfCharacter(at: next) else {
      return replace(1, by: replacementCharacter)
    }
    let isCharacter = !source[next...].starts(with: [0xEF, 0xBF]) || source[next + 2] < 0xBE
    if isCharacter { next += length } else { replace(length, by: replacementCharacter) }
  }

  private mutating func beginMarkup() {
    for (start, end) in [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")]
      as [(StaticString, StaticString)] where source.has(start, at: next)
    {
      state = .section(end)
      next += start.utf8CodeUnitCount
      return
    }
    let first = next + 1 < source.count ? source[next + 1] : 0
    let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
    // At the end of the text, the parser reports the open tag.
    guard first >= 0x80 || letters ~= first | 0x20 || "/!_:\0".utf8.contains(first) else {
      return replace(1, by: "&lt;".utf8)
    }
    state = .tag
    next += 1
  }

  /// Handles a `&`.
  private mutating func checkReference() {
    let rest = source[(next + 1)...].prefix(32)
    guard let end = rest.firstIndex(of: UInt8(ascii: ";")) else {
      return replace(1, by: "&amp;".utf8)
    }
    let name = String(decoding: source[(next + 1)..<end], as: UTF8.self)
    let length = end + 1 - next
    if name.hasPrefix("#") {
      guard let isCharacter = Self.isCharacter(name) else { return replace(1, by: "&amp;".utf8) }
      if isCharacter { next += length } else { replace(length, by: replacementCharacter) }
    } else if ["amp", "lt", "gt", "quot", "apos"].contains(name) {
      next += length
    } else if let scalar = FeedEntities.scalar(name) {
      replace(length, by: "&#\(scalar.value);".utf8)
    } else {
      replace(1, by: "&amp;".utf8)
    }
  }

  /// Returns whether a numeric reference names a character of XML; `nil` if it is not a number.
  private static func isCharacter(_ name: String) -> Bool? {
    let isHexadecimal = name.hasPrefix("#x")
    let digits = name.dropFirst(isHexadecimal ? 2 : 1)
    guard !digits.isEmpty,
      digits.utf8.allSatisfy({
        0x30...0x39 ~= $0 || isHexadecimal && (0x61...0x66).contains($0 | 0x20)
      })
    else { return nil }
    guard let number = UInt32(digits, radix: isHexadecimal ? 16 : 10) else { return false }
    switch number {
    case 0x9, 0xA, 0xD, 0x20...0xD7FF, 0xE000...0xFFFD, 0x10000...0x10FFFF: return true
    default: return false
    }
  }
}
