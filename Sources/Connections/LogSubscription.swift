internal import JSON
internal import Signals
package import Wire

/// One client reads a log: every entry once, in order, at its own pace.
///
/// It holds a position and no queue. While it keeps up it is fed from memory; when it does not, or
/// has come from the past, it reads from the journal until it has caught up.
package final class LogSubscription: Subscription {
  private enum State {
    /// The next entry is the one of this number in memory.
    case live(next: Int)
    /// The client has everything up to ``cursor``; the rest is to be read.
    case past
    /// It is being read.
    case reading
    /// It was read; the next entry is that of the page.
    case page(LogBatch, next: Int)
    /// It cannot be read.
    case broken(WireError)
  }

  private let feed: LogFeed
  private var state: State
  private var reading: (any Disposable)?

  /// The position up to which the client has everything.
  private var cursor: UInt64

  /// Whether the client was told that it has everything, and was not told since that it has not.
  private var isCaughtUp: Bool

  /// - Parameter position: The client has everything up to here; `nil` for everything up to now.
  package init(
    _ handle: Handle, to source: LogSource, after position: UInt64?, on connection: Connection
  ) {
    let hub = connection.hub
    feed = hub.feed("log " + source.key) { LogFeed(source, $0, hub) }
    cursor = position ?? feed.end
    isCaughtUp = position == nil
    state = position == nil ? .live(next: feed.endIndex) : .past
    super.init(handle, on: connection)
  }

  override func start() {
    feed.add(self)
    if !isCaughtUp { markDirty() }
  }

  override func end() {
    feed.remove(self)
    reading?.dispose()
  }

  override func hasShown(_ position: UInt64) -> Bool {
    if case .live = state { return !isDirty }
    return cursor >= position
  }

  override func fill(_ buffer: inout ByteBuffer) -> Bool {
    while !isOver {
      guard buffer.count < Hub.chunkSize else { return false }
      switch state {
      case .live(let next):
        guard next >= feed.firstIndex else {
          fallBehind(&buffer)
          continue
        }
        return fillLive(from: next, &buffer)
      case .past:
        guard cursor >= feed.start else {
          read()
          return true
        }
        state = .live(next: feed.index(after: cursor))
      case .reading:
        return true
      case .page(let page, let next):
        fillPage(page, from: next, &buffer)
      case .broken(let error):
        fail(error, seq: cursor, &buffer)
      }
    }
    return true
  }

  private func fillLive(from next: Int, _ buffer: inout ByteBuffer) -> Bool {
    var next = next
    while next < feed.endIndex {
      guard buffer.count < Hub.chunkSize else {
        state = .live(next: next)
        return false
      }
      guard write(feed[next], &buffer) else { return true }
      next += 1
    }
    state = .live(next: next)
    cursor = feed.end
    if !isCaughtUp {
      isCaughtUp = true
      notify("caught_up", seq: cursor, &buffer)
    }
    return true
  }

  private func fillPage(_ page: LogBatch, from next: Int, _ buffer: inout ByteBuffer) {
    var next = next
    while next < page.entries.count {
      guard buffer.count < Hub.chunkSize else {
        state = .page(page, next: next)
        return
      }
      guard write(page.entries[next], &buffer) else { return }
      next += 1
    }
    cursor = page.end
    state = .past
  }

  @inline(__always)
  private func write(_ entry: LogEntry, _ buffer: inout ByteBuffer) -> Bool {
    let start = buffer.count
    buffer.append(head)
    buffer.append(entry.tail)
    cursor = entry.seq
    return checkLine(from: start, seq: entry.seq, &buffer)
  }

  /// What comes next is not in memory any more.
  private func fallBehind(_ buffer: inout ByteBuffer) {
    state = .past
    guard isCaughtUp else { return }
    isCaughtUp = false
    notifyBehind(at: cursor, last: feed.end, &buffer)
  }

  private func read() {
    state = .reading
    reading = feed.source.read(cursor).observe { [unowned self] event in
      switch event {
      case .next(let page): state = .page(page, next: 0)
      case .failed(let error): state = .broken(error)
      case .completed: return
      }
      markDirty()
    }
  }
}
