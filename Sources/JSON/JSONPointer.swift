/// A JSON Pointer (RFC 6901): `/a/0` is the first element of the member `a`; empty is the whole
/// value.
///
/// ```swift
/// let seven = JSONPointer("/a/0")?.find(in: try JSONText(parsing: #"{"a":[7]}"#))
/// ```
public struct JSONPointer: Sendable {
  struct Token {
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
    var scanner = JSONScanner(trusted: bytes, at: start)
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

extension JSONPointer: Hashable {
  /// Returns whether the texts have the same bytes.
  public static func == (left: Self, right: Self) -> Bool { left.text.hasSameBytes(as: right.text) }

  /// Hashes the text.
  public func hash(into hasher: inout Hasher) { text.hash(into: &hasher) }
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

/// A set of pointers that are all looked up in one pass over a text.
public final class JSONPointerSet {
  private final class Node {
    var members: [ExactText: Node] = [:]
    var elements: [Int: Node] = [:]

    /// The pointer that ends here, and the number of its insertions.
    var ends: (pointer: JSONPointer, count: Int)?

    var isLeaf: Bool { members.isEmpty && elements.isEmpty }
  }

  private let root = Node()

  /// The number of different pointers.
  public private(set) var count = 0

  /// Creates an empty set.
  public init() {}

  /// Inserts a pointer.
  ///
  /// Each insertion needs its own ``remove(_:)``.
  public func insert(_ pointer: JSONPointer) {
    var node = root
    for token in pointer.tokens {
      // A numeric token may also be the name of a member.
      let name = ExactText(token.name)
      let next = node.members[name] ?? Node()
      node.members[name] = next
      if let index = token.index { node.elements[index] = next }
      node = next
    }
    if node.ends == nil { count += 1 }
    node.ends = (pointer, (node.ends?.count ?? 0) + 1)
  }

  /// Removes one insertion of a pointer.
  public func remove(_ pointer: JSONPointer) {
    remove(pointer.tokens[...], from: root)
  }

  private func remove(_ tokens: ArraySlice<JSONPointer.Token>, from node: Node) {
    guard let token = tokens.first else {
      guard let ends = node.ends else { return }
      node.ends = ends.count > 1 ? (ends.pointer, ends.count - 1) : nil
      if node.ends == nil { count -= 1 }
      return
    }
    let name = ExactText(token.name)
    guard let next = node.members[name] else { return }
    remove(tokens.dropFirst(), from: next)
    guard next.isLeaf, next.ends == nil else { return }
    node.members[name] = nil
    if let index = token.index { node.elements[index] = nil }
  }

  /// Returns the range in the text of each pointer's value.
  ///
  /// Pointers without a value are left out. See ``JSONPointer/find(in:)``.
  ///
  /// - Complexity: O(*n*) in the length of the text and the number of values found, however many
  ///   pointers there are.
  public func places(in value: JSONText) -> [JSONPointer: Range<Int>] {
    var places: [JSONPointer: Range<Int>] = [:]
    var scanner = JSONScanner(trusted: value.text.utf8.span)
    try? visit(root, &scanner, &places)
    return places
  }

  private func visit(
    _ node: Node, _ scanner: inout JSONScanner, _ places: inout [JSONPointer: Range<Int>]
  ) throws(JSONFault) {
    scanner.skipWhitespace()
    let start = scanner.position
    if node.isLeaf {
      _ = try scanner.value()
    } else {
      switch try scanner.kind() {
      case .object: try visitMembers(of: node, &scanner, &places)
      case .array: try visitElements(of: node, &scanner, &places)
      case .null, .bool, .number, .string: _ = try scanner.value()
      }
    }
    if let pointer = node.ends?.pointer { places[pointer] = start..<scanner.position }
  }

  private func visitMembers(
    of node: Node, _ scanner: inout JSONScanner, _ places: inout [JSONPointer: Range<Int>]
  ) throws(JSONFault) {
    var seen: Set<ObjectIdentifier> = []
    var more = try scanner.enterObject()
    while more {
      let key = try scanner.key()
      if let next = node.members[ExactText(scanner.text(key))] {
        // If a name occurs twice, the last member counts.
        if !seen.insert(ObjectIdentifier(next)).inserted { forget(next, &places) }
        try visit(next, &scanner, &places)
      } else {
        _ = try scanner.value()
      }
      more = try scanner.nextMember()
    }
  }

  private func visitElements(
    of node: Node, _ scanner: inout JSONScanner, _ places: inout [JSONPointer: Range<Int>]
  ) throws(JSONFault) {
    var index = 0
    var more = try scanner.enterArray()
    while more {
      if let next = node.elements[index] {
        try visit(next, &scanner, &places)
      } else {
        _ = try scanner.value()
      }
      index += 1
      more = try scanner.nextElement()
    }
  }

  private func forget(_ node: Node, _ places: inout [JSONPointer: Range<Int>]) {
    if let pointer = node.ends?.pointer { places[pointer] = nil }
    for next in node.members.values { forget(next, &places) }
  }
}

extension JSONText {
  /// Returns the text at a range that is known to hold a value.
  public subscript(place: Range<Int>) -> JSONText {
    JSONText(trusted: String(validUTF8: text.utf8.span.extracting(place)))
  }
}
