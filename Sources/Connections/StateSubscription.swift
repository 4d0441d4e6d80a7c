internal import Facts
package import JSON
internal import Signals
package import Wire

/// A subscription to one value.
///
/// It delivers the newest value when the client can take it.
package final class StateSubscription: Subscription {
  private let feed: StateFeed
  private let isDistinct: Bool
  private var pace: Pace

  /// The change count of the feed when the last value was sent.
  private var sent: UInt64
  private var sentValue: JSONText?

  /// - Parameters:
  ///   - isDistinct: Whether values equal to the last sent one are dropped.
  ///   - interval: The minimum interval between frames in milliseconds; 0 for none.
  package init(
    _ handle: Handle, to source: StateSource, on connection: Connection, isDistinct: Bool = true,
    everyMilliseconds interval: UInt64 = 0
  ) {
    let hub = connection.hub
    feed = hub.feed("state " + source.key) { StateFeed(source, $0, hub) }
    self.isDistinct = isDistinct
    pace = Pace(everyMilliseconds: interval)
    sent = feed.count
    sentValue = feed.value
    super.init(handle, on: connection)
  }

  /// The value for the answer.
  ///
  /// Nothing older is sent after it.
  package var value: JSONText? { sentValue }

  override func start() {
    feed.add(self)
    pace.start(connection.hub)
  }

  override func end() {
    feed.remove(self)
    pace.end()
  }

  override func fill(_ buffer: inout ByteBuffer) -> Bool {
    let skipped = feed.count - sent
    guard skipped > 0, pace.isDue(self) else { return true }
    defer {
      sent = feed.count
      sentValue = feed.value
    }
    if isDistinct, feed.value == sentValue { return true }
    let start = buffer.count
    buffer.append(head)
    let seq = feed.source.isJournaled ? feed.seq : nil
    buffer.member("seq", seq)
    if let value = feed.value, feed.source.isLoading {
      buffer.members(of: value)
    } else if let value = feed.value {
      buffer.member("value", value)
    } else {
      buffer.member("gone", true)
    }
    buffer.member("skipped", skipped > 1 ? skipped - 1 : nil)
    Frame.endParams(&buffer)
    _ = checkLine(from: start, seq: seq, &buffer)
    return true
  }
}

/// The value of one source, shared by all its subscriptions.
final class StateFeed: Feed {
  let source: StateSource
  private(set) var value: JSONText?

  /// The position of the last change.
  private(set) var seq: UInt64 = 0

  /// The number of changes since the feed was created.
  private(set) var count: UInt64 = 0

  init(_ source: StateSource, _ key: String, _ hub: Hub) {
    self.source = source
    value = source.value()
    super.init(key, hub)
    observation = source.changes.observeNext { [unowned self] in receive($0) }
  }

  private func receive(_ change: SourceChange) {
    value = change.value
    seq = change.seq
    count += 1
    wake()
  }
}
