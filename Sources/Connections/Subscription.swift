internal import JSON
internal import Signals
package import Wire

/// What one client watches.
///
/// It holds no queue of what it has not sent: it knows where it stands, and takes what is there
/// when the client can take it.
package class Subscription {
  package let handle: Handle
  package unowned let connection: Connection

  /// What the client has called that which it watches: a source, a pattern or `events`.
  package internal(set) var source = ""

  /// Where its feed has it; `nil` while it has not.
  final var place: Int?

  /// Whether the batch that has made it is not answered.
  final var isInBatch = false

  /// Whether there may be something to send.
  package internal(set) var isDirty = false

  /// Whether the last frame of it was written.
  private(set) var isOver = false
  private let live = LiveNode("Subscription")

  /// How every `next` of it begins.
  let head: String

  init(_ handle: Handle, on connection: Connection) {
    self.handle = handle
    self.connection = connection
    head = #"{"jsonrpc":"2.0","method":"next","params":{"sub":\#(handle.text),"#
  }

  /// Begins to watch; the reply has been written.
  func start() {}

  /// Appends what is to be sent now, up to about ``Hub/chunkSize``.
  ///
  /// - Returns: Whether nothing is left.
  func fill(_ buffer: inout ByteBuffer) -> Bool { true }

  /// Whether it takes time to find out what is to be sent: that is time of the client.
  var isCostly: Bool { false }

  /// Whether the client has been sent everything up to a position that is durable.
  func hasShown(_ position: UInt64) -> Bool { !isDirty }

  /// Watches no longer.
  func end() {}

  /// Notes that there is something to send.
  final func markDirty() {
    guard !isDirty else { return }
    isDirty = true
    connection.hub.list(connection)
  }

  /// Appends a notification about this subscription, with a position.
  final func notify(_ method: StaticString, seq: UInt64, _ buffer: inout ByteBuffer) {
    begin(method, &buffer)
    buffer.append(#","seq":"#)
    buffer.append(integer: seq)
    Frame.endParams(&buffer)
  }

  private func begin(_ method: StaticString, _ buffer: inout ByteBuffer) {
    Frame.beginNotification(method, &buffer)
    buffer.append(#""sub":"#)
    buffer.append(handle.text.text)
  }

  /// Appends that the client has fallen behind what is kept in memory.
  final func notifyBehind(at seq: UInt64, last: UInt64, _ buffer: inout ByteBuffer) {
    begin("behind", &buffer)
    buffer.append(#","seq":"#)
    buffer.append(integer: seq)
    buffer.append(#","last":"#)
    buffer.append(integer: last)
    Frame.endParams(&buffer)
  }

  /// Appends that positions were passed over because their events are not kept any more.
  final func notifyLagged(missed: ClosedRange<UInt64>, _ buffer: inout ByteBuffer) {
    begin("lagged", &buffer)
    buffer.append(#","seq":"#)
    buffer.append(integer: missed.upperBound)
    buffer.append(#","reason":"compacted","missed":{"from":"#)
    buffer.append(integer: missed.lowerBound)
    buffer.append(#","to":"#)
    buffer.append(integer: missed.upperBound)
    buffer.append("}")
    Frame.endParams(&buffer)
  }

  /// Appends that nothing comes before the client acknowledges some of what it has.
  final func notifyPaused(_ unacknowledged: Int, _ buffer: inout ByteBuffer) {
    begin("paused", &buffer)
    buffer.append(#","reason":"unacked","unacked":"#)
    buffer.append(integer: unacknowledged)
    Frame.endParams(&buffer)
  }

  /// Ends the subscription because of what somebody else has done.
  final func close(_ reason: StaticString, _ buffer: inout ByteBuffer) {
    begin("closed", &buffer)
    buffer.append(#","reason":""#)
    buffer.append(reason)
    buffer.append("\"")
    Frame.endParams(&buffer)
    isOver = true
  }

  /// Ends the subscription with an error.
  final func fail(_ error: WireError, seq: UInt64?, _ buffer: inout ByteBuffer) {
    begin("fail", &buffer)
    if let seq {
      buffer.append(#","seq":"#)
      buffer.append(integer: seq)
    }
    buffer.append(#","error":"#)
    error.write(to: &buffer)
    Frame.endParams(&buffer)
    isOver = true
  }

  /// Cuts off a line that is longer than the client takes, and ends the subscription.
  ///
  /// - Parameter start: Where the line begins in the buffer.
  /// - Returns: Whether the line may stay.
  final func checkLine(from start: Int, seq: UInt64?, _ buffer: inout ByteBuffer) -> Bool {
    let size = buffer.count - start
    guard size > connection.lineOut else { return true }
    buffer.truncate(to: start)
    fail(.resultTooLarge(size, max: connection.lineOut), seq: seq, &buffer)
    return false
  }
}
