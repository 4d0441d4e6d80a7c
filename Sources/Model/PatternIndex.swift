internal import JSON

/// A dictionary from patterns to values, searchable by the names that the patterns match.
///
/// It is a tree of segments. The cost of a lookup depends on the segments of the name and on the
/// results, not on the number of patterns.
public final class PatternIndex<Value> {
  private final class Node {
    /// The next nodes, by the number of a segment in ``segments``.
    var literals: [Int: Node] = [:]
    var star: Node?

    /// The value of the pattern that ends at this node.
    var value: Value?

    /// The value of the pattern that ends at this node with `**`.
    var rest: Value?

    var isEmpty: Bool { literals.isEmpty && star == nil && value == nil && rest == nil }
  }

  private let root = Node()
  private let separator: UInt8

  /// The literal segments of all patterns: most names are recognized without a copy.
  private let segments = Names()

  /// The number of nodes that each segment leads to, by its number.
  private var uses = NumberMap(empty: 0)

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
          guard let next = segments.number(of: String(segment)).flatMap({ node.literals[$0] })
          else { return nil }
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
      let number = self.segments.add(String(segment))
      let before = node.literals[number]
      if let next = before ?? (value == nil ? nil : Node()) {
        set(value, at: segments.dropFirst(), in: next)
        node.literals[number] = next.isEmpty ? nil : next
      }
      uses[number] += (node.literals[number] == nil ? 0 : 1) - (before == nil ? 0 : 1)
      if uses[number] == 0 { self.segments.release(number) }
    }
  }

  /// Returns whether a pattern matches a name.
  public func hasMatch(for name: Span<UInt8>) -> Bool {
    var isFound = false
    forEachMatch(for: name) { _ in isFound = true }
    return isFound
  }

  /// Calls `body` with the value of each pattern that matches a name.
  public func forEachMatch(for name: Span<UInt8>, _ body: (Value) -> Void) {
    guard count > 0 else { return }
    match(name, from: 0, in: root, body)
  }

  /// Calls `body` with the value of each pattern that matches the rest of a name.
  ///
  /// - Parameter start: The offset of the rest.
  private func match(
    _ name: Span<UInt8>, from start: Int, in node: Node, _ body: (Value) -> Void
  ) {
    // A `**` matches one byte at least, as in ``Pattern/matches(_:)``.
    if let rest = node.rest, start < name.count { body(rest) }
    guard !node.literals.isEmpty || node.star != nil else { return }
    var end = start
    while end < name.count, name[end] != separator { end += 1 }
    // A `*` does not match an empty segment.
    guard end > start else { return }
    func goOn(in next: Node) {
      if end < name.count {
        match(name, from: end + 1, in: next, body)
      } else if let value = next.value {
        body(value)
      }
    }
    if !node.literals.isEmpty, let number = segments.number(of: name.extracting(start..<end)),
      let next = node.literals[number]
    {
      goOn(in: next)
    }
    if let star = node.star { goOn(in: star) }
  }
}
