internal import Signals

/// The values that a ``ValueCollection`` has found: lists, each sorted by key, which are merged.
///
/// They are kept in small parts, each of which is freed when its values were merged. To free tens of
/// thousands of values together would take longer than a slice.
struct FoundValues {
  typealias Entry = (key: ValueCollection.Key, value: ValueCollection.Value)

  /// The values in a part.
  private static let partCount = 32

  /// A list that is sorted by key.
  private struct Run {
    /// The full parts that were not begun, the first one first.
    private var parts = Queue<[Entry]>()

    /// The last entries, which do not fill a part yet.
    private var end: [Entry] = []

    /// The part that is being merged, and the index of its next entry.
    private var current: [Entry] = []
    private var next = 0

    mutating func append(_ entry: Entry) {
      end.append(entry)
      guard end.count == FoundValues.partCount else { return }
      parts.append(end)
      end = []
      end.reserveCapacity(FoundValues.partCount)
    }

    /// Begins the merge.
    mutating func begin() { goOn() }

    /// The key of the next entry; `nil` after the last one.
    var key: ValueCollection.Key? { next < current.count ? current[next].key : nil }

    /// Removes the next entry; there must be one.
    mutating func removeFirst() -> Entry {
      let entry = current[next]
      next += 1
      if next == current.count { goOn() }
      return entry
    }

    private mutating func goOn() {
      next = 0
      if let part = parts.popFirst() {
        current = part
      } else {
        (current, end) = (end, [])
      }
    }

    /// The parts that were not merged yet.
    var rest: [[Entry]] { parts + [end, current] }
  }

  private var runs: [Run] = []
  private var last: ValueCollection.Key?

  /// Appends an entry, to the last list if its key comes after the others.
  mutating func append(_ entry: Entry) {
    if runs.isEmpty || last.map({ entry.key < $0 }) ?? false { runs.append(Run()) }
    last = entry.key
    runs[runs.count - 1].append(entry)
  }

  /// Begins the merge; no entry is appended after it.
  mutating func beginMerge() { for i in runs.indices { runs[i].begin() } }

  /// The smallest key that is left; `nil` if none is.
  var firstKey: ValueCollection.Key? { firstRun.flatMap { runs[$0].key } }

  /// Removes the entry with the smallest key; `nil` if none is left.
  mutating func popFirst() -> Entry? { firstRun.map { runs[$0].removeFirst() } }

  /// Removes the entries with a key, which comes before all others.
  mutating func removeAll(_ key: ValueCollection.Key) {
    for i in runs.indices where runs[i].key == key { _ = runs[i].removeFirst() }
  }

  private var firstRun: Int? {
    guard runs.count != 1 else { return runs[0].key == nil ? nil : 0 }
    var first: (key: ValueCollection.Key, run: Int)?
    for i in runs.indices {
      guard let key = runs[i].key, first.map({ key < $0.key }) ?? true else { continue }
      first = (key, i)
    }
    return first?.run
  }

  /// Removes all entries, and returns them in parts.
  mutating func removeAll() -> [[Entry]] {
    defer { runs = [] }
    return runs.flatMap(\.rest)
  }
}
