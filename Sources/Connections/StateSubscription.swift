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
    broadcast = client.context.broadcasts.state(source)
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

/// The value of one source, or of a part of it, shared by all its subscriptions.
///
/// A commit notes a change once for a source, however many parts of it are watched. A part is found
/// in the time of the first client that is sent it.
final class StateBroadcast: Broadcast {
  let source: StateSource

  /// The value of the whole source; `nil` if this is that.
  private let whole: StateBroadcast?

  /// The number of changes of the whole source when this broadcast was created.
  private let first: UInt64

  private var text: JSONText?
  private var changes: UInt64 = 0
  private var lastSeq: UInt64 = 0
  private var repeats = false

  /// The number of changes for which the part was found.
  private var found: UInt64 = 0

  /// The part of the last frame after its head, which subscribers share in this turn; empty if none
  /// was encoded.
  private var body = ByteBuffer()

  /// The number of skipped changes in ``body``.
  private var bodySkipped: UInt64 = 0

  init(_ source: StateSource, _ whole: StateBroadcast?, _ key: String, in table: BroadcastTable) {
    (self.source, self.whole) = (source, whole)
    first = whole?.changes ?? 0
    let watch = source.part?.watch()
    text = source.part.map { source.value().flatMap($0.find) } ?? source.value()
    super.init(key, in: table)
    if let whole {
      whole.add(dependent: self)
      observation = BlockDisposable { [unowned self] in
        watch?.dispose()
        whole.remove(dependent: self)
      }
    } else {
      observation = source.changes.observeNext { [unowned self] in receive($0) }
    }
  }

  private func receive(_ change: SourceChange) {
    repeats = text == change.value
    text = change.value
    lastSeq = change.seq
    changes += 1
    body.removeAll(keepingCapacity: 0)
    wake()
  }

  /// Finds the part in the present value, if that has changed.
  private func refresh() {
    guard let whole, let part = source.part, found != count else { return }
    found = count
    let value = whole.text.flatMap(part.find)
    repeats = value == text
    text = value
    body.removeAll(keepingCapacity: 0)
  }

  /// The present value.
  var value: JSONText? {
    refresh()
    return text
  }

  /// Whether the value is equal to the one before the last change.
  ///
  /// For a part, to the one that was found last.
  var isRepeated: Bool {
    refresh()
    return repeats
  }

  /// The position of the last change.
  private var seq: UInt64 { max(lastSeq, whole?.lastSeq ?? 0) }

  /// The number of changes since the broadcast was created.
  var count: UInt64 { (whole?.changes ?? changes) - first }

  /// Notes the position of a change before this daemon started.
  func advance(at seq: UInt64) { lastSeq = max(lastSeq, seq) }

  /// The position of the last change; `nil` if the source has none.
  var shownSeq: UInt64? { source.isJournaled ? seq : nil }

  /// Appends the frame with the present value, without its head.
  ///
  /// - Parameter skipped: The number of changes that the client did not get.
  func writeBody(skipped: UInt64, _ buffer: inout ByteBuffer) {
    refresh()
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

extension BroadcastTable {
  /// Returns the broadcast of a source, or of a part of it.
  fileprivate func state(_ source: StateSource) -> StateBroadcast {
    guard let part = source.part else {
      return broadcast("state " + source.key) { StateBroadcast(source, nil, $0, in: $1) }
    }
    return broadcast("state \(source.key) \(part.key)") { key, table in
      var whole = source
      whole.part = nil
      return StateBroadcast(source, table.state(whole), key, in: table)
    }
  }
}

/// A part of a value that clients can watch.
package struct WatchedPart {
  /// The key of the part, among those of the source.
  let key: String

  /// Returns the part of a value; `nil` if it has none.
  let find: (JSONText) -> JSONText?

  /// Watches the part until the returned object is disposed of.
  let watch: () -> any Disposable

  package init(
    key: String, find: @escaping (JSONText) -> JSONText?,
    watch: @escaping () -> any Disposable
  ) {
    (self.key, self.find, self.watch) = (key, find, watch)
  }
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

  /// The part of the value that is watched; `nil` for all of it.
  var part: WatchedPart?

  package init(
    key: String, isJournaled: Bool, isLoading: Bool = false, value: @escaping () -> JSONText?,
    changes: Signal<SourceChange, Never>, part: WatchedPart? = nil
  ) {
    self.part = part
    self.key = key
    self.isJournaled = isJournaled
    self.isLoading = isLoading
    self.value = value
    self.changes = changes
  }
}
