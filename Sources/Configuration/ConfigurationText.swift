internal import JSON

/// The text of a configuration file: JSON with comments and trailing commas.
///
/// Comments and trailing commas are replaced by spaces, so that byte offsets stay the same and the
/// strict JSON scanner can read the rest.
struct ConfigurationText {
  /// The original bytes of the file.
  private let bytes: [UInt8]

  /// The byte offset of each line start.
  private let lines: [Int]

  /// The file as strict JSON; empty if the file contains only whitespace and comments.
  let json: [UInt8]

  /// Replaces comments and trailing commas by spaces.
  ///
  /// - Throws: ``JSONFault`` for an unterminated comment.
  init(_ bytes: [UInt8]) throws(JSONFault) {
    self.bytes = bytes
    lines = Self.lines(of: bytes)
    var json = bytes
    var position = 0
    /// The offset of a comma that may turn out to be a trailing one; `nil` if there is none.
    var comma: Int?
    /// The last byte outside of whitespace and comments.
    var before = UInt8(ascii: "{")
    while position < bytes.count {
      let byte = bytes[position]
      switch byte {
      case UInt8(ascii: "/"):
        guard let end = try Self.endOfComment(bytes, at: position) else {
          (comma, before) = (nil, byte)
          position += 1
          continue
        }
        for i in position..<end where bytes[i] != UInt8(ascii: "\n") { json[i] = UInt8(ascii: " ") }
        position = end
      case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n"):
        position += 1
      case UInt8(ascii: "\""):
        position = Self.endOfString(bytes, at: position)
        (comma, before) = (nil, byte)
      case UInt8(ascii: ","):
        comma = Self.isOpening(before) ? nil : position
        before = byte
        position += 1
      default:
        if let comma, byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]") {
          json[comma] = UInt8(ascii: " ")
        }
        (comma, before) = (nil, byte)
        position += 1
      }
    }
    self.json = json.allSatisfy { $0 <= 0x20 } ? [] : json
  }

  /// Creates a text that is not parsed, only used to compute lines and columns.
  init(unfinished bytes: [UInt8]) {
    self.bytes = bytes
    lines = Self.lines(of: bytes)
    json = []
  }

  private static func lines(of bytes: [UInt8]) -> [Int] {
    [0] + bytes.indices.lazy.filter { bytes[$0] == UInt8(ascii: "\n") }.map { $0 + 1 }
  }

  /// Whether a comma after this byte is a syntax error.
  private static func isOpening(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") || byte == UInt8(ascii: ",")
  }

  /// Returns the end of a comment that begins at a slash; `nil` if no comment begins there.
  private static func endOfComment(_ bytes: [UInt8], at start: Int) throws(JSONFault) -> Int? {
    guard start + 1 < bytes.count else { return nil }
    switch bytes[start + 1] {
    case UInt8(ascii: "/"): return bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
    case UInt8(ascii: "*"):
      var position = start + 2
      while position + 1 < bytes.count {
        if bytes[position] == UInt8(ascii: "*"), bytes[position + 1] == UInt8(ascii: "/") {
          return position + 2
        }
        position += 1
      }
      throw JSONFault(offset: start, reason: .unexpectedEnd)
    default: return nil
    }
  }

  /// Returns the offset after a string that begins at a quote.
  ///
  /// For an unterminated string, that is the end of the text.
  private static func endOfString(_ bytes: [UInt8], at start: Int) -> Int {
    var position = start + 1
    while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
      position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
    }
    return min(position + 1, bytes.count)
  }

  /// Returns the line and the column of a byte, counted from 1.
  func place(of offset: Int) -> (line: Int, column: Int) {
    var (low, high) = (0, lines.count)
    while high - low > 1 {
      let middle = (low + high) / 2
      if lines[middle] <= offset { low = middle } else { high = middle }
    }
    let characters = bytes[lines[low]..<min(offset, bytes.count)].count { $0 & 0xC0 != 0x80 }
    return (low + 1, characters + 1)
  }
}
