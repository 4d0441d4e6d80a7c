internal import JSON
package import Model
package import Signals

/// The sources of a pattern.
package struct PatternSource {
  /// The key of the shared broadcast: the pattern, and what else the changes depend on.
  package let key: String

  /// The changes of the matching sources from now on, but for those of ``makeFeeds``.
  package let changes: Signal<SourceChange, Never>

  /// Returns the changes that are collected in the time of the clients.
  let makeFeeds: () -> [any ChangeFeed]

  package init(
    key: String, changes: Signal<SourceChange, Never>,
    feeds: @escaping () -> [any ChangeFeed] = { [] }
  ) {
    (self.key, self.changes, makeFeeds) = (key, changes, feeds)
  }
}

/// The changes of the sources of a pattern that not all its subscriptions have collected.
///
/// A commit notes each change once, however many subscriptions and patterns there are. They collect the
/// changes in the time of their clients. The memory is bounded by the number of sources that have
/// changed since the last one has.
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

    init(_ changes: ChangeRun, in round: UInt64 = 0, keepsBefore: Bool = true) {
      (self.round, isBeforeKnown) = (round, keepsBefore && changes.isBeforeKnown)
      before = keepsBefore ? changes.before : nil
      (count, isNew, sinceGone) = (changes.count, changes.isNew, changes.sinceGone)
    }

    init(isNew: Bool, isGone: Bool) {
      (round, before, isBeforeKnown) = (0, nil, false)
      (self.isNew, sinceGone) = (isNew, isGone ? 0 : nil)
    }

    fileprivate mutating func add(_ changes: ChangeRun) {
      count += changes.count
      sinceGone = changes.sinceGone ?? sinceGone.map { $0 + changes.count }
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
  private let feeds: [any ChangeFeed]
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
    feeds = source.makeFeeds()
    super.init(key, in: table)
    for feed in feeds { feed.onNews = { [unowned self] in wake() } }
    observation = source.changes.observeNext { [unowned self] in
      receive(ChangeRun($0))
      wake()
    }
  }

  override func stop() {
    super.stop()
    for feed in feeds { feed.end() }
  }

  // MARK: Subscriptions

  /// Adds a subscription.
  ///
  /// - Parameter isOfPart: Whether it sends a part of each value.
  /// - Returns: The first round whose changes are new to it.
  func begin(isOfPart: Bool) -> UInt64 {
    _ = receiveNews()
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

  /// Returns the position of the first journaled change from a round on; `nil` if there is none.
  func firstSeq(from next: UInt64) -> UInt64? {
    _ = receiveNews()
    for case let source? in order[index(from: next)...] {
      if let seq = entries[source]?.newest.seq, seq > 0 { return seq }
    }
    return nil
  }

  /// Calls a function with each source that has changed from a round on, in the order of the last
  /// changes.
  ///
  /// - Parameters:
  ///   - isOver: Whether no time is left to receive more changes.
  ///   - body: Receives the source, its last change, and all changes.
  /// - Returns: The first round that the subscription has not collected, and whether all changes
  ///   are received.
  func collect(
    from next: UInt64, until isOver: () -> Bool,
    _ body: (String, PatternChange, ArraySlice<Run>) -> Void
  ) -> (next: UInt64, isComplete: Bool) {
    let isComplete = receiveNews(until: isOver)
    guard next <= lastRound else { return (next, isComplete) }
    for case let source? in order[index(from: next)...] {
      guard let entry = entries[source] else { continue }
      let first = entry.runs.firstIndex { $0.round >= next } ?? entry.runs.endIndex
      body(source, entry.newest, entry.runs[first...])
    }
    endRound()
    end(at: next)
    readers[round, default: 0] += 1
    if readers.count == 1 { removeAll() }
    return (round, isComplete)
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

  /// Receives the changes of the feeds, in the order of their positions.
  ///
  /// - Returns: Whether none is left.
  private func receiveNews(until isOver: () -> Bool = { false }) -> Bool {
    while true {
      var first: (feed: any ChangeFeed, changes: ChangeRun)?
      for feed in feeds where feed.hasNews {
        guard let changes = feed.next(until: isOver) else {
          if feed.hasNews { return false }
          continue
        }
        if first.map({ changes.newest.seq < $0.changes.newest.seq }) ?? true {
          first = (feed, changes)
        }
      }
      guard let first else { return true }
      first.feed.removeNext()
      receive(first.changes)
      if isOver() { return !feeds.contains { $0.hasNews } }
    }
  }

  private func receive(_ changes: ChangeRun) {
    guard !isDistinct || !changes.isRepeat else { return }
    let source = changes.newest.source
    let new = PatternChange(changes.newest)
    lastRound = round
    guard var entry = entries[source] else {
      let run = makeRun(changes)
      if entries.count >= mostEntries { removeCollected() }
      entries[source] = Entry(newest: new, runs: [run], place: order.count)
      order.append(source)
      return
    }
    order[entry.place] = nil
    if entry.round == round {
      entry.runs[entry.runs.count - 1].add(changes)
    } else {
      entry.runs.append(makeRun(changes))
      // A subscription that has collected the first of them counts too many.
      if entry.runs.count > Self.mostRuns {
        beforeBytes -= entry.runs[0].bytes + entry.runs[1].bytes
        entry.runs[1] = entry.runs[1].joined(to: entry.runs[0])
        entry.runs.removeFirst()
      }
    }
    (entry.newest, entry.place) = (new, order.count)
    entries[source] = entry
    order.append(source)
    if order.count > 64, order.count > 2 * entries.count { compact() }
  }

  private func makeRun(_ changes: ChangeRun) -> Run {
    let bytes = changes.before?.text.utf8.count ?? 0
    let keeps = partReaders > 0 && beforeBytes + bytes <= Self.mostBeforeBytes
    if keeps { beforeBytes += bytes }
    return Run(changes, in: round, keepsBefore: keeps)
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
