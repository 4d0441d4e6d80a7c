/// The name that may have been meant: the nearest by edits, if no more than a third of what was typed
/// is edited.
///
/// - Complexity: bounded, whatever the names: of those that are looked at not more than
///   ``Nearest/maxNames``, and of each pair only what stands between a common beginning and a common
///   end, if that is short.
public func nearest(to name: String, among names: some Sequence<String>) -> String? {
  let wanted = name.utf8.span
  guard wanted.count <= Nearest.maxBytes else { return nil }
  var search = Nearest(limit: min(Nearest.maxEdits, wanted.count / 3))
  var best: String?
  for candidate in names.prefix(Nearest.maxNames)
  where search.isNearer(wanted, candidate.utf8.span) { best = candidate }
  return best
}

/// Looks for the name with the fewest edits, with an end to the work that it takes.
package struct Nearest {
  /// Edits of a name that may have been meant.
  package static let maxEdits = 3

  /// Names that are looked at.
  package static let maxNames = 2000

  /// Bytes of a name that is compared.
  package static let maxBytes = 200

  /// Bytes of a name that are compared, without what both begin and end with.
  package static let maxDifferentBytes = 32

  /// Cells of the table of edits that are filled in all: some tenths of a millisecond.
  package static let maxCells = 100_000

  /// The most edits with which a name is nearer than the nearest so far; negative when none can be.
  package private(set) var limit: Int

  /// Cells of the table of edits that were filled in.
  package private(set) var cells = 0

  // Three rows of the table, each with a cell before the first byte.
  private var before = [Int](repeating: 0, count: maxDifferentBytes + 1)
  private var row = [Int](repeating: 0, count: maxDifferentBytes + 1)
  private var next = [Int](repeating: 0, count: maxDifferentBytes + 1)

  package init(limit: Int) {
    self.limit = limit
  }

  /// Whether no more names are compared.
  package var isExhausted: Bool { cells >= Self.maxCells }

  /// Whether a name is nearer than all before it.
  package mutating func isNearer(_ a: Span<UInt8>, _ b: Span<UInt8>) -> Bool {
    // Each edit changes the length by one at the most.
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

  /// How many bytes have to be added, dropped, changed or swapped with the next one: the distance of
  /// Damerau 1964, in which no byte is edited twice; `nil` when it is above the limit.
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
      // What was this far away twice in a row comes no nearer: a swap reaches back two rows.
      let wasFar = i > 0 && !row[0...b.count].contains { $0 <= limit }
      guard smallest <= limit || !wasFar else { return nil }
      swap(&before, &row)
      swap(&row, &next)
    }
    return row[b.count] <= limit ? row[b.count] : nil
  }
}
