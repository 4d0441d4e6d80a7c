package import JSON
package import Model
package import Signals
package import Wire

/// A log of entries with positions.
///
/// New entries arrive as they become durable; earlier ones can be read.
package struct LogSource {
  /// The key of the shared broadcast.
  ///
  /// Sources with the same key share their retained entries.
  package let key: String

  /// Every entry that becomes durable from now on.
  package var live: Signal<LogEntry, Never>

  /// Returns the same entries, to be collected in the time of the clients; `nil` if ``live`` is
  /// cheap, because many subscriptions share it.
  package var makeFeed: (() -> any LogFeed)?

  /// Returns what a subscription sends of a live entry, for example a part of it; `nil` for all of it.
  ///
  /// It is called in the client's own time slice. ``read`` returns converted entries.
  package var convert: ((LogEntry) -> LogEntry)?

  /// Reads durable entries after a position, in order, on another thread.
  ///
  /// A page has about `limit` entries at most, unless it is bounded in another way. The signal fails
  /// with `seq_expired` if entries after the position were removed.
  package let read: (_ after: UInt64, _ limit: Int) -> Signal<Page<LogEntry>, WireError>

  /// The most entries of a page.
  package static let pageEntries = 1000

  /// Returns the durable position.
  ///
  /// ``live`` has emitted all entries up to it.
  package let position: () -> UInt64

  /// Returns the last durable position that is relevant to subscribers, including filtered events.
  package let news: () -> UInt64

  /// Returns the first position that the journal still holds.
  package let first: () -> UInt64

  /// Returns a log without entries.
  package static var none: LogSource {
    LogSource(
      key: "", live: Signal { _ in NonDisposable.instance }, position: { 0 }, first: { 1 },
      read: { _, _ in Signal { _ in NonDisposable.instance } })
  }

  package init(
    key: String, live: Signal<LogEntry, Never>, position: @escaping () -> UInt64,
    news: (() -> UInt64)? = nil, first: @escaping () -> UInt64,
    read: @escaping (_ after: UInt64, _ limit: Int) -> Signal<Page<LogEntry>, WireError>
  ) {
    self.key = key
    self.live = live
    self.position = position
    self.news = news ?? position
    self.first = first
    self.read = read
  }
}

/// Entries that become durable, which subscriptions collect in the time of their clients.
///
/// Otherwise an event that a thousand filters want would be passed on a thousand times in its commit.
package protocol LogFeed: AnyObject {
  /// Called at the first entry after all others were collected.
  var onNews: (() -> Void)? { get set }

  /// Whether entries wait to be collected; the subscription may want none of them.
  var hasNews: Bool { get }

  /// Collects the next entries.
  ///
  /// - Parameter isOver: Whether no time is left; the rest can be collected later.
  /// - Returns: The position up to which entries were dropped before they were collected; `nil` if
  ///   none were.
  func collect(until isOver: () -> Bool, _ receive: (LogEntry) -> Void) -> UInt64?

  /// Ends the observation.
  func end()
}

/// An event or change with its position, encoded once for all subscribers.
package struct LogEntry: Sendable {
  package let seq: UInt64

  /// The part of the line after the handle: `"seq":9,…}}` and LF.
  package let tail: String

  /// The event's data, for filters; `nil` if the entry is not an event.
  package let data: JSONText?

  package init(seq: UInt64, tail: String, data: JSONText? = nil) {
    self.seq = seq
    self.tail = tail
    self.data = data
  }
}

/// A sequence of log entries in order, by index.
protocol LogEntries {
  subscript(index: Int) -> LogEntry { get }
}

extension LogEntries {
  /// Returns the index of the first entry after a position, or the end of the range if there is
  /// none.
  func index(after seq: UInt64, in range: Range<Int>) -> Int {
    var (low, high) = (range.lowerBound, range.upperBound)
    while low < high {
      let middle = (low + high) / 2
      if self[middle].seq <= seq { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

extension LogBroadcast: LogEntries {}
extension Array: LogEntries where Element == LogEntry {}

/// Encodes log entries as frames.
enum LogFrame {
  /// The bytes around the entries of a frame, besides its head.
  private static let frameBytes = 48

  /// Appends a frame with one entry.
  @inline(__always)
  static func write(_ entry: LogEntry, after head: [UInt8], to buffer: inout ByteBuffer) {
    buffer.append(head.span)
    buffer.append(entry.tail)
  }

  /// Appends a frame with as many entries as fit a line, but at least one.
  ///
  /// - Returns: The number of entries in the frame.
  static func write(
    _ entries: some LogEntries, from first: Int, upTo end: Int, after head: [UInt8], limit: Int,
    to buffer: inout ByteBuffer
  ) -> Int {
    var next = first + 1
    var size = head.count + frameBytes + entries[first].textBytes
    while next < end, size + entries[next].textBytes < limit {
      size += entries[next].textBytes
      next += 1
    }
    guard next - first > 1 else {
      write(entries[first], after: head, to: &buffer)
      return 1
    }
    buffer.append(head.span)
    buffer.member("seq", entries[next - 1].seq)
    buffer.array("items") { buffer in
      for i in first..<next {
        buffer.append(i > first ? ",{" : "{")
        // Drops the last brace and the LF of the tail, so that only the brace that ends the item
        // remains.
        let tail = entries[i].tail.utf8.span
        buffer.append(tail.extracting(0..<tail.count - 2))
      }
    }
    Frame.endParams(&buffer)
    return next - first
  }
}

/// The recent entries of a log, kept in memory for subscribers that keep up.
final class LogBroadcast: Broadcast {
  /// The most bytes of entries to keep if there are few feeds.
  private static let capacity = 4 << 20

  let source: LogSource

  /// The position after which all entries are kept.
  private(set) var start: UInt64

  /// The position of the last mark, up to which every subscriber should know its progress.
  private(set) var marked: UInt64

  /// The number of filtered events after which a subscriber that reads the past gets a mark.
  static let eventsBetweenMarks: UInt64 = 1000

  private var window = SlidingWindow<LogEntry>()

  /// The entries that were not collected yet; `nil` if they arrive with the commit.
  private let feed: (any LogFeed)?

  /// The frames that subscribers share in this turn.
  private var frames = FrameRun()

  init(_ source: LogSource, _ key: String, in table: BroadcastTable) {
    self.source = source
    start = source.position()
    marked = start
    feed = source.makeFeed?()
    super.init(key, in: table, keepsWindow: true)
    if let feed {
      feed.onNews = { [unowned self] in wake() }
    } else {
      observation = source.live.observeNext { [unowned self] in receive($0) }
    }
    table.sendMarks(of: self)
  }

  /// Whether entries were not collected yet.
  var hasNews: Bool { feed?.hasNews ?? false }

  /// Collects the new entries in the time of a client.
  ///
  /// - Parameter isOver: Whether no time is left.
  /// - Returns: Whether all are collected.
  func collect(until isOver: () -> Bool) -> Bool {
    guard let feed, feed.hasNews else { return true }
    var new: [LogEntry] = []
    if let dropped = feed.collect(until: isOver, { new.append($0) }) {
      // Subscriptions find the next entry missing, and read the journal.
      window.append(.empty)
      window.drop(before: window.endIndex)
      start = max(start, dropped)
    }
    let capacity = table.windowBytes(atMost: Self.capacity)
    for entry in new {
      window.append(entry)
      // At once, so that the window does not grow for entries that it drops.
      trim(to: capacity)
    }
    countWindow()
    return !feed.hasNews
  }

  /// The position up to which the log is known.
  var end: UInt64 { source.position() }

  private func receive(_ entry: LogEntry) {
    window.append(entry)
    trim(to: table.windowBytes(atMost: Self.capacity))
    wake()
  }

  override func trim(to capacity: Int) {
    if let dropped = window.trim(to: capacity) { start = dropped.seq }
  }

  override var windowBytes: Int { window.bytes }

  override func mark() {
    guard source.news() > marked else { return }
    marked = end
    wake()
  }

  override func stop() {
    super.stop()
    feed?.end()
    table.endMarks(of: self)
  }

  /// The index of the first kept entry.
  var firstIndex: Int { window.firstIndex }

  /// The index after the last entry.
  var endIndex: Int { window.endIndex }

  subscript(index: Int) -> LogEntry { window[index] }

  /// Appends frames with the entries of a range, as many as the client takes in one chunk.
  ///
  /// - Parameters:
  ///   - range: The entries; not empty.
  ///   - itemLimit: The longest frame with several entries, in bytes; `nil` for one entry a frame.
  func write(
    _ range: Range<Int>, to subscription: LogSubscription, of client: Client, itemLimit: Int?,
    _ buffer: inout ByteBuffer
  ) -> FrameRun.Copied {
    let (first, end, capacity) = (range.lowerBound, range.upperBound, client.chunkSize)
    let form = FrameRun.Form(itemLimit: itemLimit, headCount: subscription.head.count)
    if !frames.has(first, upTo: end, as: form) {
      keepFrames {
        frames.encode(
          self, from: first, upTo: itemLimit == nil ? endIndex : end, as: form, capacity: capacity,
          subscription)
        return frames.byteCount
      }
    }
    return frames.copy(
      from: first, upTo: end, to: subscription, lineOut: client.lineOut, capacity: capacity,
      &buffer)
  }

  override func dropFrames() { frames.removeAll() }

  /// Returns the index of the first entry after a position, which must not be before ``start``.
  func index(after seq: UInt64) -> Int {
    index(after: seq, in: window.firstIndex..<window.endIndex)
  }
}

extension LogEntry: WindowElement {
  var size: Int { textBytes + MemoryLayout<LogEntry>.stride + String.headerBytes }

  /// The bytes of the entry's texts.
  fileprivate var textBytes: Int { tail.utf8.count + (data?.text.utf8.count ?? 0) }

  static var empty: LogEntry { LogEntry(seq: 0, tail: "") }
}
