/// Which sources or types are meant: `*` stands for one segment, `**` as the last one for the rest.
public struct Pattern: Hashable, Sendable {
  /// The pattern as it was written.
  public let text: String

  /// Whether it is no pattern but the name of one thing.
  public let isLiteral: Bool

  private let separator: Character
  private let segments: [Substring]
  private let isOpen: Bool

  /// A pattern; `nil` when a segment is empty or a `*` stands beside other characters, or a `**`
  /// before the end.
  ///
  /// - Parameter separator: What stands between segments.
  public init?(_ text: String, separator: Character = "/") {
    var segments = text.split(separator: separator, omittingEmptySubsequences: false)
    isOpen = segments.last == "**"
    if isOpen { segments.removeLast() }
    for segment in segments where segment.isEmpty || segment.contains("*") && segment != "*" {
      return nil
    }
    guard !text.isEmpty else { return nil }
    self.text = text
    self.separator = separator
    self.segments = segments
    isLiteral = !isOpen && !segments.contains("*")
  }

  /// The first segment, when it is no wildcard.
  public var first: String? {
    guard let first = segments.first, first != "*" else { return nil }
    return String(first)
  }

  /// Whether a name is meant.
  ///
  /// - Complexity: O(*n*) in the name, without allocating.
  public func matches(_ name: String) -> Bool {
    if isLiteral { return name == text }
    var rest = name[...]
    for (i, segment) in segments.enumerated() {
      let end = rest.firstIndex(of: separator) ?? rest.endIndex
      guard end > rest.startIndex, segment == "*" || segment == rest[..<end] else { return false }
      guard end < rest.endIndex else { return i == segments.count - 1 && !isOpen }
      rest = rest[rest.index(after: end)...]
    }
    return isOpen ? !rest.isEmpty : rest.isEmpty
  }
}
