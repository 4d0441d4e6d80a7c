internal import JSON
package import Signals

extension BindLimits {
  /// Limits for bindings made by clients and files.
  ///
  /// Each binding runs for every value, and its text is stored.
  package static let sources = BindLimits(bytes: 1024, transformers: 16)
}

extension JSONValue {
  /// The estimated bytes of memory that the value takes.
  package var memory: Int {
    switch self {
    case .null, .bool, .number: 32
    case .string(let string): 32 + string.utf8.count
    case .array(let elements): elements.reduce(32) { $0 + $1.memory }
    case .object(let object):
      object.members.reduce(32) { $0 + 32 + $1.name.utf8.count + $1.value.memory }
    }
  }

  /// Returns whether the JSON text is longer than `most` bytes, without building the text.
  ///
  /// Stops counting once the limit is exceeded.
  package func hasMoreBytes(than most: Int) -> Bool {
    var left = most
    subtractBytes(from: &left)
    return left < 0
  }

  private func subtractBytes(from left: inout Int) {
    guard left >= 0 else { return }
    switch self {
    case .null, .bool, .number: left -= text.text.utf8.count
    case .string(let string): left -= Self.bytes(of: string)
    case .array(let elements):
      left -= max(2, elements.count + 1)
      for element in elements where left >= 0 { element.subtractBytes(from: &left) }
    case .object(let object):
      left -= max(2, object.members.count * 2 + 1)
      for member in object.members where left >= 0 {
        left -= Self.bytes(of: member.name)
        member.value.subtractBytes(from: &left)
      }
    }
  }

  /// Returns the length of a string as JSON, with quotes and escapes, in bytes.
  static func bytes(of string: String) -> Int {
    var bytes = 2
    for byte in string.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"), 0x08, 0x09, 0x0A, 0x0C, 0x0D: bytes += 2
      case ..<0x20: bytes += 6
      default: bytes += 1
      }
    }
    return bytes
  }
}
