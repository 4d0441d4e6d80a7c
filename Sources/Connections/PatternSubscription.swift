package import JSON
package import Model
package import Signals
package import Wire

/// A subscription to all sources that match a pattern.
///
/// It delivers the newest value of each changed source.
package final class PatternSubscription: Subscription {
  private struct Pending {
    var seq: UInt64
    var value: JSONText?

    /// Whether the value must be fetched, because the changes are steps of a collection.
    var isAsked: Bool
    var skipped: UInt64

    /// Whether the client has no value of this source.
    var isNew: Bool

    /// The index of the source in ``order``.
    var place: Int
  }

  private let changes: Signal<SourceChange, Never>
  private let value: (_ source: String) -> JSONText?
  private let isDistinct: Bool
  private var pace: Pace
  private var observation: (any Disposable)?

  /// The unsent changes by source.
  ///
  /// A source that changes again moves to the end. A source that appeared and disappeared in
  /// between is removed, so the memory is bounded by the number of sources.
  private var pending: [String: Pending] = [:]
  private var order: [String?] = []

  /// - Parameters:
  ///   - changes: The changes of the matching sources from now on.
  ///   - value: Returns the current value of a source whose change does not carry it.
  ///   - isDistinct: Whether changes to an equal value are dropped.
  ///   - interval: The minimum interval between frames in milliseconds; 0 for none.
  package init(
    _ handle: Handle, to changes: Signal<SourceChange, Never>,
    value: @escaping (String) -> JSONText? = { _ in nil }, on client: Client,
    isDistinct: Bool = true, everyMilliseconds interval: UInt64 = 0
  ) {
    self.changes = changes
    self.value = value
    self.isDistinct = isDistinct
    pace = Pace(everyMilliseconds: interval)
    super.init(handle, on: client)
  }

  override func start() {
    pace.start(context)
    observation = changes.observeNext { [unowned self] in receive($0) }
  }

  override func end() {
    observation?.dispose()
    pace.end()
  }

  override var backlog: (after: UInt64, isCaughtUp: Bool)? {
    guard let first = pending.values.lazy.map(\.seq).min() else { return nil }
    return (first - min(first, 1), true)
  }

  /// Takes a change, also one from before this daemon started.
  package func receive(_ change: SourceChange) {
    guard !isDistinct || !change.isRepeat else { return }
    var skipped: UInt64 = 0
    var isNew = change.isNew
    if let before = pending[change.source] {
      skipped = before.skipped + 1
      isNew = before.isNew
      order[before.place] = nil
      if isNew, change.isGone {
        pending[change.source] = nil
        return
      }
    }
    pending[change.source] = Pending(
      seq: change.seq, value: change.value, isAsked: change.step != nil, skipped: skipped,
      isNew: isNew, place: order.count)
    order.append(change.source)
    if order.count > 64, order.count > 2 * pending.count { compact() }
    markDirty()
  }

  /// Removes the empty slots of superseded changes.
  private func compact() {
    order.removeAll { $0 == nil }
    for (place, source) in order.enumerated() {
      if let source { pending[source]?.place = place }
    }
  }

  override func fill(_ buffer: inout ByteBuffer) -> Bool {
    guard !pending.isEmpty, pace.isDue(self) else { return true }
    var next = 0
    while next < order.count, buffer.count < client.chunkSize {
      if let source = order[next], let change = pending.removeValue(forKey: source) {
        guard write(source, change, &buffer) else { return true }
      }
      next += 1
    }
    order.removeFirst(next)
    for (place, source) in order.enumerated() {
      if let source { pending[source]?.place = place }
    }
    return pending.isEmpty
  }

  private func write(_ source: String, _ change: Pending, _ buffer: inout ByteBuffer) -> Bool {
    let start = buffer.count
    appendHead(to: &buffer)
    let seq = change.seq > 0 ? change.seq : nil
    buffer.member("seq", seq)
    buffer.member("source", source)
    if let value = change.isAsked ? value(source) : change.value {
      buffer.member("value", value)
    } else {
      buffer.member("gone", true)
    }
    buffer.member("skipped", change.skipped > 0 ? change.skipped : nil)
    Frame.endParams(&buffer)
    return checkLine(from: start, seq: seq, &buffer)
  }
}
