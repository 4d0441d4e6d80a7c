/// A JSON Pointer (RFC 6901): `/a/0` is the first element of the member `a`; empty is the whole
/// value.
///
/// ```swift
/// JSONPointer("/a/0")?.find(in: try JSONText(parsing: #"{"a":[7]}"#))  // 7
/// ```
public struct JSONPointer: Hashable, Sendable {
  struct Token: Hashable {
    let name: String

    /// The token as an array index; `nil` if it is not one.
    let index: Int?
  }

  /// The pointer as it was written.
  public let text: String

  /// The tokens, outermost first.
  let tokens: [Token]

  /// The pointer to the whole value.
  public static let root = JSONPointer(text: "", tokens: [])

  private init(text: String, tokens: [Token]) {
    (self.text, self.tokens) = (text, tokens)
  }

  /// Creates a pointer from a text.
  ///
  /// Returns `nil` if the text neither is empty nor begins with `/`, or if a `~` is not followed by
  /// 0 or 1.
  public init?(_ text: String) {
    var tokens: [Token] = []
    for part in text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
      guard let name = Self.name(part) else { return nil }
      tokens.append(Token(name: name, index: Self.index(part)))
    }
    guard tokens.first?.name.isEmpty ?? true else { return nil }
    self.text = text
    self.tokens = Array(tokens.dropFirst())
  }

  private static func name(_ part: Substring.UTF8View) -> String? {
    var name: [UInt8] = []
    var rest = part
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "~") else {
        name.append(byte)
        continue
      }
      switch rest.popFirst() {
      case UInt8(ascii: "0"): name.append(UInt8(ascii: "~"))
      case UInt8(ascii: "1"): name.append(UInt8(ascii: "/"))
      default: return nil
      }
    }
    return String(decoding: name, as: UTF8.self)
  }

  private static func index(_ part: Substring.UTF8View) -> Int? {
    guard part.allSatisfy({ 0x30...0x39 ~= $0 }), part.count == 1 || part.first != 0x30 else {
      return nil
    }
    return Int(Substring(part))
  }

  /// Returns the value at this pointer, or `nil` if there is none.
  ///
  /// If an object has several members with the same name, the last one counts.
  ///
  /// - Complexity: O(*n*) in the length of the text. Skipped values are not copied.
  public func find(in value: JSONText) -> JSONText? {
    if tokens.isEmpty { return value }
    let bytes = value.text.utf8.span
    var place = 0..<bytes.count
    for token in tokens {
      guard let next = try? Self.child(token, at: place.lowerBound, in: bytes) else { return nil }
      place = next
    }
    return JSONText(trusted: String(validUTF8: bytes.extracting(place)))
  }

  private static func child(
    _ token: Token, at start: Int, in bytes: Span<UInt8>
  ) throws(JSONFault) -> Range<Int>? {
    var scanner = JSONScanner(kept: bytes, at: start)
    switch try scanner.kind() {
    case .object: return try member(token.name, &scanner)
    case .array:
      return try token.index.flatMap { index throws(JSONFault) in
        try element(index, &scanner)
      }
    case .null, .bool, .number, .string: return nil
    }
  }

  private static func member(
    _ name: String, _ scanner: inout JSONScanner
  ) throws(JSONFault) -> Range<Int>? {
    var found: Range<Int>?
    var more = try scanner.enterObject()
    while more {
      let key = try scanner.key()
      let start = scanner.position
      _ = try scanner.value()
      if scanner.token(key, is: name) { found = start..<scanner.position }
      more = try scanner.nextMember()
    }
    return found
  }

  private static func element(
    _ index: Int, _ scanner: inout JSONScanner
  ) throws(JSONFault) -> Range<Int>? {
    var left = index
    var more = try scanner.enterArray()
    while more {
      let start = scanner.position
      _ = try scanner.value()
      if left == 0 { return start..<scanner.position }
      left -= 1
      more = try scanner.nextElement()
    }
    return nil
  }
}

extension JSONScanner {
  /// Returns whether a string token equals a text.
  fileprivate func token(_ token: StringToken, is text: String) -> Bool {
    if token.isEscaped { return self.text(token).utf8.elementsEqual(text.utf8) }
    let name = text.utf8.span
    guard token.end - token.start == name.count else { return false }
    for i in name.indices where bytes[token.start + i] != name[i] { return false }
    return true
  }
}
