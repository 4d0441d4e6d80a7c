package import JSON
package import Model
internal import Signals
package import Wire

/// A subscription to all sources that match a pattern.
///
/// It delivers the newest value of each changed source. A commit notes the changes once for all
/// subscriptions to the pattern; each collects them in the time of its client.
package final class PatternSubscription: Subscription {
  private struct Pending {
    var change: PatternChange
    var skipped: UInt64

    /// Whether the client has no value of this source.
    var isNew: Bool

    /// The index of the source in ``order``, counted from the first one ever.
    var place: Int
  }

  /// A frame with a long list or map, which is written in steps.
  private final class LongFrame {
    /// The elements that one step writes.
    private static let perStep = 128

    let source: String
    let change: Pending
    private let elements: SourceCollection

    /// The text so far.
    private(set) var text = ByteBuffer()

    /// The bytes that the user is charged for it.
    var charged = 0
    private var next = 0

    /// - Returns: `nil` if the list is short.
    init?(_ source: String, _ change: Pending, _ elements: SourceCollection?) {
      guard let elements, elements.isLong else { return nil }
      (self.source, self.change, self.elements) = (source, change, elements)
      text.append(UInt8(ascii: elements.isList ? "[" : "{"))
    }

    /// Writes the next elements.
    ///
    /// - Returns: Whether elements are left.
    func step() -> Bool {
      var left = Self.perStep
      elements.forEach(from: next) { [self] key, value in
        SourceCollection.append(key, to: &text)
        text.append(value.text)
        left -= 1
        return left > 0
      }
      next += Self.perStep - left
      if next == elements.count { text.append(UInt8(ascii: elements.isList ? "]" : "}")) }
      return next < elements.count
    }
  }

  private let broadcast: PatternBroadcast
  private let value: (_ source: String) -> JSONText?
  private let elements: (_ source: String) -> SourceCollection?

  /// The frame of a long list or map that is not whole; `nil` if there is none.
  private var long: LongFrame?
  private let isDistinct: Bool
  private let part: WatchedPart?
  private var watch: (any Disposable)?
  private var pace: Pace

  /// The first round of the broadcast that was not collected; `nil` before the start.
  private var next: UInt64?

  /// The collected and unsent changes by source.
  ///
  /// A source that changes again moves to the end. A source that appeared and disappeared in
  /// between is removed, so the memory is bounded by the number of sources.
  private var pending: [String: Pending] = [:]
  private var order: [String?] = []

  /// The number of sources that were removed from the beginning of ``order``.
  private var removed = 0

  /// - Parameters:
  ///   - source: The pattern and its changes from now on.
  ///   - value: Returns the current value of a source whose change does not carry it.
  ///   - elements: Returns its elements; `nil` if it is no list or map.
  ///   - part: The part of each value that is sent; `nil` for all of it.
  ///   - isDistinct: Whether changes to an equal value are dropped.
  ///   - interval: The minimum interval between frames in milliseconds; 0 for none.
  package init(
    _ handle: Handle, to source: PatternSource,
    value: @escaping (String) -> JSONText? = { _ in nil },
    elements: @escaping (String) -> SourceCollection? = { _ in nil }, part: WatchedPart? = nil,
    on client: Client,
    isDistinct: Bool = true, everyMilliseconds interval: UInt64 = 0
  ) {
    let key = "pattern \(isDistinct ? "" : "every ")" + source.key
    broadcast = client.context.broadcasts.broadcast(key) {
      PatternBroadcast(source, isDistinct: isDistinct, $0, in: $1)
    }
    (self.value, self.elements, self.part) = (value, elements, part)
    self.isDistinct = isDistinct
    pace = Pace(everyMilliseconds: interval)
    super.init(handle, on: client)
  }

  /// Collecting takes time.
  override var isCostly: Bool { true }

  override func start() {
    pace.start(context)
    watch = part?.watch()
    broadcast.add(self)
    next = broadcast.begin(isOfPart: part != nil)
  }

  override func end() {
    if let next { broadcast.end(at: next, isOfPart: part != nil) }
    next = nil
    client.charge(-(long?.charged ?? 0))
    long = nil
    broadcast.remove(self)
    watch?.dispose()
    watch = nil
    pace.end()
  }

  override var backlog: (after: UInt64, isCaughtUp: Bool)? {
    let waiting = next.flatMap { broadcast.firstSeq(from: $0) }
    var unsent = pending.values.map(\.change.seq)
    if let waiting { unsent.append(waiting) }
    if let long { unsent.append(long.change.change.seq) }
    // Values that are not journaled have no position; they are sent again after a restart.
    guard let first = unsent.lazy.filter({ $0 > 0 }).min() else { return nil }
    return (first - 1, true)
  }

  override var holdsUnsent: Bool { !pending.isEmpty || long != nil }

  /// Takes a change from before this daemon started, or from before the start of the subscription;
  /// it has the part only.
  package func receive(_ change: SourceChange) {
    guard !isDistinct || !change.isRepeat else { return }
    add(change.source, PatternChange(change), [PatternBroadcast.Run(ChangeRun(change))])
    markDirty()
  }

  override func catchUp() { _ = collect() }

  /// Collects the changes while there is time.
  ///
  /// - Returns: Whether all are collected.
  private func collect() -> Bool {
    guard let next else { return true }
    let collected = broadcast.collect(from: next, until: { context.isTimeUp }) {
      source, change, runs in
      guard let part else { return add(source, change, runs) }
      let (before, value) = (runs.first?.before.flatMap(part.find), change.value.flatMap(part.find))
      // Some of the changes may not have been of the part.
      let isKnown = runs.first?.isBeforeKnown ?? true
      guard !isDistinct || !isKnown || before != value || pending[source] != nil else { return }
      let isNew = isKnown ? before == nil : runs.first?.isNew ?? false
      var run = PatternBroadcast.Run(isNew: isNew, isGone: value == nil)
      run.count = runs.reduce(0) { $0 + $1.count }
      add(source, PatternChange(seq: change.seq, value: value), [run])
    }
    self.next = collected.next
    return collected.isComplete
  }

  /// Adds the changes of a source to those that are not sent.
  private func add(
    _ source: String, _ change: PatternChange, _ runs: ArraySlice<PatternBroadcast.Run>
  ) {
    let before = pending[source]
    if let before { order[before.place - removed] = nil }
    var (skipped, isNew) = (before?.skipped, before?.isNew ?? false)
    for run in runs {
      if skipped == nil { isNew = run.isNew }
      if isNew, let count = run.sinceGone {
        // The client has not seen the source, and does not miss it.
        skipped = count > 0 ? count - 1 : nil
      } else {
        skipped = skipped.map { $0 + run.count } ?? run.count - 1
      }
    }
    guard let skipped else { return pending[source] = nil }
    pending[source] = Pending(
      change: change, skipped: skipped, isNew: isNew, place: removed + order.count)
    order.append(source)
    if order.count > 64, order.count > 2 * pending.count { compact() }
  }

  /// Removes the empty slots of superseded changes.
  private func compact() {
    order.removeAll { $0 == nil }
    removed = 0
    for (place, source) in order.enumerated() {
      if let source { pending[source]?.place = place }
    }
  }

  override func hasShown(_ position: UInt64) -> Bool { !isDirty && long == nil }

  override func fill(_ buffer: inout ByteBuffer) -> Bool {
    let isComplete = collect()
    guard writeLong(&buffer) else { return true }
    guard long == nil else { return false }
    guard !pending.isEmpty else { return isComplete }
    // Before the interval is used up.
    guard isComplete || !isNextAsked else { return false }
    guard pace.isDue(self) else { return isComplete }
    var next = 0
    defer {
      order.removeFirst(next)
      removed += next
    }
    while next < order.count, long == nil, buffer.count < client.chunkSize {
      if let source = order[next], let change = pending[source] {
        // Its value is the present one, whose last change may not be collected yet.
        guard isComplete || !change.change.isAsked else { return false }
        pending[source] = nil
        guard write(source, change, &buffer) else { return true }
      }
      next += 1
    }
    return isComplete && pending.isEmpty && long == nil
  }

  /// Whether the value of the next source must be fetched.
  private var isNextAsked: Bool {
    let next = order.lazy.compactMap(\.self).first
    return next.flatMap { pending[$0]?.change.isAsked } ?? false
  }

  /// - Returns: Whether the subscription continues.
  private func write(_ source: String, _ change: Pending, _ buffer: inout ByteBuffer) -> Bool {
    guard change.change.isAsked else {
      return write(source, change, change.change.value, &buffer)
    }
    long = LongFrame(source, change, elements(source))
    return long == nil ? write(source, change, value(source), &buffer) : writeLong(&buffer)
  }

  /// Writes a part of a long list or map, and the frame when it is whole.
  ///
  /// - Returns: Whether the subscription continues.
  private func writeLong(_ buffer: inout ByteBuffer) -> Bool {
    guard let frame = long else { return true }
    var isMore = true
    // A longer one cannot be sent.
    repeat {
      isMore = frame.step()
    } while isMore && frame.text.count <= client.lineOut && !context.isTimeUp
    guard !isMore || frame.text.count > client.lineOut else {
      client.charge(frame.text.count - frame.charged)
      frame.charged = frame.text.count
      return true
    }
    long = nil
    client.charge(-frame.charged)
    return write(frame.source, frame.change, &buffer) { $0.append(frame.text) }
  }

  private func write(
    _ source: String, _ change: Pending, _ value: JSONText?, _ buffer: inout ByteBuffer
  ) -> Bool {
    guard let value else { return write(source, change, &buffer, nil) }
    return write(source, change, &buffer) { $0.append(value.text) }
  }

  /// - Parameter value: Writes the value; `nil` if the source has none any more.
  private func write(
    _ source: String, _ change: Pending, _ buffer: inout ByteBuffer,
    _ value: ((inout ByteBuffer) -> Void)?
  ) -> Bool {
    let start = buffer.count
    appendHead(to: &buffer)
    let seq = change.change.seq > 0 ? change.change.seq : nil
    buffer.member("seq", seq)
    buffer.member("source", source)
    if let value {
      buffer.key("value")
      value(&buffer)
    } else {
      buffer.member("gone", true)
    }
    buffer.member("skipped", change.skipped > 0 ? change.skipped : nil)
    Frame.endParams(&buffer)
    return checkLine(from: start, seq: seq, &buffer)
  }
}
