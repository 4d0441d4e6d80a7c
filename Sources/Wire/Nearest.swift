/// Returns the name most similar to a misspelled one, or `nil` if more than a third of it differs.
///
/// If there is none, returns the shortest name that begins with it, if it has three bytes at least.
///
/// - Complexity: Bounded. Compares at most ``Nearest/maxNames`` names, and of each pair only a
///   short part between a common prefix and a common suffix.
public func nearest(to name: String, among names: some Sequence<String>) -> String? {
  let wanted = name.utf8.span
  guard wanted.count <= Nearest.maxBytes else { return nil }
  var search = Nearest(limit: min(Nearest.maxEdits, wanted.count / 3))
  var best: String?
  for candidate in names.prefix(Nearest.maxNames)
  where search.isNearer(wanted, candidate.utf8.span) { best = candidate }
  guard best == nil, wanted.count >= Nearest.minPrefix else { return best }
  return names.prefix(Nearest.maxNames).filter { $0.hasPrefix(name) }
    .min { ($0.utf8.count, $0) < ($1.utf8.count, $1) }
}

/// A search for the name with the smallest edit distance, with bounded work.
package struct Nearest {
  /// The largest edit distance of a suggestion.
  package static let maxEdits = 3

  /// The shortest beginning of a name that is completed, in bytes.
  package static let minPrefix = 3

  /// The most names to compare.
  package static let maxNames = 2000

  /// The longest name to look up, in bytes.
  package static let maxBytes = 200

  /// The most bytes to compare between the common prefix and the common suffix.
  package static let maxDifferentBytes = 32

  /// The most cells to compute in all edit tables together; this takes some tenths of a
  /// millisecond.
  package static let maxCells = 100_000

  /// The largest distance that is still nearer than the best so far; negative if none can be.
  package private(set) var limit: Int

  /// The number of cells computed so far.
  package private(set) var cells = 0

  // Three rows of the edit table. Each begins with a cell for the empty prefix.
  private var before = [Int](repeating: 0, count: maxDifferentBytes + 1)
  private var row = [Int](repeating: 0, count: maxDifferentBytes + 1)
  private var next = [Int](repeating: 0, count: maxDifferentBytes + 1)

  package init(limit: Int) {
    self.limit = limit
  }

  /// Whether the work limit is reached, so that no more names are compared.
  package var isExhausted: Bool { cells >= Self.maxCells }

  /// Returns whether a name is nearer than all previous ones.
  package mutating func isNearer(_ a: Span<UInt8>, _ b: Span<UInt8>) -> Bool {
    // Each edit changes the length by at most one.
    guard limit >= 0, !isExhausted, abs(a.count - b.count) <= limit else { return false }
    var (start, end) = (0, 0)
    let shorter = min(a.count, b.count)
    while start < shorter, a[start] == b[start] { start += 1 }
    while end < shorter - start, a[a.count - 1 - end] == b[b.count - 1 - end] { end += 1 }
    let (a, b) = (a.extracting(start..<a.count - end), b.extracting(start..<b.count - end))
    guard max(a.count, b.count) <= Self.maxDifferentBytes, let distance = distance(a, b) else {
      return false
    }
    limit = distance - 1
    return true
  }

  /// Returns the restricted Damerau-Levenshtein distance in bytes, or `nil` if it is above the
  /// limit.
  ///
  /// It counts insertions, deletions, substitutions and swaps of neighbours. No byte is edited
  /// twice.
  private mutating func distance(_ a: Span<UInt8>, _ b: Span<UInt8>) -> Int? {
    for k in 0...b.count { row[k] = k }
    for i in 0..<a.count {
      next[0] = i + 1
      var smallest = next[0]
      for k in 0..<b.count {
        var edits = min(row[k] + (a[i] == b[k] ? 0 : 1), row[k + 1] + 1, next[k] + 1)
        if i > 0, k > 0, a[i] == b[k - 1], a[i - 1] == b[k] {
          edits = min(edits, before[k - 1] + 1)
        }
        next[k + 1] = edits
        smallest = min(smallest, edits)
      }
      cells += b.count + 1
      // A swap reaches back two rows, so stop only after two rows above the limit.
      let wasFar = i > 0 && !row[0...b.count].contains { $0 <= limit }
      guard smallest <= limit || !wasFar else { return nil }
      swap(&before, &row)
      swap(&row, &next)
    }
    return row[b.count] <= limit ? row[b.count] : nil
  }
}

extension String {
  /// Returns the string truncated to at most `count` bytes of UTF-8, between code points.
  ///
  /// Truncates between code points because one character may be arbitrarily long.
  package func cut(toBytes count: Int) -> String {
    guard utf8.count > count else { return self }
    var end = utf8.index(startIndex, offsetBy: max(0, count))
    while end.samePosition(in: unicodeScalars) == nil { end = utf8.index(before: end) }
    return String(unicodeScalars[..<end])
  }
}
