/// A key as a terminal sends it.
package enum Key: Equatable, Sendable {
  case character(Character)
  case enter, escape, tab, backspace
  case up, down, left, right, home, end, pageUp, pageDown
  /// Control and a letter.
  case control(Character)
  /// A text that was not typed, with its line breaks.
  case paste(String)
}

/// Makes keys of what a terminal sends, however it is cut.
package struct KeyDecoder {
  private var kept: [UInt8] = []

  /// What has come of a text that is being pasted; `nil` while one types.
  private var pasted: [UInt8]?

  /// Bytes of a pasted text that are kept; more than any field holds.
  private static let maxPastedBytes = 1 << 20

  /// What a terminal puts around a pasted text when it was asked to (mode 2004).
  private static let pasteBegin = Array("\u{1B}[200~".utf8)
  private static let pasteEnd = Array("\u{1B}[201~".utf8)

  package init() {}

  /// Whether a sequence has begun and not ended: an escape alone is the key, if nothing follows soon.
  ///
  /// A pasted text has its end, however long that takes.
  package var isWithinSequence: Bool { pasted == nil && !kept.isEmpty }

  /// The keys that bytes complete.
  package mutating func feed(_ bytes: some Sequence<UInt8>) -> [Key] {
    kept += bytes
    var keys: [Key] = []
    while !kept.isEmpty {
      if pasted != nil {
        guard let key = takePasted() else { break }
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

  /// Takes what has come of a pasted text; `nil` while its end has not come.
  private mutating func takePasted() -> Key? {
    let end = kept.indices.first { kept[$0...].starts(with: Self.pasteEnd) }
    // What may be the beginning of the end waits for the rest of it.
    let count = end ?? kept.indices.first { Self.pasteEnd.starts(with: kept[$0...]) } ?? kept.count
    let room = Self.maxPastedBytes - (pasted?.count ?? 0)
    pasted?.append(contentsOf: kept[..<min(count, room)])
    kept.removeFirst(end.map { $0 + Self.pasteEnd.count } ?? count)
    guard end != nil, let pasted else { return nil }
    self.pasted = nil
    return .paste(String(decoding: pasted, as: UTF8.self))
  }

  /// Nothing has followed for a while: what has begun is what it is.
  package mutating func flush() -> [Key] {
    defer { kept = [] }
    return kept.first == 0x1B ? [.escape] : []
  }

  /// The first key and its bytes, no key for a sequence that is not known; `nil` when more is needed.
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

  /// `ESC [ … letter`, `ESC O letter`, or the key itself before anything else.
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
