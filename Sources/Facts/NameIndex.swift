/// An index of names by number of segments, searchable by pattern or by prefix.
///
/// The cost of a search is proportional to its results if the pattern begins with literal segments.
/// Behind a wildcard, every name that matches so far is checked; ``maxVain`` bounds that work.
///
/// Names are ASCII, so strings and bytes sort alike.
public struct NameIndex: Sendable {
  /// The most non-matching names that a search may check.
  public static let maxVain = 10_000

  /// An error for a search that would check more than ``maxVain`` non-matching names.
  public struct TooVain: Error {}

  /// The names with one segment, with two, and so on.
  private var byDepth: [SortedNames] = []

  /// Creates an empty index.
  public init() {}

  /// - Parameter names: Names in any order, without duplicates.
  public init(_ names: some Sequence<String>) {
    var byDepth: [[String]] = []
    for name in names {
      let depth = Self.depth(of: name)
      while byDepth.count <= depth { byDepth.append([]) }
      byDepth[depth].append(name)
    }
    self.byDepth = byDepth.map { SortedNames(sorting: $0) }
  }

  /// The number of names.
  public var count: Int { byDepth.reduce(0) { $0 + $1.count } }

  /// Inserts a name, unless it exists.
  public mutating func insert(_ name: String) {
    let depth = Self.depth(of: name)
    while byDepth.count <= depth { byDepth.append(SortedNames(sorting: [])) }
    byDepth[depth].insert(name)
  }

  /// Removes a name if it exists.
  public mutating func remove(_ name: String) {
    let depth = Self.depth(of: name)
    if depth < byDepth.count { byDepth[depth].remove(name) }
  }

  /// Returns the number of separators in a name.
  private static func depth(of name: String) -> Int {
    name.utf8.reduce(0) { $0 + ($1 == UInt8(ascii: "/") ? 1 : 0) }
  }

  // MARK: Searching

  /// Calls `body` with each name that matches a pattern, until `body` returns `false`.
  ///
  /// Names with fewer segments come first. Names with as many segments are sorted.
  ///
  /// - Parameter excluded: Patterns whose names are skipped.
  /// - Throws: ``TooVain`` if too many names had to be checked.
  public func search(
    _ pattern: Pattern, without excluded: [Pattern] = [], _ body: (String) -> Bool
  ) throws(TooVain) {
    let depth = pattern.segments.count - 1
    let end = pattern.isOpen ? max(depth, byDepth.count) : depth + 1
    var search = Search(pattern, without: excluded)
    for depth in depth..<end where depth < byDepth.count {
      guard try search.run(byDepth[depth], depth, body) else { return }
    }
  }

  /// Calls `body` with each name that has a prefix, until `body` returns `false`.
  ///
  /// Names with fewer segments come first. Names with as many segments are sorted.
  public func search(withPrefix prefix: String, _ body: (String) -> Bool) {
    for names in byDepth {
      var cursor = names.cursor(at: prefix)
      while let name = names[cursor], name.utf8.starts(with: prefix.utf8) {
        guard body(name) else { return }
        cursor = names.next(after: cursor)
      }
    }
  }

  /// Returns up to `count` names on each side of the position of `name`, among those with as many
  /// segments.
  public func neighbours(of name: String, count: Int) -> [String] {
    let depth = Self.depth(of: name)
    guard depth < byDepth.count else { return [] }
    return byDepth[depth].neighbours(of: name, count: count)
  }

  /// A search for one pattern.
  private struct Search {
    private let segments: [Substring]
    private let excluded: [Pattern]

    /// The literal segments before the first wildcard, with a trailing separator if more follow.
    private let prefix: String
    private var vain = 0

    init(_ pattern: Pattern, without excluded: [Pattern]) {
      segments = pattern.segments
      self.excluded = excluded
      let literal = segments.prefix { $0 != "*" && $0 != "**" }
      let isWhole = literal.count == segments.count
      prefix = literal.joined(separator: "/") + (isWhole || literal.isEmpty ? "" : "/")
    }

    /// Searches the names with one number of segments.
    ///
    /// - Parameter depth: The number of separators in each name.
    /// - Returns: Whether the search continues with other names; `false` if `body` stopped it.
    mutating func run(
      _ names: borrowing SortedNames, _ depth: Int, _ body: (String) -> Bool
    ) throws(TooVain) -> Bool {
      var cursor = names.cursor(at: prefix)
      while let name = names[cursor], name.utf8.starts(with: prefix.utf8) {
        if let target = firstCandidate(from: name, depth) ?? firstBehindExcluded(name) {
          vain += 1
          guard vain <= NameIndex.maxVain else { throw TooVain() }
          cursor = names.cursor(at: target)
        } else {
          guard body(name) else { return false }
          cursor = names.next(after: cursor)
        }
      }
      return true
    }

    /// Returns the first position behind `name` at which a match is possible, or `nil` if `name`
    /// matches.
    private func firstCandidate(from name: String, _ depth: Int) -> String? {
      let bytes = name.utf8
      var start = bytes.startIndex
      for (i, wanted) in segments.enumerated() {
        if wanted == "**" { return nil }
        let end = bytes[start...].firstIndex(of: separator) ?? bytes.endIndex
        if wanted != "*", !bytes[start..<end].elementsEqual(wanted.utf8) {
          let parent = String(Substring(bytes[..<start]))
          // The wanted segment may still follow below the same parent; otherwise skip the parent.
          let target = parent + wanted + (i < depth ? "/" : "")
          return name < target ? target : Self.behind(parent)
        }
        start = end == bytes.endIndex ? end : bytes.index(after: end)
      }
      return nil
    }

    /// Returns the first position behind the excluded pattern that matches `name`, or `nil` if none
    /// does.
    private func firstBehindExcluded(_ name: String) -> String? {
      guard let pattern = excluded.first(where: { $0.matches(name) }) else { return nil }
      guard pattern.isOpen else { return name + "\u{0}" }
      let fixed = pattern.segments.count - 1
      guard fixed > 0 else { return Self.last }
      let parent = name.split(separator: "/", omittingEmptySubsequences: false).prefix(fixed)
      return Self.behind(parent.joined(separator: "/") + "/")
    }

    /// Returns the first position behind all names below a parent, which ends with its separator.
    private static func behind(_ parent: String) -> String {
      parent.isEmpty ? last : parent.dropLast() + "0"  // "0" follows "/" in ASCII
    }

    /// A position behind every name.
    private static let last = "\u{7f}"
    private let separator = UInt8(ascii: "/")
  }
}
