/// Names in order, by how many segments they have: found by pattern or by how they begin.
///
/// A search costs what it finds, as long as what is wanted begins with segments that are no wildcards;
/// behind a wildcard it looks at each name that fits so far, which has an end: ``maxVain``.
///
/// Names are ASCII, so that the order of strings is that of their bytes.
public struct NameIndex: Sendable {
  /// Names that a search may look at without finding one.
  public static let maxVain = 10_000

  /// A search would have had to look at more than ``maxVain`` names in vain.
  public struct TooVain: Error {}

  /// The names of one segment, of two, and so on.
  private var byDepth: [SortedNames] = []

  /// No names.
  public init() {}

  /// - Parameter names: In any order, each once.
  public init(_ names: some Sequence<String>) {
    var byDepth: [[String]] = []
    for name in names {
      let depth = Self.depth(of: name)
      while byDepth.count <= depth { byDepth.append([]) }
      byDepth[depth].append(name)
    }
    self.byDepth = byDepth.map { SortedNames(sorting: $0) }
  }

  /// How many names there are.
  public var count: Int { byDepth.reduce(0) { $0 + $1.count } }

  /// Takes a name in that may be there already.
  public mutating func insert(_ name: String) {
    let depth = Self.depth(of: name)
    while byDepth.count <= depth { byDepth.append(SortedNames(sorting: [])) }
    byDepth[depth].insert(name)
  }

  /// Takes a name away that may not be there.
  public mutating func remove(_ name: String) {
    let depth = Self.depth(of: name)
    if depth < byDepth.count { byDepth[depth].remove(name) }
  }

  /// How many separators a name has.
  private static func depth(of name: String) -> Int {
    name.utf8.reduce(0) { $0 + ($1 == UInt8(ascii: "/") ? 1 : 0) }
  }

  // MARK: Finding

  /// Calls `body` with the names that a pattern means, ordered within each number of segments, until
  /// it returns `false`.
  ///
  /// - Parameter excluded: Patterns whose names are passed over.
  /// - Throws: ``TooVain``.
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

  /// Calls `body` with the names that begin so, ordered within each number of segments, until it
  /// returns `false`.
  public func search(withPrefix prefix: String, _ body: (String) -> Bool) {
    for names in byDepth {
      var cursor = names.cursor(at: prefix)
      while let name = names[cursor], name.utf8.starts(with: prefix.utf8) {
        guard body(name) else { return }
        cursor = names.next(after: cursor)
      }
    }
  }

  /// The names nearest to where a name would stand, some before and some behind it, of those that
  /// have as many segments.
  public func neighbours(of name: String, count: Int) -> [String] {
    let depth = Self.depth(of: name)
    guard depth < byDepth.count else { return [] }
    return byDepth[depth].neighbours(of: name, count: count)
  }

  /// One search for a pattern.
  private struct Search {
    private let segments: [Substring]
    private let excluded: [Pattern]

    /// The segments before the first wildcard, and what stands behind them.
    private let prefix: String
    private var vain = 0

    init(_ pattern: Pattern, without excluded: [Pattern]) {
      segments = pattern.segments
      self.excluded = excluded
      let literal = segments.prefix { $0 != "*" && $0 != "**" }
      let isWhole = literal.count == segments.count
      prefix = literal.joined(separator: "/") + (isWhole || literal.isEmpty ? "" : "/")
    }

    /// - Parameter depth: How many separators each of the names has.
    /// - Returns: Whether it goes on with other names.
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

    /// Where the first name stands that may be meant, when that is behind a name; `nil` when the name
    /// is meant.
    private func firstCandidate(from name: String, _ depth: Int) -> String? {
      let bytes = name.utf8
      var start = bytes.startIndex
      for (i, wanted) in segments.enumerated() {
        if wanted == "**" { return nil }
        let end = bytes[start...].firstIndex(of: separator) ?? bytes.endIndex
        if wanted != "*", !bytes[start..<end].elementsEqual(wanted.utf8) {
          let parent = String(Substring(bytes[..<start]))
          // The wanted segment is still to come below the same parent, or the parent is done with.
          let target = parent + wanted + (i < depth ? "/" : "")
          return name < target ? target : Self.behind(parent)
        }
        start = end == bytes.endIndex ? end : bytes.index(after: end)
      }
      return nil
    }

    /// The first place behind those that are passed over with a name; `nil` when it is wanted.
    private func firstBehindExcluded(_ name: String) -> String? {
      guard let pattern = excluded.first(where: { $0.matches(name) }) else { return nil }
      guard pattern.isOpen else { return name + "\u{0}" }
      let fixed = pattern.segments.count - 1
      guard fixed > 0 else { return Self.last }
      let parent = name.split(separator: "/", omittingEmptySubsequences: false).prefix(fixed)
      return Self.behind(parent.joined(separator: "/") + "/")
    }

    /// The first place behind all that begins with a parent and its separator.
    private static func behind(_ parent: String) -> String {
      parent.isEmpty ? last : parent.dropLast() + "0"  // which follows the separator
    }

    /// Behind every name.
    private static let last = "\u{7f}"
    private let separator = UInt8(ascii: "/")
  }
}
