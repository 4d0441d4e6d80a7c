internal import Model

/// The changes of sources that observers of patterns have not collected yet, each kept once.
///
/// The memory is bounded: when there are many, those of each source are joined, a few with each change
/// that is added, so that no step is long.
final class ChangeLog {
  /// Values that are freed together; those of a long log on another thread.
  struct Waste: Sendable {
    fileprivate let parts: [[ChangeRun]]
    fileprivate let newest: [[String: UInt64]]
  }

  /// The place of changes in the log, until it changes.
  struct Place {
    fileprivate var part: Int
    fileprivate var index: Int
  }

  static let mostRuns = 4096
  private static let mostBytes = 4 << 20

  /// The changes that are joined with each change that is added.
  static let joinedAtOnce = 8

  /// The changes in the order of their numbers, in short parts, so that one is removed quickly; none is
  /// empty.
  private var parts: [[ChangeRun]] = []
  private static let mostInPart = 128

  /// The number of changes, where joined ones are one.
  private(set) var count = 0
  private var bytes = 0
  private var limit = (runs: mostRuns, bytes: mostBytes)
  private var joining: Joining?
  private let free: (consuming Waste) -> Void

  /// The number of the last change.
  private(set) var last: UInt64 = 0

  /// The number of the last change that was joined with a later one, or whose value before is not
  /// kept.
  private(set) var lastJoined: UInt64 = 0

  /// The number of times that a feed has collected all changes.
  private(set) var collections: UInt64 = 0

  /// The number of feeds that have not collected all changes.
  private var feedsBehind = 0

  /// - Parameter free: Frees many values.
  init(free: @escaping (consuming Waste) -> Void = { _ in }) { self.free = free }

  /// Adds a change and returns its number.
  func append(_ change: SourceChange) -> UInt64 {
    last += 1
    let run = ChangeRun(change, number: last)
    if let end = parts.indices.last, parts[end].count < Self.mostInPart {
      parts[end].append(run)
    } else {
      parts.append([run])
    }
    count += 1
    bytes += run.size
    if joining == nil, count > limit.runs || bytes > limit.bytes {
      (lastJoined, joining) = (last, Joining(end: last))
    }
    for _ in 0..<Self.joinedAtOnce where joining != nil { joinNext() }
    return last
  }

  func feedFellBehind() { feedsBehind += 1 }

  func feedCaughtUp() {
    feedsBehind -= 1
    collections += 1
    guard feedsBehind == 0 else { return }
    removeAll()
  }

  private func removeAll() {
    (bytes, limit) = (0, (Self.mostRuns, Self.mostBytes))
    if parts.count == 1, joining == nil {
      parts[0].removeAll(keepingCapacity: count <= 64)
      if count > 64 { parts = [] }
      count = 0
      return
    }
    count = 0
    var removed: [[ChangeRun]] = []
    swap(&removed, &parts)
    free(Waste(parts: removed, newest: joining?.removeNames() ?? []))
    joining = nil
  }

  // MARK: Reading

  /// Returns the place of the first changes from a number on; `nil` if there are none.
  func place(from number: UInt64) -> Place? {
    var (part, end) = (0, parts.count)
    while part < end {
      let middle = (part + end) / 2
      let inPart = parts[middle].count
      if inPart == 0 || parts[middle][inPart - 1].number < number {
        part = middle + 1
      } else {
        end = middle
      }
    }
    guard part < parts.count else { return nil }
    var (index, high) = (0, parts[part].count)
    while index < high {
      let middle = (index + high) / 2
      if parts[part][middle].number < number { index = middle + 1 } else { high = middle }
    }
    return Place(part: part, index: index)
  }

  /// Returns the place behind another one; `nil` if there is none.
  func place(after place: Place) -> Place? {
    if place.index + 1 < parts[place.part].count {
      return Place(part: place.part, index: place.index + 1)
    }
    return place.part + 1 < parts.count ? Place(part: place.part + 1, index: 0) : nil
  }

  subscript(_ place: Place) -> ChangeRun { parts[place.part][place.index] }

  // MARK: Joining

  /// The joining of the changes of each source up to a number, so that there are no more than sources.
  private struct Joining {
    let end: UInt64

    /// The number of the next changes.
    var next: UInt64 = 0

    /// The number of the last changes of each source that were joined; in parts, because one that is
    /// large takes long to grow.
    private var newest: [[String: UInt64]]

    /// Whether all are joined, and the values before them are dropped.
    var isDropping = false

    init(end: UInt64) {
      self.end = end
      newest = Array(repeating: [:], count: 64)
    }

    /// Records the number of the last changes of a source, and returns the one before.
    mutating func exchange(_ source: String, _ number: UInt64) -> UInt64? {
      newest[source.hashValue & 63].updateValue(number, forKey: source)
    }

    mutating func removeNames() -> [[String: UInt64]] {
      var removed: [[String: UInt64]] = []
      swap(&removed, &newest)
      return removed
    }
  }

  /// Joins the next changes with those before of their source.
  private func joinNext() {
    guard let next = joining?.next, let end = joining?.end, let place = place(from: next),
      self[place].number <= end
    else { return endPass() }
    let number = self[place].number
    joining?.next = number + 1
    if joining?.isDropping == true { return change(place) { $0.dropBefore() } }
    guard let former = joining?.exchange(self[place].newest.source, number),
      let earlier = self.place(from: former), self[earlier].number == former
    else { return }
    let removed = remove(earlier)
    guard let place = self.place(from: number) else { return }
    change(place) { $0.join(removed) }
  }

  private func change(_ place: Place, _ body: (inout ChangeRun) -> Void) {
    bytes -= self[place].size
    body(&parts[place.part][place.index])
    bytes += self[place].size
  }

  private func remove(_ place: Place) -> ChangeRun {
    let removed = parts[place.part].remove(at: place.index)
    if parts[place.part].isEmpty { parts.remove(at: place.part) }
    count -= 1
    bytes -= removed.size
    return removed
  }

  private func endPass() {
    if let names = joining?.removeNames(), !names.isEmpty {
      free(Waste(parts: [], newest: names))
    }
    if joining?.isDropping == false, bytes > Self.mostBytes / 2 {
      joining?.isDropping = true
      joining?.next = 0
      return
    }
    let joined = count - Int(last - (joining?.end ?? last))
    joining = nil
    limit = (max(Self.mostRuns, 2 * joined), max(Self.mostBytes, 2 * bytes))
  }
}
