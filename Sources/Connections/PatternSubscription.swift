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

  private let broadcast: PatternBroadcast
  private let value: (_ source: String) -> JSONText?
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
  ///   - part: The part of each value that is sent; `nil` for all of it.
  ///   - isDistinct: Whether changes to an equal value are dropped.
  ///   - interval: The minimum interval between frames in milliseconds; 0 for none.
  package init(
    _ handle: Handle, to source: PatternSource,
    value: @escaping (String) -> JSONText? = { _ in nil }, part: WatchedPart? = nil,
    on client: Client,
    isDistinct: Bool = true, everyMilliseconds interval: UInt64 = 0
  ) {
    let key = "pattern \(isDistinct ? "" : "every ")" + source.key
    broadcast = client.context.broadcasts.broadcast(key) {
      PatternBroadcast(source, isDistinct: isDistinct, $0, in: $1)
    }
    (self.value, self.part) = (value, part)
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
    broadcast.remove(self)
    watch?.dispose()
    watch = nil
    pace.end()
  }

  override var backlog: (after: UInt64, isCaughtUp: Bool)? {
    let collected = pending.values.lazy.map(\.change.seq).min()
    let waiting = next.flatMap { broadcast.firstSeq(from: $0) }
    guard let first = [collected, waiting].compactMap(\.self).min() else { return nil }
    return (first - min(first, 1), true)
  }

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

  override func fill(_ buffer: inout ByteBuffer) -> Bool {
    let isComplete = collect()
    guard !pending.isEmpty, pace.isDue(self) else { return isComplete }
    var next = 0
    defer {
      order.removeFirst(next)
      removed += next
    }
    while next < order.count, buffer.count < client.chunkSize {
      if let source = order[next], let change = pending.removeValue(forKey: source) {
        guard write(source, change, &buffer) else { return true }
      }
      next += 1
    }
    return isComplete && pending.isEmpty
  }

  private func write(_ source: String, _ change: Pending, _ buffer: inout ByteBuffer) -> Bool {
    let start = buffer.count
    appendHead(to: &buffer)
    let seq = change.change.seq > 0 ? change.change.seq : nil
    buffer.member("seq", seq)
    buffer.member("source", source)
    if let value = change.change.isAsked ? value(source) : change.change.value {
      buffer.member("value", value)
    } else {
      buffer.member("gone", true)
    }
    buffer.member("skipped", change.skipped > 0 ? change.skipped : nil)
    Frame.endParams(&buffer)
    return checkLine(from: start, seq: seq, &buffer)
  }
}
