internal import JSON
package import Signals

extension BindLimits {
  /// What clients and files may bind: a binding is run for each value, and kept by its text.
  package static let sources = BindLimits(bytes: 1024, transformers: 16)
}

extension JSONValue {
  /// Whether its text is longer than that; counted without making it, and no further than needed.
  func hasMoreBytes(than most: Int) -> Bool {
    var left = most
    takeBytes(from: &left)
    return left < 0
  }

  private func takeBytes(from left: inout Int) {
    guard left >= 0 else { return }
    switch self {
    case .null, .bool, .number: left -= text.text.utf8.count
    case .string(let string): left -= Self.bytes(of: string)
    case .array(let elements):
      left -= max(2, elements.count + 1)
      for element in elements where left >= 0 { element.takeBytes(from: &left) }
    case .object(let object):
      left -= max(2, object.members.count * 2 + 1)
      for member in object.members where left >= 0 {
        left -= Self.bytes(of: member.name)
        member.value.takeBytes(from: &left)
      }
    }
  }

  /// Bytes of a string in quotes and with escapes.
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
