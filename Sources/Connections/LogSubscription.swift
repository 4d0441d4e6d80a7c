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

  /// What it reads of the past: the entries of the feed that are wanted.
  private let past: LogSource

  /// Whether an entry of the feed is wanted; `nil` when all are.
  private let isWanted: ((LogEntry) -> Bool)?
  private let passesGaps: Bool
  private var state: State
  private var reading: (any Disposable)?

  /// The position up to which the client has everything.
  private var cursor: UInt64

  /// The last position that stood in a frame: from there a client goes on that comes again.
  private var told: UInt64

  /// Whether the client was told that it has everything, and was not told since that it has not.
  private var isCaughtUp: Bool

  /// What it has not acknowledged; `nil` for one that does not acknowledge.
  private var unacknowledged: Unacknowledged?

  /// Whether it was told that nothing comes before it acknowledges.
  private var isPaused = false

  /// Why it is to end.
  private var closing: StaticString?

  /// Called when it has ended.
  package var onEnd: (() -> Void)?

  /// - Parameters:
  ///   - isWanted: Whether a live entry is wanted; `nil` when all are. What is read of the past was
  ///     chosen by the source. It is asked when the client has its turn, so that entries which nobody
  ///     wants cost others nothing.
  ///   - position: The client has everything up to here; `nil` for everything up to now.
  ///   - passesGaps: Whether it goes on behind what is not kept any more; it is told what that was.
  ///   - maxUnacknowledged: How many entries are sent that the client has not acknowledged; `nil`
  ///     for a client that does not.
  package init(
    _ handle: Handle, to source: LogSource, where isWanted: ((LogEntry) -> Bool)? = nil,
    after position: UInt64?, on connection: Connection, passesGaps: Bool = false,
    maxUnacknowledged: Int? = nil
  ) {
    let hub = connection.hub
    past = source
    self.isWanted = isWanted
    feed = hub.feed("log " + source.key) { LogFeed(source, $0, hub) }
    self.passesGaps = passesGaps
    unacknowledged = maxUnacknowledged.map { Unacknowledged(max: $0) }
    cursor = position ?? feed.end
    told = cursor
    isCaughtUp = position == nil
    state = position == nil ? .live(next: feed.endIndex) : .past
    super.init(handle, on: connection)
  }

  /// Whether what it sends is chosen while it is sent.
  override var isCostly: Bool { isWanted != nil }

  override func start() {
    feed.add(self)
    if !isCaughtUp { markDirty() }
  }

  override func end() {
    feed.remove(self)
    reading?.dispose()
    onEnd?()
    onEnd = nil
  }

  /// Ends it, before anything else is sent, and tells the client why.
  package func close(_ reason: StaticString) {
    closing = reason
    markDirty()
  }

  // MARK: Acknowledging

  /// How many entries the client has not acknowledged.
  package var unacknowledgedCount: Int { unacknowledged?.count ?? 0 }

  /// The last position that stood in a frame: up to there a client can acknowledge.
  package var lastTold: UInt64 { told }

  /// The client has done with everything up to a position.
  package func acknowledge(upTo seq: UInt64) {
    unacknowledged?.acknowledge(upTo: seq)
    guard isPaused else { return }
    isPaused = false
    markDirty()
  }

  /// Whether nothing may be sent before the client acknowledges; tells it so.
  private func pauses(_ buffer: inout ByteBuffer) -> Bool {
    guard let unacknowledged, unacknowledged.room == 0 else { return false }
    if !isPaused { notifyPaused(unacknowledged.count, &buffer) }
    isPaused = true
    return true
  }

  // MARK: Sending

  override func hasShown(_ position: UInt64) -> Bool {
    if case .live = state { return !isDirty }
    return isPaused || cursor >= position
  }

  override func fill(_ buffer: inout ByteBuffer) -> Bool {
    if let closing { close(closing, &buffer) }
    while !isOver {
      guard buffer.count < connection.chunkSize else { return false }
      switch state {
      case .live(let next):
        guard next >= feed.firstIndex else {
          fallBehind(&buffer)
          continue
        }
        return fillLive(from: next, &buffer)
      case .past:
        guard cursor >= feed.start else {
          if cursor - told >= LogFeed.eventsBetweenMarks { tell("mark", &buffer) }
          read()
          return true
        }
        state = .live(next: feed.index(after: cursor))
      case .reading:
        return true
      case .page(let page, let next):
        guard fillPage(page, from: next, &buffer) else { return true }
      case .broken(let error):
        if !passGap(error, &buffer) { fail(error, seq: cursor, &buffer) }
      }
    }
    return true
  }

  private func fillLive(from first: Int, _ buffer: inout ByteBuffer) -> Bool {
    var next = first
    // What was read may have been ahead of what has been told live.
    while next < feed.endIndex, feed[next].seq <= cursor { next += 1 }
    while next < feed.endIndex {
      let (first, end) = wanted(from: next)
      next = first
      guard first < end else {
        // What was looked at is not looked at again.
        cursor = max(cursor, feed[first - 1].seq)
        guard first < feed.endIndex else { break }
        state = .live(next: next)
        return false
      }
      guard buffer.count < connection.chunkSize else {
        state = .live(next: next)
        return false
      }
      guard !pauses(&buffer) else {
        state = .live(next: next)
        return true
      }
      next += write(feed, from: next, upTo: end, &buffer)
      guard !isOver else { return true }
    }
    state = .live(next: next)
    cursor = max(cursor, feed.end)
    if !isCaughtUp {
      isCaughtUp = true
      tell("caught_up", &buffer)
    } else if feed.marked > told {
      tell("mark", &buffer)
    }
    return true
  }

  /// The next entries in memory that are wanted and follow each other; an empty range where the search
  /// has ended, when there are none, or the client's time of this turn is up.
  private func wanted(from next: Int) -> (first: Int, end: Int) {
    guard let isWanted else { return (next, feed.endIndex) }
    var first = next
    while first < feed.endIndex, !isWanted(feed[first]) {
      first += 1
      if connection.hub.time.isUp() { return (first, first) }
    }
    guard first < feed.endIndex else { return (first, first) }
    var end = first + 1
    while end < feed.endIndex, end - first < Self.wantedAtOnce, !connection.hub.time.isUp(),
      isWanted(feed[end])
    {
      end += 1
    }
    return (first, end)
  }

  /// Entries that are looked at ahead of being written.
  private static let wantedAtOnce = 64

  /// - Returns: Whether it may go on.
  private func fillPage(_ page: LogBatch, from first: Int, _ buffer: inout ByteBuffer) -> Bool {
    var next = first
    // What is not kept any more is told where it stood.
    var holes = page.holes.drop { $0.upperBound <= cursor }
    while next < page.entries.count || !holes.isEmpty {
      let all = 0..<page.entries.count
      let end =
        holes.first.map { page.entries.index(after: $0.upperBound, in: all) } ?? all.upperBound
      let isPaused = next < end && pauses(&buffer)
      guard !isPaused, buffer.count < connection.chunkSize else {
        state = .page(page, next: next)
        return !isPaused
      }
      if next < end {
        next += write(page.entries, from: next, upTo: end, &buffer)
        guard !isOver else { return false }
      } else if let hole = holes.popFirst() {
        skip(hole, &buffer)
      }
    }
    cursor = page.end
    state = .past
    return true
  }

  /// Appends a frame.
  ///
  /// - Returns: How many entries it holds.
  @inline(__always)
  private func write(
    _ entries: some LogEntries, from next: Int, upTo end: Int, _ buffer: inout ByteBuffer
  ) -> Int {
    let start = buffer.count
    var count = 1
    if connection.takesItems {
      let limit = min(connection.lineOut, connection.chunkSize)
      let end = min(end, unacknowledged.map { next + $0.room } ?? end)
      count = LogFrame.write(
        entries, from: next, upTo: end, after: head, limit: limit, to: &buffer)
    } else {
      LogFrame.write(entries[next], after: head, to: &buffer)
    }
    cursor = entries[next + count - 1].seq
    told = cursor
    if unacknowledged != nil {
      for i in next..<next + count { unacknowledged?.note(entries[i].seq) }
    }
    _ = checkLine(from: start, seq: cursor, &buffer)
    return count
  }

  /// Appends a notification that says how far the client is.
  private func tell(_ method: StaticString, _ buffer: inout ByteBuffer) {
    notify(method, seq: cursor, &buffer)
    told = cursor
  }

  /// What comes next is not in memory any more.
  private func fallBehind(_ buffer: inout ByteBuffer) {
    state = .past
    guard isCaughtUp else { return }
    isCaughtUp = false
    notifyBehind(at: cursor, last: feed.end, &buffer)
  }

  /// Goes on behind what is not kept any more, if the client wants that, and says what it was.
  private func passGap(_ error: WireError, _ buffer: inout ByteBuffer) -> Bool {
    let first = past.first()
    guard passesGaps, error.name == .seqExpired, first > cursor + 1 else { return false }
    skip(cursor + 1...first - 1, &buffer)
    isCaughtUp = false
    state = .past
    return true
  }

  /// Goes on behind positions that are not kept any more, and says which.
  private func skip(_ missed: ClosedRange<UInt64>, _ buffer: inout ByteBuffer) {
    notifyLagged(missed: missed, &buffer)
    cursor = missed.upperBound
    told = cursor
  }

  private func read() {
    state = .reading
    reading = past.read(cursor).observe { [unowned self] event in
      switch event {
      case .next(let page): state = .page(page, next: 0)
      case .failed(let error): state = .broken(error)
      case .completed: return
      }
      markDirty()
    }
  }
}
