/// A dictionary from patterns to values, searchable by the names that the patterns match.
///
/// It is a tree of segments. The cost of a lookup depends on the segments of the name and on the
/// results, not on the number of patterns.
public final class PatternIndex<Value> {
  private final class Node {
    var literals: [String: Node] = [:]
    var star: Node?

    /// The value of the pattern that ends at this node.
    var value: Value?

    /// The value of the pattern that ends at this node with `**`.
    var rest: Value?

    var isEmpty: Bool { literals.isEmpty && star == nil && value == nil && rest == nil }
  }

  private let root = Node()
  private let separator: UInt8

  /// The number of patterns.
  public private(set) var count = 0

  /// - Parameter separator: The ASCII character between segments.
  public init(separator: Unicode.Scalar = "/") {
    self.separator = UInt8(ascii: separator)
  }

  /// Whether the index has no patterns.
  public var isEmpty: Bool { count == 0 }

  /// The value of a pattern; `nil` if there is none.
  ///
  /// Setting `nil` removes the pattern.
  public subscript(pattern: Pattern) -> Value? {
    get {
      var node = root
      for segment in pattern.segments {
        switch segment {
        case "**": return node.rest
        case "*":
          guard let star = node.star else { return nil }
          node = star
        default:
          guard let next = node.literals[String(segment)] else { return nil }
          node = next
        }
      }
      return node.value
    }
    set {
      set(newValue, at: pattern.segments[...], in: root)
    }
  }

  private func set(_ value: Value?, at segments: ArraySlice<Substring>, in node: Node) {
    guard let segment = segments.first else {
      count += (value == nil ? 0 : 1) - (node.value == nil ? 0 : 1)
      node.value = value
      return
    }
    switch segment {
    case "**":
      count += (value == nil ? 0 : 1) - (node.rest == nil ? 0 : 1)
      node.rest = value
    case "*":
      guard let star = node.star ?? (value == nil ? nil : Node()) else { return }
      set(value, at: segments.dropFirst(), in: star)
      node.star = star.isEmpty ? nil : star
    default:
      let name = String(segment)
      guard let next = node.literals[name] ?? (value == nil ? nil : Node()) else { return }
      set(value, at: segments.dropFirst(), in: next)
      node.literals[name] = next.isEmpty ? nil : next
    }
  }

  /// Returns whether a pattern matches a name.
  public func hasMatch(for name: String) -> Bool {
    var isFound = false
    forEachMatch(for: name) { _ in isFound = true }
    return isFound
  }

  /// Calls `body` with the value of each pattern that matches a name.
  public func forEachMatch(for name: String, _ body: (Value) -> Void) {
    guard count > 0 else { return }
    match(name.utf8[...], in: root, body)
  }

  private func match(_ name: Substring.UTF8View, in node: Node, _ body: (Value) -> Void) {
    // A `**` matches one byte at least, as in ``Pattern/matches(_:)``.
    if let rest = node.rest, !name.isEmpty { body(rest) }
    guard !node.literals.isEmpty || node.star != nil else { return }
    let end = name.firstIndex(of: separator)
    let segment = name[..<(end ?? name.endIndex)]
    // A `*` does not match an empty segment.
    guard !segment.isEmpty else { return }
    let rest = end.map { name[name.index(after: $0)...] }
    func goOn(in next: Node) {
      if let rest {
        match(rest, in: next, body)
      } else if let value = next.value {
        body(value)
      }
    }
    if !node.literals.isEmpty, let next = node.literals[String(Substring(segment))] {
      goOn(in: next)
    }
    if let star = node.star { goOn(in: star) }
  }
}
