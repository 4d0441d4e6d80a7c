internal import Signals

/// The last entries of a log, kept in memory for those that keep up.
final class LogFeed: Feed {
  /// Bytes of entries that are kept, when there are few feeds.
  private static let capacity = 4 << 20

  let source: LogSource

  /// All entries after this position are kept.
  private(set) var start: UInt64

  /// The position up to which the log is known.
  private(set) var end: UInt64

  private let hub: Hub
  private var entries: [LogEntry] = []

  /// How many entries were dropped from the front, so that an entry keeps its number.
  private(set) var dropped = 0
  private var unused = 0
  private var bytes = 0

  private var subscribers: [LogSubscription] = []
  private var isDirty = false
  private var observation: (any Disposable)?

  init(_ source: LogSource, _ hub: Hub) {
    self.source = source
    self.hub = hub
    hub.windowCount += 1
    start = source.position()
    end = start
    observation = source.live.observeNext { [unowned self] in receive($0) }
  }

  private func receive(_ batch: LogBatch) {
    let capacity = hub.windowBytes(atMost: Self.capacity)
    end = batch.end
    for entry in batch.entries {
      entries.append(entry)
      bytes += entry.tail.utf8.count
    }
    while bytes > capacity {
      let entry = entries[unused]
      bytes -= entry.tail.utf8.count
      start = entry.seq
      // The place stays until there are many of them, what it held goes now.
      entries[unused] = LogEntry(seq: entry.seq, tail: "")
      unused += 1
    }
    if unused > 1024, unused > entries.count / 2 {
      entries.removeFirst(unused)
      dropped += unused
      unused = 0
    }
    guard !isDirty else { return }
    isDirty = true
    hub.markDirty(self)
  }

  /// The number of the first entry that is kept.
  var firstIndex: Int { dropped + unused }

  /// The number after that of the last entry.
  var endIndex: Int { dropped + entries.count }

  subscript(index: Int) -> LogEntry { entries[index - dropped] }

  /// The number of the first entry after a position that is not before ``start``.
  func index(after seq: UInt64) -> Int {
    var (low, high) = (unused, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].seq <= seq { low = middle + 1 } else { high = middle }
    }
    return low + dropped
  }

  func markSubscribers() {
    isDirty = false
    for subscriber in subscribers { subscriber.markDirty() }
  }

  func add(_ subscriber: LogSubscription) {
    subscribers.append(subscriber)
  }

  func remove(_ subscriber: LogSubscription) {
    guard let i = subscribers.lastIndex(where: { $0 === subscriber }) else { return }
    subscribers.swapAt(i, subscribers.count - 1)
    subscribers.removeLast()
    guard subscribers.isEmpty else { return }
    hub.windowCount -= 1
    observation?.dispose()
    hub.dropFeed("log " + source.key)
  }
}
