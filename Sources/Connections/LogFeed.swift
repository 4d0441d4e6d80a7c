internal import JSON
internal import Signals

/// The last entries of a log, kept in memory for those that keep up.
final class LogFeed: Feed {
  /// Bytes of entries that are kept, when there are few feeds.
  private static let capacity = 4 << 20

  let source: LogSource

  /// All entries after this position are kept.
  private(set) var start: UInt64

  /// Up to where clients should know that there is nothing for them, unless they know more.
  private(set) var marked: UInt64

  /// After how many events that passed by a client that reads the past is told how far it is.
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

  /// Tells those that are behind it how far they are, if something has passed by.
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
  var size: Int { tail.utf8.count + (data?.text.utf8.count ?? 0) }
  static var empty: LogEntry { LogEntry(seq: 0, tail: "") }
}
