/// The rules for the names of sources and streams.
package enum SourceName {
  /// Bytes of a name.
  package static let maxBytes = 200

  /// Segments of a name.
  package static let maxSegments = 8

  /// Why something is no name; `nil` when it is one: 1 to 8 segments of `[A-Za-z0-9_.:-]` with `/`
  /// between them, 200 bytes at most.
  package static func fault(in name: String) -> String? {
    let count = name.utf8.count
    guard count > 0 else { return "a name is not empty" }
    guard count <= maxBytes else { return "a name has at most \(maxBytes) bytes" }
    var segments = 1
    var isEmpty = true
    for byte in name.utf8 {
      if byte == UInt8(ascii: "/") {
        if isEmpty { return "a segment of a name is not empty" }
        segments += 1
        isEmpty = true
      } else if isNameByte(byte) {
        isEmpty = false
      } else {
        return "a name is made of A-Z a-z 0-9 _ . : - and /"
      }
    }
    if isEmpty { return "a segment of a name is not empty" }
    return segments <= maxSegments ? nil : "a name has at most \(maxSegments) segments"
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "."),
      UInt8(ascii: ":"), UInt8(ascii: "-"):
      true
    default: false
    }
  }
}
