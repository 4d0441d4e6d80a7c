internal import JSON
internal import Model
internal import Signals
package import Wire

/// A subscription to a log.
///
/// It delivers every entry once, in order, at the client's pace.
///
/// It holds a position instead of a queue. While it keeps up, it reads from memory; otherwise it
/// reads from the journal until it has caught up.
package final class LogSubscription: Subscription {
  private enum State {
    /// The next entry is in memory, at this index.
    case live(next: Int)
    /// The entries after ``cursor`` must be read from the journal.
    case past
    /// The entries are being read from the journal.
    case reading
    /// The next entry is in a batch from the journal, at this index.
    case page(Page<LogEntry>, next: Int)
    /// The journal cannot be read.
    case broken(WireError)
  }

  private let broadcast: LogBroadcast

  /// The log to read past entries from, already filtered.
  private let past: LogSource

  /// Returns whether an entry of the broadcast passes the filter; `nil` if all do.
  private let isWanted: ((LogEntry) -> Bool)?
  private let passesGaps: Bool
  private var state: State
  private var reading: (any Disposable)?

  /// Whether a page is read, or was not sent as a whole.
  private var holdsPage = false {
    didSet { if holdsPage != oldValue { context.counts.pages += holdsPage ? 1 : -1 } }
  }

  /// The position up to which the client has everything.
  private var cursor: UInt64

  /// The last position sent in a frame, from which a returning client resumes.
  private var lastSent: UInt64

  /// Whether the client knows that it has caught up.
  ///
  /// Reset when it falls behind.
  private var isCaughtUp: Bool

  /// The unacknowledged entries; `nil` if the client does not acknowledge.
  private var unacknowledged: Unacknowledged?

  /// Whether the client was notified that entries are paused until it acknowledges.
  private var isPaused = false

  /// The reason why the subscription is about to end.
  private var closing: String?

  /// Called when the subscription has ended.
  package var onEnd: (() -> Void)?

  /// - Parameters:
  ///   - isWanted: Returns whether a live entry passes the filter; `nil` if all do. It is called in
  ///     the client's own time slice. The source filters past entries.
  ///   - position: The position up to which the client has everything; `nil` for the current one.
  ///   - passesGaps: Whether removed entries are skipped with a notification instead of an error.
  ///   - maxUnacknowledged: The most unacknowledged entries to send; `nil` if the client does not
  ///     acknowledge.
  package init(
    _ handle: Handle, to source: LogSource, where isWanted: ((LogEntry) -> Bool)? = nil,
    after position: UInt64?, on client: Client, passesGaps: Bool = false,
    maxUnacknowledged: Int? = nil
  ) {
    past = source
    self.isWanted = isWanted
    broadcast = client.context.broadcasts.broadcast("log " + source.key) {
      LogBroadcast(source, $0, in: $1)
    }
    self.passesGaps = passesGaps
    unacknowledged = maxUnacknowledged.map { Unacknowledged(max: $0) }
    cursor = position ?? broadcast.end
    lastSent = cursor
    isCaughtUp = position == nil
    state = position == nil ? .live(next: broadcast.endIndex) : .past
    super.init(handle, on: client)
  }

  /// Whether entries are filtered or converted while they are sent.
  override var isCostly: Bool { isWanted != nil || past.convert != nil || past.makeFeed != nil }

  override func start() {
    broadcast.add(self)
    // After a restart a resumed subscription may be behind, although the client saw `caught_up`.
    if case .past = state { return markDirty() }
    // Entries that others have not collected yet wake nobody again.
    if broadcast.hasNews { markDirty() }
  }

  override func end() {
    broadcast.remove(self)
    reading?.dispose()
    holdsPage = false
    onEnd?()
    onEnd = nil
  }

  override var backlog: (after: UInt64, isCaughtUp: Bool)? {
    if case .live(let next) = state, isCaughtUp, next >= broadcast.endIndex, !broadcast.hasNews {
      return nil
    }
    return (cursor, isCaughtUp)
  }

  /// Whether entries may wait that the client was not sent.
  package var isBehind: Bool { backlog != nil }

  /// Goes on where an earlier daemon has stopped.
  ///
  /// - Parameters:
  ///   - isCaughtUp: Whether the client knows that it has caught up.
  ///   - unacknowledged: The entries that it has and has not acknowledged.
  package func resume(isCaughtUp: Bool, unacknowledged: [UInt64]) {
    self.isCaughtUp = isCaughtUp
    for seq in unacknowledged { self.unacknowledged?.append(seq) }
  }

  /// Ends the subscription with a reason, before anything else is sent.
  package func close(_ reason: String) {
    closing = reason
    markDirty()
  }

  // MARK: Acknowledging

  /// The number of unacknowledged entries.
  package var unacknowledgedCount: Int { unacknowledged?.count ?? 0 }

  /// The position of the last unacknowledged entry; `nil` if there is none.
  package var lastUnacknowledged: UInt64? { unacknowledged?.last }

  /// The last position sent in a frame, up to which the client can acknowledge.
  package var lastTold: UInt64 { lastSent }

  /// Acknowledges all entries up to a position.
  package func acknowledge(upTo seq: UInt64) {
    unacknowledged?.acknowledge(upTo: seq)
    guard isPaused else { return }
    isPaused = false
    markDirty()
  }

  /// Returns whether sending is paused until the client acknowledges, and notifies it once.
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
      guard buffer.count < client.chunkSize else { return false }
      switch state {
      case .live(let next):
        let hasAll = broadcast.collect { context.isTimeUp }
        guard next >= broadcast.firstIndex else {
          fallBehind(&buffer)
          continue
        }
        return fillLive(from: next, hasAll: hasAll, &buffer)
      case .past:
        guard cursor >= broadcast.start else {
          if cursor - lastSent >= LogBroadcast.eventsBetweenMarks { tell("mark", &buffer) }
          read()
          return true
        }
        state = .live(next: broadcast.index(after: cursor))
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

  /// - Parameter hasAll: Whether the broadcast has collected all entries.
  private func fillLive(from first: Int, hasAll: Bool, _ buffer: inout ByteBuffer) -> Bool {
    var next = first
    // Entries read from the journal may be newer than the broadcast's next entry.
    while next < broadcast.endIndex, broadcast[next].seq <= cursor { next += 1 }
    while next < broadcast.endIndex {
      let (first, end) = wanted(from: next)
      next = first
      guard first < end else {
        // Advances past the rejected entries so that they are not filtered again.
        cursor = max(cursor, broadcast[first - 1].seq)
        guard first < broadcast.endIndex else { break }
        state = .live(next: next)
        return false
      }
      guard buffer.count < client.chunkSize else {
        state = .live(next: next)
        return false
      }
      guard !pauses(&buffer) else {
        state = .live(next: next)
        return true
      }
      next = writeLive(next..<end, &buffer)
      guard !isOver else { return true }
      if past.convert != nil, next < broadcast.endIndex, context.isTimeUp {
        state = .live(next: next)
        return false
      }
    }
    state = .live(next: next)
    guard hasAll else { return false }
    cursor = max(cursor, broadcast.end)
    if !isCaughtUp {
      isCaughtUp = true
      tell("caught_up", &buffer)
    } else if broadcast.marked > lastSent {
      tell("mark", &buffer)
    }
    return true
  }

  /// Finds the next consecutive entries in memory that pass the filter.
  ///
  /// Returns an empty range at the position where the search stopped, if there are none or the
  /// client's time slice is over.
  private func wanted(from next: Int) -> (first: Int, end: Int) {
    guard let isWanted else { return (next, broadcast.endIndex) }
    var first = next
    while first < broadcast.endIndex, !isWanted(broadcast[first]) {
      first += 1
      if context.isTimeUp { return (first, first) }
    }
    guard first < broadcast.endIndex else { return (first, first) }
    var end = first + 1
    while end < broadcast.endIndex, end - first < Self.wantedAtOnce, !context.isTimeUp,
      isWanted(broadcast[end])
    {
      end += 1
    }
    return (first, end)
  }

  /// The most entries to filter before writing them.
  private static let wantedAtOnce = 64

  /// - Returns: Whether the subscription can continue.
  private func fillPage(
    _ page: Page<LogEntry>, from first: Int, _ buffer: inout ByteBuffer
  ) -> Bool {
    var next = first
    // Gaps are reported at their position among the entries.
    var holes = page.holes.drop { $0.upperBound <= cursor }
    while next < page.entries.count || !holes.isEmpty {
      let all = 0..<page.entries.count
      let end =
        holes.first.map { page.entries.index(after: $0.upperBound, in: all) } ?? all.upperBound
      let isPaused = next < end && pauses(&buffer)
      guard !isPaused, buffer.count < client.chunkSize else {
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
    holdsPage = false
    return true
  }

  /// Appends the frames of entries in memory, up to about ``Client/chunkSize``.
  ///
  /// - Returns: The index after the last entry.
  private func writeLive(_ range: Range<Int>, _ buffer: inout ByteBuffer) -> Int {
    var range = range
    if let unacknowledged { range = range.prefix(unacknowledged.room) }
    if let convert = past.convert {
      let entries = range.prefix(Self.wantedAtOnce).map { convert(broadcast[$0]) }
      return range.lowerBound + write(entries, from: 0, upTo: entries.count, &buffer)
    }
    let copied = broadcast.write(range, to: self, of: client, itemLimit: itemLimit, &buffer)
    cursor = copied.seq
    lastSent = cursor
    if unacknowledged != nil {
      for i in range.lowerBound..<copied.next { unacknowledged?.append(broadcast[i].seq) }
    }
    _ = checkLine(from: copied.line, seq: cursor, &buffer)
    return copied.next
  }

  /// The longest frame with several entries, in bytes; `nil` if the client takes only one in each.
  private var itemLimit: Int? { client.takesItems ? min(client.lineOut, client.chunkSize) : nil }

  /// Appends a frame with entries from the journal.
  ///
  /// - Returns: The number of entries in the frame.
  private func write(
    _ entries: [LogEntry], from next: Int, upTo end: Int, _ buffer: inout ByteBuffer
  ) -> Int {
    let start = buffer.count
    var count = 1
    if let limit = itemLimit {
      let end = min(end, unacknowledged.map { next + $0.room } ?? end)
      count = LogFrame.write(
        entries, from: next, upTo: end, after: head, limit: limit, to: &buffer)
    } else {
      LogFrame.write(entries[next], after: head, to: &buffer)
    }
    cursor = entries[next + count - 1].seq
    lastSent = cursor
    if unacknowledged != nil {
      for i in next..<next + count { unacknowledged?.append(entries[i].seq) }
    }
    _ = checkLine(from: start, seq: cursor, &buffer)
    return count
  }

  /// Appends a notification with the client's position.
  private func tell(_ method: StaticString, _ buffer: inout ByteBuffer) {
    notify(method, seq: cursor, &buffer)
    lastSent = cursor
  }

  /// Switches to reading from the journal because the next entry is no longer in memory.
  private func fallBehind(_ buffer: inout ByteBuffer) {
    state = .past
    guard isCaughtUp else { return }
    isCaughtUp = false
    notifyBehind(at: cursor, last: broadcast.end, &buffer)
  }

  /// Skips a gap at the start of the journal, if the client wants that, and reports it.
  private func passGap(_ error: WireError, _ buffer: inout ByteBuffer) -> Bool {
    let first = past.first()
    guard passesGaps, error.name == .seqExpired, first > cursor + 1 else { return false }
    skip(cursor + 1...first - 1, &buffer)
    isCaughtUp = false
    state = .past
    return true
  }

  /// Skips removed positions and reports them.
  private func skip(_ missed: ClosedRange<UInt64>, _ buffer: inout ByteBuffer) {
    notifyLagged(missed: missed, &buffer)
    cursor = missed.upperBound
    lastSent = cursor
  }

  /// The fewest entries of a page, and the most of all pages that subscriptions hold.
  private static let pageEntries = (least: 64, ofAll: 128_000)

  private func read() {
    state = .reading
    holdsPage = true
    // Thousands of subscriptions may have fallen behind together.
    let share = Self.pageEntries.ofAll / max(1, context.counts.pages)
    let limit = min(max(Self.pageEntries.least, share), LogSource.pageEntries)
    reading = past.read(cursor, limit).observe { [unowned self] event in
      switch event {
      case .next(let page): state = .page(page, next: 0)
      case .failed(let error):
        holdsPage = false
        if error.name == .readOnly { return readLater() }
        state = .broken(error)
      case .completed: return
      }
      markDirty()
    }
  }

  /// Reads again after a pause, because the database of the journal is away.
  private func readLater() {
    reading = context.scheduler.schedule(after: Self.pauseSeconds) { [weak self] in self?.read() }
  }

  /// The pause before reading again, in seconds.
  private static let pauseSeconds = 1.0
}

/// The positions that were sent and not acknowledged yet, with a maximum count.
struct Unacknowledged {
  private let max: Int

  /// The positions in order.
  ///
  /// Those before ``start`` are acknowledged.
  private var seqs: [UInt64] = []
  private var start = 0

  init(max: Int) {
    self.max = max
  }

  var count: Int { seqs.count - start }

  /// The last position; `nil` if all are acknowledged.
  var last: UInt64? { start < seqs.count ? seqs.last : nil }

  /// The number of entries that may still be sent.
  var room: Int { max - count }

  mutating func append(_ seq: UInt64) {
    seqs.append(seq)
  }

  /// Removes all positions up to an acknowledged one.
  mutating func acknowledge(upTo seq: UInt64) {
    while start < seqs.count, seqs[start] <= seq { start += 1 }
    guard start > seqs.count / 2 else { return }
    seqs.removeFirst(start)
    start = 0
  }
}
