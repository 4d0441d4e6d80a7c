package import JSON
package import Model
package import Signals
package import Wire

/// A subscription to one value.
///
/// It delivers the newest value when the client can take it.
package final class StateSubscription: Subscription {
  private let broadcast: StateBroadcast
  private let isDistinct: Bool
  private var pace: Pace

  /// The change count of the broadcast when the last value was sent.
  private var sent: UInt64
  private var sentValue: JSONText?

  /// The changes since an earlier daemon sent the value, before the broadcast was created.
  private var missed: UInt64 = 0

  /// Whether the value that an earlier daemon sent is not known.
  private var isUnknown = false

  /// The position up to which the client knows the value.
  private var shownAt: UInt64

  /// - Parameters:
  ///   - isDistinct: Whether values equal to the last sent one are dropped.
  ///   - interval: The minimum interval between frames in milliseconds; 0 for none.
  package init(
    _ handle: Handle, to source: StateSource, on client: Client, isDistinct: Bool = true,
    everyMilliseconds interval: UInt64 = 0
  ) {
    broadcast = client.context.broadcasts.broadcast("state " + source.key) {
      StateBroadcast(source, $0, in: $1)
    }
    self.isDistinct = isDistinct
    pace = Pace(everyMilliseconds: interval)
    sent = broadcast.count
    sentValue = broadcast.value
    shownAt = client.context.position
    super.init(handle, on: client)
  }

  /// The value for the answer.
  ///
  /// Nothing older is sent after it.
  package var value: JSONText? { sentValue }

  override func start() {
    broadcast.add(self)
    pace.start(context)
  }

  override func end() {
    broadcast.remove(self)
    pace.end()
  }

  override var backlog: (after: UInt64, isCaughtUp: Bool)? {
    broadcast.count > sent || missed > 0 ? (shownAt, true) : nil
  }

  /// Goes on with a client that has a value from an earlier daemon.
  ///
  /// - Parameters:
  ///   - position: The position up to which the client knows the value.
  ///   - value: The value that it has.
  ///   - count: The number of changes since then; at least one.
  ///   - seq: The position of the last one.
  package func resume(
    after position: UInt64, with value: JSONText?, missing count: Int, last seq: UInt64
  ) {
    shownAt = position
    broadcast.advance(at: seq)
    missed = UInt64(count)
    sentValue = value
    markDirty()
  }

  /// Sends the value, because it is not known whether the client has it.
  package func sendAgain() {
    (missed, isUnknown) = (1, true)
    markDirty()
  }

  override func fill(_ buffer: inout ByteBuffer) -> Bool {
    let skipped = broadcast.count - sent + missed
    guard skipped > 0, pace.isDue(self) else { return true }
    defer {
      sent = broadcast.count
      sentValue = broadcast.value
      shownAt = context.position
      (missed, isUnknown) = (0, false)
    }
    if isDistinct, !isUnknown {
      let isMissingOne = skipped == 1 && missed == 0
      if isMissingOne ? broadcast.isRepeated : broadcast.value == sentValue { return true }
    }
    let start = buffer.count
    appendHead(to: &buffer)
    broadcast.writeBody(skipped: skipped - 1, &buffer)
    _ = checkLine(from: start, seq: broadcast.shownSeq, &buffer)
    return true
  }
}

/// The value of one source, shared by all its subscriptions.
final class StateBroadcast: Broadcast {
  let source: StateSource
  private(set) var value: JSONText?

  /// Whether the value is equal to the one before the last change.
  private(set) var isRepeated = false

  /// The position of the last change.
  private(set) var seq: UInt64 = 0

  /// The number of changes since the broadcast was created.
  private(set) var count: UInt64 = 0

  /// The part of the last frame after its head, which subscribers share in this turn; empty if none
  /// was encoded.
  private var body = ByteBuffer()

  /// The number of skipped changes in ``body``.
  private var bodySkipped: UInt64 = 0

  init(_ source: StateSource, _ key: String, in table: BroadcastTable) {
    self.source = source
    value = source.value()
    super.init(key, in: table)
    observation = source.changes.observeNext { [unowned self] in receive($0) }
  }

  private func receive(_ change: SourceChange) {
    isRepeated = value == change.value
    value = change.value
    seq = change.seq
    count += 1
    body.removeAll(keepingCapacity: 0)
    wake()
  }

  /// Notes the position of a change before this daemon started.
  func advance(at seq: UInt64) { self.seq = max(self.seq, seq) }

  /// The position of the last change; `nil` if the source has none.
  var shownSeq: UInt64? { source.isJournaled ? seq : nil }

  /// Appends the frame with the present value, without its head.
  ///
  /// - Parameter skipped: The number of changes that the client did not get.
  func writeBody(skipped: UInt64, _ buffer: inout ByteBuffer) {
    if body.isEmpty || skipped != bodySkipped {
      keepFrames {
        encodeBody(skipped)
        return body.count
      }
    }
    buffer.append(body)
  }

  private func encodeBody(_ skipped: UInt64) {
    body.removeAll()
    bodySkipped = skipped
    body.member("seq", shownSeq)
    if let value, source.isLoading {
      body.members(of: value)
    } else if let value {
      body.member("value", value)
    } else {
      body.member("gone", true)
    }
    body.member("skipped", skipped > 0 ? skipped : nil)
    Frame.endParams(&body)
  }

  override func dropFrames() { body.removeAll(keepingCapacity: 0) }
}

/// A source with a value that clients can watch.
package struct StateSource {
  /// The key of the shared broadcast.
  ///
  /// Sources with the same key share their data.
  package let key: String

  /// Whether the changes are events in the journal, so that they have positions.
  package let isJournaled: Bool

  /// Whether the value has a loading state: an object whose members are inlined into the frames.
  package let isLoading: Bool

  /// Returns the current value; `nil` if there is none.
  package let value: () -> JSONText?

  /// Every change from now on.
  package let changes: Signal<SourceChange, Never>

  package init(
    key: String, isJournaled: Bool, isLoading: Bool = false, value: @escaping () -> JSONText?,
    changes: Signal<SourceChange, Never>
  ) {
    self.key = key
    self.isJournaled = isJournaled
    self.isLoading = isLoading
    self.value = value
    self.changes = changes
  }
}
