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

  private var window = Window<LogEntry>()

  init(_ source: LogSource, _ key: String, _ hub: Hub) {
    self.source = source
    start = source.position()
    end = start
    super.init(key, hub, keepsWindow: true)
    observation = source.live.observeNext { [unowned self] in receive($0) }
  }

  private func receive(_ batch: LogBatch) {
    end = batch.end
    for entry in batch.entries { window.append(entry) }
    if let dropped = window.trim(to: hub.windowBytes(atMost: Self.capacity)) {
      start = dropped.seq
    }
    mark()
  }

  /// The number of the first entry that is kept.
  var firstIndex: Int { window.firstIndex }

  /// The number after that of the last entry.
  var endIndex: Int { window.endIndex }

  subscript(index: Int) -> LogEntry { window[index] }

  /// The number of the first entry after a position that is not before ``start``.
  func index(after seq: UInt64) -> Int {
    var (low, high) = (window.firstIndex, window.endIndex)
    while low < high {
      let middle = (low + high) / 2
      if window[middle].seq <= seq { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

extension LogEntry: WindowElement {
  var size: Int { tail.utf8.count }
  static var empty: LogEntry { LogEntry(seq: 0, tail: "") }
}
