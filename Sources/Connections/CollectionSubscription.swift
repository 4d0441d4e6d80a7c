internal import Facts
package import JSON
internal import Signals
package import Wire

/// A subscription to a list or map.
///
/// It gets each step while it keeps up, otherwise the whole value.
package final class CollectionSubscription: Subscription {
  /// The space to reserve for a frame around its steps, in bytes.
  private static let frameBytes = 256

  private let feed: CollectionFeed
  private var pace: Pace

  /// The number of steps that the client has received, or will have with the pending parts.
  private var sent: Int

  /// The unsent rest of the whole value, and its position; `nil` if there is none.
  private var parts: CollectionParts?
  private var partsSeq: UInt64

  /// - Parameters:
  ///   - seq: The position of the answer.
  ///   - interval: The minimum interval between frames in milliseconds; 0 for none.
  package init(
    _ handle: Handle, to source: CollectionSource, at seq: UInt64, on connection: Connection,
    everyMilliseconds interval: UInt64 = 0
  ) {
    let hub = connection.hub
    feed = hub.feed("collection " + source.name) { CollectionFeed(source, $0, hub) }
    pace = Pace(everyMilliseconds: interval)
    sent = feed.count
    parts = CollectionParts(source.elements())
    partsSeq = seq
    super.init(handle, on: connection)
  }

  /// Appends the member `value` to the answer, as much as fits, and `more` if parts follow.
  package func writeValue(_ buffer: inout ByteBuffer) {
    buffer.key("value")
    parts?.write(upTo: connection.lineOut - 2 * Self.frameBytes, to: &buffer)
    if parts?.isOver == false {
      buffer.member("more", true)
    } else {
      parts = nil
    }
  }

  override func start() {
    feed.add(self)
    pace.start(connection.hub)
    if parts != nil { markDirty() }
  }

  override func end() {
    feed.remove(self)
    pace.end()
  }

  override func hasShown(_ position: UInt64) -> Bool { !isDirty && parts == nil }

  override func fill(_ buffer: inout ByteBuffer) -> Bool {
    while parts != nil {
      guard buffer.count < connection.chunkSize else { return false }
      guard writePart(&buffer) else { return true }
    }
    guard feed.count > sent, pace.isDue(self) else { return true }
    guard feed.start <= sent, writeSteps(&buffer) else { return writeReset(&buffer) }
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
      parts.write(upTo: connection.lineOut - Self.frameBytes, to: &$0)
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
    beginFrame(feed.seq, &buffer)
    var fits = true
    buffer.array("changes") { buffer in
      for index in sent..<feed.count {
        let step = feed[index]
        fits = buffer.count - start + step.utf8.count + Self.frameBytes <= connection.lineOut
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
    sent = feed.count
    return true
  }

  /// Returns whether steps are longer than the whole value.
  ///
  /// Checks only if there are many bytes.
  private func isLonger(_ bytes: Int) -> Bool {
    guard bytes > 4096, feed.count - sent > 1 else { return false }
    return bytes > feed.source.elements().size
  }

  /// Appends the whole current value.
  ///
  /// Elements that do not fit the line follow in parts.
  private func writeReset(_ buffer: inout ByteBuffer) -> Bool {
    let start = buffer.count
    var parts = CollectionParts(feed.source.elements())
    beginFrame(feed.seq, &buffer)
    buffer.array("changes") {
      $0.object {
        $0.member("op", "reset")
        $0.key("value")
        parts.write(upTo: connection.lineOut - Self.frameBytes, to: &$0)
      }
    }
    let skipped = feed.count - sent - 1
    buffer.member("skipped", skipped > 0 ? skipped : nil)
    if !parts.isOver {
      buffer.member("more", true)
      (self.parts, partsSeq) = (parts, feed.seq)
    }
    Frame.endParams(&buffer)
    sent = feed.count
    guard checkLine(from: start, seq: feed.seq, &buffer) else { return true }
    return self.parts == nil
  }

  private func beginFrame(_ seq: UInt64, _ buffer: inout ByteBuffer) {
    buffer.append(head)
    buffer.member("seq", seq)
  }
}
