/// A set of pointers that are all looked up in one pass over a text.
public final class JSONPointerSet {
  private final class Node {
    var members: [String: Node] = [:]
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
      let next = node.members[token.name] ?? Node()
      node.members[token.name] = next
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
    guard let next = node.members[token.name] else { return }
    remove(tokens.dropFirst(), from: next)
    guard next.isLeaf, next.ends == nil else { return }
    node.members[token.name] = nil
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
    var scanner = JSONScanner(kept: value.text.utf8.span)
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
      if let next = node.members[scanner.text(key)] {
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
