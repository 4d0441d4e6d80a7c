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

  /// Up to where clients should know that there is nothing for them, unless they know more.
  private(set) var marked: UInt64

  /// After how many events that passed by, or seconds, a client is told how far it is.
  static let eventsBetweenMarks: UInt64 = 1000
  private static let secondsBetweenMarks = 10.0

  private var window = Window<LogEntry>()
  private var alarm: (any Disposable)?

  init(_ source: LogSource, _ key: String, _ hub: Hub) {
    self.source = source
    start = source.position()
    end = start
    marked = start
    super.init(key, hub, keepsWindow: true)
    observation = source.live.observeNext { [unowned self] in receive($0) }
  }

  private func receive(_ batch: LogBatch) {
    end = batch.end
    for entry in batch.entries { window.append(entry) }
    if let dropped = window.trim(to: hub.windowBytes(atMost: Self.capacity)) {
      start = dropped.seq
    }
    scheduleMark(isPassedBy: batch.isPassedBy)
    wake()
  }

  private func scheduleMark(isPassedBy: Bool) {
    if end - marked >= Self.eventsBetweenMarks {
      marked = end
    } else if isPassedBy, alarm == nil {
      alarm = hub.scheduler.schedule(after: Self.secondsBetweenMarks) { [unowned self] in
        alarm = nil
        marked = end
        wake()
      }
    }
  }

  override func stop() {
    super.stop()
    alarm?.dispose()
  }

  /// The number of the first entry that is kept.
  var firstIndex: Int { window.firstIndex }

  /// The number after that of the last entry.
  var endIndex: Int { window.endIndex }

  subscript(index: Int) -> LogEntry { window[index] }

  /// The number of the first entry after a position that is not before ``start``.
  func index(after seq: UInt64) -> Int {
    index(after: seq, in: window.firstIndex..<window.endIndex)
  }
}

extension LogEntry: WindowElement {
  var size: Int { tail.utf8.count }
  static var empty: LogEntry { LogEntry(seq: 0, tail: "") }
}
