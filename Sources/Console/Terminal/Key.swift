/// A key press in a terminal.
package enum Key: Equatable, Sendable {
  case character(Character)
  case enter, escape, tab, backspace
  case up, down, left, right, home, end, pageUp, pageDown
  /// Control and a letter.
  case control(Character)
  /// Pasted text, with its line breaks.
  case paste(String)
}

/// Decodes terminal input into keys; input may be split at any byte.
package struct KeyDecoder {
  private var kept: [UInt8] = []

  /// The text pasted so far; `nil` outside a paste.
  private var pasted: [UInt8]?

  /// The maximum size of a pasted text, in bytes; more is dropped.
  private static let maxPastedBytes = 1 << 20

  /// The brackets that a terminal sends around pasted text in mode 2004.
  private static let pasteBegin = Array("\u{1B}[200~".utf8)
  private static let pasteEnd = Array("\u{1B}[201~".utf8)

  package init() {}

  /// Whether an escape sequence is incomplete.
  ///
  /// If nothing follows soon, it is the escape key. A paste does not count, because it always has
  /// an end.
  package var isWithinSequence: Bool { pasted == nil && !kept.isEmpty }

  /// Decodes bytes and returns the completed keys.
  package mutating func feed(_ bytes: some Sequence<UInt8>) -> [Key] {
    kept += bytes
    var keys: [Key] = []
    while !kept.isEmpty {
      if pasted != nil {
        guard let key = readPasted() else { break }
        keys.append(key)
        continue
      }
      guard let (key, count) = Self.first(of: kept) else { break }
      if kept.starts(with: Self.pasteBegin) { pasted = [] }
      kept.removeFirst(count)
      if let key { keys.append(key) }
    }
    return keys
  }

  /// Consumes pasted text; returns `nil` until its end has arrived.
  private mutating func readPasted() -> Key? {
    let end = kept.indices.first { kept[$0...].starts(with: Self.pasteEnd) }
    // A partial end marker waits for the rest.
    let count = end ?? kept.indices.first { Self.pasteEnd.starts(with: kept[$0...]) } ?? kept.count
    let room = Self.maxPastedBytes - (pasted?.count ?? 0)
    pasted?.append(contentsOf: kept[..<min(count, room)])
    kept.removeFirst(end.map { $0 + Self.pasteEnd.count } ?? count)
    guard end != nil, let pasted else { return nil }
    self.pasted = nil
    return .paste(String(decoding: pasted, as: UTF8.self))
  }

  /// Ends an incomplete sequence after a pause.
  package mutating func flush() -> [Key] {
    defer { kept = [] }
    return kept.first == 0x1B ? [.escape] : []
  }

  /// Returns the first key and its length; the key is `nil` for an unknown sequence.
  ///
  /// Returns `nil` if more bytes are needed.
  private static func first(of bytes: [UInt8]) -> (key: Key?, count: Int)? {
    switch bytes[0] {
    case 0x1B: return sequence(bytes)
    case 0x0D, 0x0A: return (.enter, 1)
    case 0x09: return (.tab, 1)
    case 0x7F, 0x08: return (.backspace, 1)
    case 0x01...0x1A: return (.control(Character(Unicode.Scalar(bytes[0] + 0x60))), 1)
    case 0x00, 0x1C...0x1F: return (nil, 1)
    default: return character(bytes)
    }
  }

  private static func character(_ bytes: [UInt8]) -> (key: Key?, count: Int)? {
    let count: Int
    switch bytes[0] {
    case 0xC2...0xDF: count = 2
    case 0xE0...0xEF: count = 3
    case 0xF0...0xF4: count = 4
    case 0x20...0x7E: count = 1
    default: return (nil, 1)
    }
    guard bytes.count >= count else { return nil }
    guard let character = String(validating: bytes[..<count], as: UTF8.self)?.first else {
      return (nil, 1)
    }
    return (.character(character), count)
  }

  /// Decodes `ESC [ … letter` or `ESC O letter`; otherwise returns the escape key.
  private static func sequence(_ bytes: [UInt8]) -> (key: Key?, count: Int)? {
    guard bytes.count > 1 else { return nil }
    guard bytes[1] == UInt8(ascii: "[") || bytes[1] == UInt8(ascii: "O") else {
      return (.escape, 1)
    }
    guard let end = bytes[2...].firstIndex(where: { 0x40...0x7E ~= $0 }) else {
      return bytes.count > 16 ? (nil, bytes.count) : nil
    }
    let key: Key? =
      switch (bytes[end], String(decoding: bytes[2..<end], as: UTF8.self)) {
      case (UInt8(ascii: "A"), _): .up
      case (UInt8(ascii: "B"), _): .down
      case (UInt8(ascii: "C"), _): .right
      case (UInt8(ascii: "D"), _): .left
      case (UInt8(ascii: "H"), _), (UInt8(ascii: "~"), "1"), (UInt8(ascii: "~"), "7"): .home
      case (UInt8(ascii: "F"), _), (UInt8(ascii: "~"), "4"), (UInt8(ascii: "~"), "8"): .end
      case (UInt8(ascii: "~"), "5"): .pageUp
      case (UInt8(ascii: "~"), "6"): .pageDown
      default: nil
      }
    return (key, end + 1)
  }
}
