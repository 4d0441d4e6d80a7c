package import JSON
internal import Signals
package import Wire

/// A subscription of one client.
///
/// It has no queue of unsent items. It knows its position and reads what is available when the
/// client can take it.
package class Subscription {
  package let handle: Handle
  package unowned let client: Client

  /// The context of the client; here too, because to reach it through the client costs more.
  final let context: ConnectionContext

  /// The client's name for the subject: a source, a pattern or `events`.
  package internal(set) var source = ""

  /// The parameters with which a later daemon can restore the subscription; `nil` if it need not.
  package final var terms: JSONText?

  /// The bytes charged to the user while the client has the subscription.
  package final var bytes = ItemBytes.subscription

  /// The index of this subscription in its broadcast; `nil` if it has none.
  final var place: Int?

  /// Whether the batch that created the subscription is still unanswered.
  final var isInBatch = false

  /// Whether something may have to be sent.
  package internal(set) var isDirty = false

  /// Whether nothing waited to be sent when the place was kept for the next daemon; see
  /// ``Connection/cursors(keeping:)``.
  final var isKeptAsSent = false

  /// Whether the subscription has written its last frame.
  private(set) var isOver = false
  private let live = LiveNode("Subscription")

  /// The beginning of every `next` frame.
  let head: [UInt8]

  init(_ handle: Handle, on client: Client) {
    self.handle = handle
    self.client = client
    context = client.context
    var buffer = ByteBuffer()
    Frame.beginNotification("next", &buffer)
    buffer.member("sub", handle)
    buffer.separate()
    head = buffer.array
  }

  /// Appends the beginning of a `next` frame.
  @inline(__always)
  final func appendHead(to buffer: inout ByteBuffer) {
    let head = head
    buffer.append(head.span)
  }

  /// Starts watching.
  ///
  /// The answer was written before.
  func start() {}

  /// Collects changes that many subscriptions share, so that they need not be kept for this one.
  ///
  /// Called in the client's time while the client does not take its output.
  func catchUp() {}

  /// Appends the frames that are due, up to about ``Client/chunkSize``.
  ///
  /// - Returns: Whether nothing is left.
  func fill(_ buffer: inout ByteBuffer) -> Bool { true }

  /// Whether selecting updates takes time, which then counts as the client's time.
  var isCostly: Bool { false }

  /// Returns whether the client has been sent everything up to a durable position.
  func hasShown(_ position: UInt64) -> Bool { !isDirty }

  /// The position up to which everything was sent, and whether the client knows that it has caught
  /// up; `nil` if everything due was sent.
  var backlog: (after: UInt64, isCaughtUp: Bool)? { nil }

  /// Whether something waits to be sent that has no position, so that ``backlog`` does not tell of it.
  var holdsUnsent: Bool { false }

  /// Whether the client has only a part of a value that is longer than a line.
  var isIncomplete: Bool { false }

  /// Keeps the events that a worker has.
  func keepWork(in kept: HandoverClient) {}

  /// Stops watching.
  func end() {}

  /// Marks the subscription as having something to send.
  ///
  /// One that is marked already, but had nothing to send, lists its client again, so that what has
  /// changed is kept over a restart: the client may take no output.
  final func markDirty() {
    guard !isDirty || isKeptAsSent else { return }
    isDirty = true
    client.list()
  }

  /// Appends a notification about this subscription with a position.
  final func notify(_ method: StaticString, seq: UInt64, _ buffer: inout ByteBuffer) {
    notify(method, &buffer) { $0.member("seq", seq) }
  }

  private func notify(
    _ method: StaticString, _ buffer: inout ByteBuffer, _ members: (inout ByteBuffer) -> Void
  ) {
    Frame.notification(method, &buffer) {
      $0.member("sub", handle)
      members(&$0)
    }
  }

  /// Appends a notification that the client has fallen behind the retained entries.
  final func notifyBehind(at seq: UInt64, last: UInt64, _ buffer: inout ByteBuffer) {
    notify("behind", &buffer) {
      $0.member("seq", seq)
      $0.member("last", last)
    }
  }

  /// Appends a notification that removed positions were skipped.
  final func notifyLagged(missed: ClosedRange<UInt64>, _ buffer: inout ByteBuffer) {
    notify("lagged", &buffer) {
      $0.member("seq", missed.upperBound)
      $0.member("reason", "compacted")
      $0.object("missed") {
        $0.member("from", missed.lowerBound)
        $0.member("to", missed.upperBound)
      }
    }
  }

  /// Appends a notification that nothing is sent until the client acknowledges.
  final func notifyPaused(_ unacknowledged: Int, _ buffer: inout ByteBuffer) {
    notify("paused", &buffer) {
      $0.member("reason", "unacked")
      $0.member("unacked", unacknowledged)
    }
  }

  /// Ends the subscription because of another client's action.
  final func close(_ reason: String, _ buffer: inout ByteBuffer) {
    notify("closed", &buffer) { $0.member("reason", reason) }
    isOver = true
  }

  /// Ends the subscription with an error.
  final func fail(_ error: WireError, seq: UInt64?, _ buffer: inout ByteBuffer) {
    notify("fail", &buffer) {
      $0.member("seq", seq)
      $0.member("error", error)
    }
    isOver = true
  }

  /// Replaces a line that is too long for the client by an error and ends the subscription.
  ///
  /// - Parameter start: The offset of the line in the buffer.
  /// - Returns: Whether the line was kept.
  final func checkLine(from start: Int, seq: UInt64?, _ buffer: inout ByteBuffer) -> Bool {
    let size = buffer.count - start
    guard size > Limits.leastLineOut, size > client.lineOut else { return true }
    buffer.truncate(to: start)
    fail(.resultTooLarge(size, max: client.lineOut), seq: seq, &buffer)
    return false
  }
}

/// A rate limit for one subscription, which it wakes at the end of each interval.
struct Pace {
  private let interval: UInt64

  /// The earliest time of the next frame, in milliseconds of the daemon's clock.
  private var notBefore: UInt64 = 0
  private var alarm: (any Disposable)?

  /// - Parameter interval: The minimum interval between frames in milliseconds; 0 for none.
  init(everyMilliseconds interval: UInt64) {
    self.interval = interval
  }

  /// Starts the first interval, because the answer counts as a frame.
  mutating func start(_ context: ConnectionContext) {
    notBefore = context.now() + interval
  }

  /// Returns whether a frame may be sent now.
  ///
  /// If not, wakes the subscription when it may.
  mutating func isDue(_ subscription: Subscription) -> Bool {
    guard interval > 0 else { return true }
    let context = subscription.context
    let now = context.now()
    if now >= notBefore {
      notBefore = now + interval
      end()
      return true
    }
    if alarm == nil {
      let seconds = Double(notBefore - now) / 1000
      alarm = context.scheduler.schedule(after: seconds) { [weak subscription] in
        subscription?.markDirty()
      }
    }
    return false
  }

  mutating func end() {
    alarm?.dispose()
    alarm = nil
  }
}
