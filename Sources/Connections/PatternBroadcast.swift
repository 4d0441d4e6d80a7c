internal import JSON
package import Model
package import Signals

/// The sources of a pattern.
package struct PatternSource {
  /// The key of the shared broadcast: the pattern, and what else the changes depend on.
  package let key: String

  /// The changes of the matching sources from now on.
  package let changes: Signal<SourceChange, Never>

  package init(key: String, changes: Signal<SourceChange, Never>) {
    (self.key, self.changes) = (key, changes)
  }
}

/// The changes of the sources of a pattern that not all its subscriptions have collected.
///
/// A commit notes each change once, however many subscriptions there are. They collect the changes
/// in the time of their clients. The memory is bounded by the number of sources that have changed since
/// the last one has.
final class PatternBroadcast: Broadcast {
  /// Changes of one source between which no subscription has collected.
  struct Run {
    /// The number of the round in which they happened.
    fileprivate let round: UInt64
    var count: UInt64 = 1

    /// The value before the first of them, if ``isBeforeKnown``.
    let before: JSONText?

    /// Whether ``before`` was kept: only for subscriptions to a part, and not too many bytes.
    let isBeforeKnown: Bool

    /// Whether the source had no value before.
    fileprivate(set) var isNew: Bool

    /// The number of changes since the source had no value; `nil` if it always had one.
    fileprivate(set) var sinceGone: UInt64?

    init(_ change: SourceChange, in round: UInt64 = 0, keepsBefore: Bool = true) {
      (self.round, isBeforeKnown) = (round, keepsBefore)
      before = keepsBefore ? change.before : nil
      (isNew, sinceGone) = (change.isNew, change.isGone ? 0 : nil)
    }

    init(isNew: Bool, isGone: Bool) {
      (round, before, isBeforeKnown) = (0, nil, false)
      (self.isNew, sinceGone) = (isNew, isGone ? 0 : nil)
    }

    fileprivate mutating func add(_ change: SourceChange) {
      count += 1
      sinceGone = change.isGone ? 0 : sinceGone.map { $0 + 1 }
    }

    /// Returns the run with the changes of the one before it.
    ///
    /// The value before them is not kept: a subscription may have collected some of the changes.
    fileprivate func joined(to former: Run) -> Run {
      var run = Run(round: round, isNew: isNew && former.isNew)
      run.count = count + former.count
      run.sinceGone = sinceGone ?? former.sinceGone.map { $0 + count }
      return run
    }

    private init(round: UInt64, isNew: Bool) {
      (self.round, before, isBeforeKnown, self.isNew) = (round, nil, false, isNew)
    }

    /// The bytes of the value before.
    fileprivate var bytes: Int { before?.text.utf8.count ?? 0 }
  }

  /// A source that has changed.
  private struct Entry {
    var newest: PatternChange
    var runs: [Run] = []

    /// The index of the source in ``order``.
    var place = 0

    var round: UInt64 { runs.last?.round ?? 0 }
  }

  /// The runs of a source that are kept apart for subscriptions that are behind.
  private static let mostRuns = 32

  private let isDistinct: Bool
  private var entries: [String: Entry] = [:]

  /// The sources by their last change; `nil` for those that have changed again.
  private var order: [String?] = []

  /// The number that changes get until a subscription collects them.
  private var round: UInt64 = 1

  /// The number of the last change.
  private var lastRound: UInt64 = 0

  /// The number of subscriptions by the first round that they have not collected.
  private var readers: [UInt64: Int] = [:]

  /// The number of subscriptions to a part of each value, which compare it with that before.
  private var partReaders = 0

  /// The bytes of the values before that are kept, and the most of them.
  private var beforeBytes = 0
  private static let mostBeforeBytes = 4 << 20

  /// The number of entries from which those that all have collected are removed.
  private var mostEntries = 64

  /// - Parameter isDistinct: Whether changes to an equal value are dropped.
  init(_ source: PatternSource, isDistinct: Bool, _ key: String, in table: BroadcastTable) {
    self.isDistinct = isDistinct
    super.init(key, in: table)
    observation = source.changes.observeNext { [unowned self] in receive($0) }
  }

  // MARK: Subscriptions

  /// Adds a subscription.
  ///
  /// - Parameter isOfPart: Whether it sends a part of each value.
  /// - Returns: The first round whose changes are new to it.
  func begin(isOfPart: Bool) -> UInt64 {
    endRound()
    if isOfPart { partReaders += 1 }
    readers[round, default: 0] += 1
    return round
  }

  /// Removes a subscription.
  ///
  /// - Parameter next: The first round that it has not collected.
  func end(at next: UInt64, isOfPart: Bool = false) {
    if isOfPart { partReaders -= 1 }
    let count = readers[next, default: 1] - 1
    readers[next] = count > 0 ? count : nil
  }

  /// Returns the position of the first change from a round on; `nil` if there is none.
  func firstSeq(from next: UInt64) -> UInt64? {
    let start = index(from: next)
    for case let source? in order[start...] { return entries[source]?.newest.seq }
    return nil
  }

  /// Calls a function with each source that has changed from a round on, in the order of the last
  /// changes.
  ///
  /// - Parameter body: Receives the source, its last change, and all changes.
  /// - Returns: The first round that the subscription has not collected.
  func collect(
    from next: UInt64, _ body: (String, PatternChange, ArraySlice<Run>) -> Void
  ) -> UInt64 {
    guard next <= lastRound else { return next }
    for case let source? in order[index(from: next)...] {
      guard let entry = entries[source] else { continue }
      let first = entry.runs.firstIndex { $0.round >= next } ?? entry.runs.endIndex
      body(source, entry.newest, entry.runs[first...])
    }
    endRound()
    end(at: next)
    readers[round, default: 0] += 1
    if readers.count == 1 { removeAll() }
    return round
  }

  /// Returns the index of the first source that has changed from a round on.
  private func index(from next: UInt64) -> Int {
    var start = order.endIndex
    while start > 0 {
      if let source = order[start - 1], entries[source].map({ $0.round < next }) ?? true { break }
      start -= 1
    }
    return start
  }

  private func endRound() { if lastRound == round { round += 1 } }

  private func removeAll() {
    entries.removeAll(keepingCapacity: entries.count <= 64)
    order.removeAll(keepingCapacity: order.count <= 64)
    (mostEntries, beforeBytes) = (64, 0)
  }

  // MARK: Changes

  private func receive(_ change: SourceChange) {
    guard !isDistinct || !change.isRepeat else { return }
    let new = PatternChange(change)
    lastRound = round
    wake()
    guard var entry = entries[change.source] else {
      let run = makeRun(change)
      if entries.count >= mostEntries { removeCollected() }
      entries[change.source] = Entry(newest: new, runs: [run], place: order.count)
      order.append(change.source)
      return
    }
    order[entry.place] = nil
    if entry.round == round {
      entry.runs[entry.runs.count - 1].add(change)
    } else {
      entry.runs.append(makeRun(change))
      // A subscription that has collected the first of them counts too many.
      if entry.runs.count > Self.mostRuns {
        beforeBytes -= entry.runs[0].bytes + entry.runs[1].bytes
        entry.runs[1] = entry.runs[1].joined(to: entry.runs[0])
        entry.runs.removeFirst()
      }
    }
    (entry.newest, entry.place) = (new, order.count)
    entries[change.source] = entry
    order.append(change.source)
    if order.count > 64, order.count > 2 * entries.count { compact() }
  }

  private func makeRun(_ change: SourceChange) -> Run {
    let bytes = change.before?.text.utf8.count ?? 0
    let keeps = partReaders > 0 && beforeBytes + bytes <= Self.mostBeforeBytes
    if keeps { beforeBytes += bytes }
    return Run(change, in: round, keepsBefore: keeps)
  }

  /// Removes the entries that all subscriptions have collected.
  private func removeCollected() {
    let first = readers.keys.min() ?? round
    entries = entries.filter { $0.value.round >= first }
    beforeBytes = entries.values.reduce(0) { $1.runs.reduce($0) { $0 + $1.bytes } }
    compact()
    mostEntries = max(64, 2 * entries.count)
  }

  /// Removes the empty slots of sources that have changed again.
  private func compact() {
    order.removeAll { $0.map { entries[$0] == nil } ?? true }
    for (place, source) in order.enumerated() {
      if let source { entries[source]?.place = place }
    }
  }
}

/// The last change of a source of a pattern.
struct PatternChange {
  let seq: UInt64
  let value: JSONText?
  let isGone: Bool

  /// Whether the value must be fetched, because the changes are steps of a collection.
  let isAsked: Bool

  init(_ change: SourceChange) {
    (seq, value, isGone) = (change.seq, change.value, change.isGone)
    isAsked = change.step != nil
  }

  init(seq: UInt64, value: JSONText?) {
    (self.seq, self.value, isGone, isAsked) = (seq, value, value == nil, false)
  }
}
