internal import JSON

/// An index of the names of a table by number of segments, searchable by pattern or by prefix.
///
/// It keeps only the numbers of the names; all functions take the list of the names.
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
  private var byDepth: [SortedNumbers] = []

  /// Creates an empty index.
  public init() {}

  /// - Parameter numbers: The numbers of names in any order, without duplicates.
  public init(_ numbers: some Sequence<Int>, in list: NameList) {
    var byDepth: [ContiguousArray<UInt32>] = []
    for number in numbers {
      let depth = Self.depth(of: list[number])
      while byDepth.count <= depth { byDepth.append([]) }
      byDepth[depth].append(UInt32(number))
    }
    self.byDepth = byDepth.map { SortedNumbers(sorting: $0, in: list) }
  }

  /// The number of names.
  public var count: Int { byDepth.reduce(0) { $0 + $1.count } }

  /// Inserts a name, unless it exists.
  public mutating func insert(_ number: Int, in list: NameList) {
    let depth = Self.depth(of: list[number])
    while byDepth.count <= depth { byDepth.append(SortedNumbers(sorting: [], in: list)) }
    byDepth[depth].insert(number, in: list)
  }

  /// Removes a name if it exists; the list must still have it.
  public mutating func remove(_ number: Int, in list: NameList) {
    let depth = Self.depth(of: list[number])
    if depth < byDepth.count { byDepth[depth].remove(number, in: list) }
  }

  /// Returns the number of separators in a name.
  private static func depth(of name: Span<UInt8>) -> Int {
    var depth = 0
    for i in name.indices where name[i] == UInt8(ascii: "/") { depth += 1 }
    return depth
  }

  // MARK: Searching

  /// Calls `body` with each name that matches a pattern, until `body` returns `false`.
  ///
  /// Names with fewer segments come first. Names with as many segments are sorted.
  ///
  /// - Parameters:
  ///   - excluded: Patterns whose names are skipped.
  ///   - place: Where the search begins, and where it was stopped. Names may come and go before it goes
  ///     on there.
  /// - Throws: ``TooVain`` if too many names had to be checked.
  public func search(
    _ pattern: Pattern, without excluded: [Pattern] = [], in list: NameList,
    from place: inout SearchPlace, _ body: (String) -> Bool
  ) throws(TooVain) {
    let depth = pattern.segments.count - 1
    let end = pattern.isOpen ? max(depth, byDepth.count) : depth + 1
    var search = Search(pattern, without: excluded)
    for depth in max(depth, place.depth)..<max(end, place.depth) where depth < byDepth.count {
      guard try search.run(byDepth[depth], depth, list, &place, body) else { return }
      place.begin(depth: depth + 1)
    }
  }

  /// Calls `body` with each name that has a prefix, until `body` returns `false`.
  ///
  /// Names with fewer segments come first. Names with as many segments are sorted.
  ///
  /// - Parameter place: See ``search(_:without:in:from:_:)``.
  public func search(
    withPrefix prefix: String, in list: NameList, from place: inout SearchPlace,
    _ body: (String) -> Bool
  ) {
    let prefix = prefix.utf8.span
    for depth in min(place.depth, byDepth.count)..<byDepth.count {
      let names = byDepth[depth]
      var cursor = place.cursor(in: names, list, from: prefix)
      while let number = names[cursor], list[number].hasPrefix(prefix) {
        let name = list.text(number)
        guard body(name) else { return place.stop(behind: name) }
        cursor = names.next(after: cursor)
      }
      place.begin(depth: depth + 1)
    }
  }

  /// Returns up to `count` names on each side of the position of `name`, among those with as many
  /// segments.
  public func neighbours(of name: String, count: Int, in list: NameList) -> [String] {
    let depth = Self.depth(of: name.utf8.span)
    guard depth < byDepth.count else { return [] }
    return byDepth[depth].neighbours(of: name.utf8.span, count: count, in: list).map(list.text)
  }

  /// A search for one pattern.
  private struct Search {
    private let pattern: Pattern
    private let segments: [Substring]
    private let excluded: [Pattern]

    /// The literal segments before the first wildcard, with a trailing separator if more follow.
    private let prefix: String

    init(_ pattern: Pattern, without excluded: [Pattern]) {
      self.pattern = pattern
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
      _ names: borrowing SortedNumbers, _ depth: Int, _ list: NameList,
      _ place: inout SearchPlace, _ body: (String) -> Bool
    ) throws(TooVain) -> Bool {
      let prefix = prefix.utf8.span
      var cursor = place.cursor(in: names, list, from: prefix)
      while let number = names[cursor], list[number].hasPrefix(prefix) {
        let name = list.text(number)
        let isMatch = pattern.matches(list[number])
        let target = isMatch ? firstBehindExcluded(name) : firstCandidate(from: name, depth)
        if let target {
          place.vain += 1
          guard place.vain <= NameIndex.maxVain else { throw TooVain() }
          cursor = names.cursor(at: target.utf8.span, in: list)
        } else {
          guard body(name) else {
            place.stop(behind: name)
            return false
          }
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

/// The place at which a search of names was stopped, and from which it goes on.
public struct SearchPlace: Sendable {
  /// The number of separators of the names that are searched.
  fileprivate private(set) var depth = 0

  /// The first name that was not found yet; `nil` before the first of these names.
  fileprivate private(set) var name: String?

  /// The names that were checked and did not match, so far.
  fileprivate var vain = 0

  /// The number of the search, for those that search several times.
  public private(set) var part = 0

  /// Creates the begin of a search.
  public init() {}

  /// Returns the cursor of the next name that begins with a prefix.
  fileprivate func cursor(
    in names: borrowing SortedNumbers, _ list: NameList, from prefix: Span<UInt8>
  ) -> SortedNumbers.Cursor {
    if let name { return names.cursor(at: name.utf8.span, in: list) }
    return names.cursor(at: prefix, in: list)
  }

  fileprivate mutating func begin(depth: Int) { (self.depth, name) = (depth, nil) }

  fileprivate mutating func stop(behind name: String) { self.name = name + "\u{0}" }

  /// Begins the search with a number, unless that was done.
  public mutating func begin(part: Int) {
    guard part > self.part else { return }
    self.part = part
    begin(depth: 0)
  }
}
