/// The elements of an array or the members of an object, decoded a few at a time.
///
/// A long value is decoded in steps with it.
package struct JSONPartReader {
  private let text: JSONText

  /// The place of the next element; `nil` at the end.
  private var next: Int?

  /// Whether the value is an array.
  package let isArray: Bool

  /// - Returns: `nil` if the text is neither an array nor an object.
  package init?(_ text: JSONText) {
    self.text = text
    let bytes = text.text.utf8.span
    var scanner = JSONScanner(trusted: bytes)
    switch scanner.peek() {
    case UInt8(ascii: "["): isArray = true
    case UInt8(ascii: "{"): isArray = false
    default: return nil
    }
    guard let hasMore = try? isArray ? scanner.enterArray() : scanner.enterObject() else {
      return nil
    }
    next = hasMore ? scanner.position : nil
  }

  /// Whether all elements were decoded.
  package var isAtEnd: Bool { next == nil }

  /// Decodes the next elements.
  ///
  /// - Parameters:
  ///   - count: The most elements to decode.
  ///   - receive: Gets the name of a member, and the value.
  package mutating func read(atMost count: Int, _ receive: (String?, JSONValue) -> Void) {
    guard let start = next else { return }
    guard let end = try? read(from: start, atMost: count, receive) else {
      preconditionFailure("a text that was scanned does not scan")
    }
    next = end < text.text.utf8.count ? end : nil
  }

  /// - Returns: The place of the next element, or the end of the text.
  private func read(
    from start: Int, atMost count: Int, _ receive: (String?, JSONValue) -> Void
  ) throws(JSONFault) -> Int {
    let bytes = text.text.utf8.span
    var scanner = JSONScanner(trusted: bytes, at: start)
    for _ in 0..<count {
      let name = isArray ? nil : scanner.text(try scanner.key())
      receive(name, try JSONValue.read(&scanner))
      let hasMore = isArray ? try scanner.nextElement() : try scanner.nextMember()
      guard hasMore else { return bytes.count }
    }
    return scanner.position
  }
}
