/// A text in which faults are replaced, and the places of its bytes in the original.
struct RepairedText {
  /// The repaired text; complete after ``end(at:)``.
  private(set) var bytes: [UInt8] = []

  private let original: [UInt8]

  /// The number of bytes of the original that were copied or replaced.
  private var done = 0

  /// The repaired bytes from `start` on are those of the original at a distance of `shift`.
  private var shifts: [(start: Int, shift: Int)] = []

  init(of original: [UInt8]) {
    self.original = original
    bytes.reserveCapacity(original.count)
  }

  /// Replaces a range of the original; ranges must come in ascending order.
  mutating func replace(_ range: Range<Int>, by text: some Collection<UInt8>) {
    bytes += original[done..<range.lowerBound]
    bytes += text
    done = range.upperBound
    if text.count != range.count { shifts.append((bytes.count, done - bytes.count)) }
  }

  /// Copies the rest of the original up to an index, and leaves out what follows.
  mutating func end(at end: Int) { replace(end..<end, by: []) }

  /// Returns the line and the column in the original of a byte of the repaired text, both from 1.
  ///
  /// Columns count characters.
  func place(of index: Int) -> (line: Int, column: Int) {
    let shift = shifts.last { $0.start <= index }?.shift ?? 0
    let before = original[..<min(max(index + shift, 0), original.count)]
    let lineStart = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    return (
      1 + before.count { $0 == UInt8(ascii: "\n") },
      1 + before[lineStart...].count { $0 & 0xC0 != 0x80 }
    )
  }
}

/// U+FFFD in UTF-8, which replaces what is not a character.
let replacementCharacter: [UInt8] = [0xEF, 0xBF, 0xBD]

extension [UInt8] {
  /// Returns the length of the UTF-8 character at an index; `nil` if the bytes are not UTF-8.
  func lengthOfCharacter(at index: Int) -> Int? {
    let first = self[index]
    guard first >= 0x80 else { return 1 }
    let (length, second): (Int, ClosedRange<UInt8>)
    switch first {
    case 0xC2...0xDF: (length, second) = (2, 0x80...0xBF)
    case 0xE0: (length, second) = (3, 0xA0...0xBF)
    case 0xED: (length, second) = (3, 0x80...0x9F)
    case 0xE1...0xEF: (length, second) = (3, 0x80...0xBF)
    case 0xF0: (length, second) = (4, 0x90...0xBF)
    case 0xF1...0xF3: (length, second) = (4, 0x80...0xBF)
    case 0xF4: (length, second) = (4, 0x80...0x8F)
    default: return nil
    }
    guard index + length <= count, second ~= self[index + 1],
      self[(index + 2)..<(index + length)].allSatisfy({ 0x80...0xBF ~= $0 })
    else { return nil }
    return length
  }

  /// Returns whether a text is at an index.
  func has(_ text: StaticString, at index: Int) -> Bool {
    guard index + text.utf8CodeUnitCount <= count else { return false }
    return text.withUTF8Buffer { self[index...].starts(with: $0) }
  }
}
