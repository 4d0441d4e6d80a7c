package import JSON
internal import Model
internal import Signals
package import Wire

/// A subscription to a list or map.
///
/// It gets each step while it keeps up, otherwise the whole value.
package final class CollectionSubscription: Subscription {
  /// The space to reserve for a frame around its steps, in bytes.
  private static let frameBytes = 256

  private let broadcast: CollectionBroadcast
  private var pace: Pace

  /// The number of steps that the client has received, or will have with the pending parts.
  private var sent: Int

  /// The position up to which the client knows the collection.
  private var shownAt: UInt64

  /// The unsent rest of the whole value, and its position; `nil` if there is none.
  private var parts: CollectionParts?
  private var partsSeq: UInt64

  /// - Parameters:
  ///   - seq: The position of the answer.
  ///   - interval: The minimum interval between frames in milliseconds; 0 for none.
  package init(
    _ handle: Handle, to source: CollectionSource, at seq: UInt64, on client: Client,
    everyMilliseconds interval: UInt64 = 0
  ) {
    broadcast = client.context.broadcasts.broadcast("collection " + source.name) {
      CollectionBroadcast(source, $0, in: $1)
    }
    pace = Pace(everyMilliseconds: interval)
    sent = broadcast.count
    parts = CollectionParts(source.elements())
    partsSeq = seq
    shownAt = seq
    super.init(handle, on: client)
  }

  /// Appends the member `value` to the answer, as much as fits, and `more` if parts follow.
  package func writeValue(_ buffer: inout ByteBuffer) {
    buffer.key("value")
    parts?.write(upTo: client.lineOut - 2 * Self.frameBytes, to: &buffer)
    if parts?.isOver == false {
      buffer.member("more", true)
    } else {
      parts = nil
    }
  }

  override func start() {
    broadcast.add(self)
    pace.start(context)
    if parts != nil { markDirty() }
  }

  override func end() {
    broadcast.remove(self)
    pace.end()
  }

  override var backlog: (after: UInt64, isCaughtUp: Bool)? {
    broadcast.count > sent ? (shownAt, true) : nil
  }

  /// Whether the client has only a part of the whole.
  override var isIncomplete: Bool { parts != nil }

  /// Goes on with a client that has the whole from an earlier daemon.
  ///
  /// After changes it gets the whole again.
  ///
  /// - Parameters:
  ///   - position: The position up to which the client has it.
  ///   - count: The number of changes since then.
  ///   - seq: The position of the last one.
  package func resume(after position: UInt64, missing count: Int, last seq: UInt64) {
    parts = nil
    guard count > 0 else { return }
    shownAt = position
    broadcast.advance(at: seq)
    sent -= count  // before all steps that are retained
    markDirty()
  }

  override func hasShown(_ position: UInt64) -> Bool { !isDirty && parts == nil }

  override func fill(_ buffer: inout ByteBuffer) -> Bool {
    while parts != nil {
      guard buffer.count < client.chunkSize else { return false }
      guard writePart(&buffer) else { return true }
    }
    guard broadcast.count > sent, pace.isDue(self) else { return true }
    guard broadcast.start <= sent, writeSteps(&buffer) else { return writeReset(&buffer) }
    return true
  }

  /// - Returns: Whether the subscription continues.
  private func writePart(_ buffer: inout ByteBuffer) -> Bool {
    guard var parts else { return true }
    let start = buffer.count
    beginFrame(partsSeq, &buffer)
    buffer.object("part") {
      $0.member("at", parts.isList ? parts.index : nil)
      $0.key("value")
      parts.write(upTo: client.lineOut - Self.frameBytes, to: &$0)
      $0.member("last", parts.isOver)
    }
    Frame.endParams(&buffer)
    self.parts = parts.isOver ? nil : parts
    return checkLine(from: start, seq: partsSeq, &buffer)
  }

  /// Appends the steps that the client does not have, in one frame.
  ///
  /// - Returns: Whether they fit a line and are not longer than the whole value.
  private func writeSteps(_ buffer: inout ByteBuffer) -> Bool {
    let start = buffer.count
    beginFrame(broadcast.seq, &buffer)
    var fits = true
    buffer.array("changes") { buffer in
      for index in sent..<broadcast.count {
        let step = broadcast[index]
        fits = buffer.count - start + step.utf8.count + Self.frameBytes <= client.lineOut
        guard fits else { return }
        buffer.separate()
        buffer.append(step)
      }
    }
    Frame.endParams(&buffer)
    guard fits, !isLonger(buffer.count - start) else {
      buffer.truncate(to: start)
      return false
    }
    markSent()
    return true
  }

  /// Returns whether steps are longer than the whole value.
  ///
  /// Checks only if there are many bytes.
  private func isLonger(_ bytes: Int) -> Bool {
    guard bytes > 4096, broadcast.count - sent > 1 else { return false }
    return broadcast.source.elements().isShorter(than: bytes)
  }

  /// Appends the whole current value.
  ///
  /// Elements that do not fit the line follow in parts.
  private func writeReset(_ buffer: inout ByteBuffer) -> Bool {
    let start = buffer.count
    var parts = CollectionParts(broadcast.source.elements())
    beginFrame(broadcast.seq, &buffer)
    buffer.array("changes") {
      $0.object {
        $0.member("op", "reset")
        $0.key("value")
        parts.write(upTo: client.lineOut - Self.frameBytes, to: &$0)
      }
    }
    let skipped = broadcast.count - sent - 1
    buffer.member("skipped", skipped > 0 ? skipped : nil)
    if !parts.isOver {
      buffer.member("more", true)
      (self.parts, partsSeq) = (parts, broadcast.seq)
    }
    Frame.endParams(&buffer)
    markSent()
    guard checkLine(from: start, seq: broadcast.seq, &buffer) else { return true }
    return self.parts == nil
  }

  private func markSent() {
    sent = broadcast.count
    shownAt = context.position
  }

  private func beginFrame(_ seq: UInt64, _ buffer: inout ByteBuffer) {
    appendHead(to: &buffer)
    buffer.member("seq", seq)
  }
}

/// The recent steps of one list or map, shared by all its subscriptions.
final class CollectionBroadcast: Broadcast {
  /// The most bytes of steps to keep if there are few feeds.
  ///
  /// A subscriber further behind gets the whole collection.
  static let capacity = 256 << 10

  let source: CollectionSource

  /// The position of the last step.
  private(set) var seq: UInt64 = 0

  private var window = SlidingWindow<String>()

  init(_ source: CollectionSource, _ key: String, in table: BroadcastTable) {
    self.source = source
    super.init(key, in: table, keepsWindow: true)
    observation = source.steps.observeNext { [unowned self] in receive($0) }
  }

  /// The number of steps since the broadcast was created.
  var count: Int { window.endIndex }

  /// The index of the first retained step.
  var start: Int { window.firstIndex }

  /// Notes the position of a change before this daemon started.
  func advance(at seq: UInt64) { self.seq = max(self.seq, seq) }

  /// A retained step, by its index.
  subscript(index: Int) -> String { window[index] }

  private func receive(_ step: CollectionStep) {
    seq = step.seq
    window.append(step.change.text)
    window.trim(to: table.windowBytes(atMost: Self.capacity))
    wake()
  }

  override func trim(to capacity: Int) { window.trim(to: capacity) }

  override var windowBytes: Int { window.bytes }
}
