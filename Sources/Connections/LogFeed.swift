internal import JSON
internal import Signals

/// The recent entries of a log, kept in memory for subscribers that keep up.
final class LogFeed: Feed {
  /// The most bytes of entries to keep if there are few feeds.
  private static let capacity = 4 << 20

  let source: LogSource

  /// The position after which all entries are kept.
  private(set) var start: UInt64

  /// The position of the last mark, up to which every subscriber should know its progress.
  private(set) var marked: UInt64

  /// The number of filtered events after which a subscriber that reads the past gets a mark.
  static let eventsBetweenMarks: UInt64 = 1000

  private var window = Window<LogEntry>()

  init(_ source: LogSource, _ key: String, _ hub: Hub) {
    self.source = source
    start = source.position()
    marked = start
    super.init(key, hub, keepsWindow: true)
    observation = source.live.observeNext { [unowned self] in receive($0) }
    hub.logFeeds[ObjectIdentifier(self)] = self
  }

  /// The position up to which the log is known.
  var end: UInt64 { source.position() }

  private func receive(_ entry: LogEntry) {
    window.append(entry)
    trim(to: hub.windowBytes(atMost: Self.capacity))
    wake()
  }

  override func trim(to capacity: Int) {
    if let dropped = window.trim(to: capacity) { start = dropped.seq }
  }

  override var windowBytes: Int { window.bytes }

  /// Sends a mark to the subscribers whose position is out of date.
  func mark() {
    guard source.news() > marked else { return }
    marked = end
    wake()
  }

  override func stop() {
    super.stop()
    hub.logFeeds[ObjectIdentifier(self)] = nil
    hub.cancelMarks()
  }

  /// The index of the first kept entry.
  var firstIndex: Int { window.firstIndex }

  /// The index after the last entry.
  var endIndex: Int { window.endIndex }

  subscript(index: Int) -> LogEntry { window[index] }

  /// Returns the index of the first entry after a position, which must not be before ``start``.
  func index(after seq: UInt64) -> Int {
    index(after: seq, in: window.firstIndex..<window.endIndex)
  }
}

extension LogEntry: WindowElement {
  var size: Int { tail.utf8.count + (data?.text.utf8.count ?? 0) }
  static var empty: LogEntry { LogEntry(seq: 0, tail: "") }
}
