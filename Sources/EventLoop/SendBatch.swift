internal import CSupport
internal import Glibc

/// Small outputs to several sockets that are sent together.
///
/// The kernel takes them with one system call, by an io_uring. The results are those of
/// ``StreamSocket/send(_:)``, which does not wait either. Where the system has no io_uring, or does
/// not allow it, each output needs a call; then it is better not to gather them.
///
///     batch.add(line, to: socket)
///     batch.add(line, to: other)
///     batch.send()
///     let sent = batch.result(of: 0)
package final class SendBatch {
  /// The most outputs, and the most bytes of one.
  package static let maxCount = 32
  package static let maxBytes = 4 << 10

  /// The number of outputs from which one call costs less than several.
  package static let leastCount = 4

  private static let capacity = 64 << 10

  /// The ring; `nil` if there is none.
  private var ring: OpaquePointer?

  /// The reason for which there is no ring; `nil` if there is one.
  package private(set) var refusal: SystemError?

  private let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 64)
  private var used = 0
  private let sends = UnsafeMutablePointer<cring_send>.allocate(capacity: maxCount)
  private var sockets: ContiguousArray<StreamSocket> = []

  /// The number of outputs that have results.
  private var sent = 0

  /// Creates an empty batch for the calling thread, which must run the loop of the sockets.
  ///
  /// - Parameter wantsRing: Whether to use an io_uring if there is one.
  package init(wantsRing: Bool = true) {
    var error = -ENOSYS
    if wantsRing { ring = cring_open(CUnsignedInt(Self.maxCount), &error) }
    if ring == nil { refusal = SystemError(code: -error, call: "io_uring_setup") }
  }

  deinit {
    cring_close(ring)
    bytes.deallocate()
    sends.deallocate()
  }

  /// Whether one system call sends all outputs.
  package var usesRing: Bool { ring != nil }

  /// Whether it may have no room for another output.
  package var isFull: Bool {
    sockets.count == Self.maxCount || used + Self.maxBytes > Self.capacity
  }

  /// Adds a copy of an output of at most ``maxBytes``.
  ///
  /// The batch must not be full, and must have no other output to the socket.
  package func add(_ output: Span<UInt8>, to socket: StreamSocket) {
    precondition(!isFull && output.count <= Self.maxBytes, "an output has no room in a batch")
    output.withUnsafeBytes {
      UnsafeMutableRawBufferPointer(rebasing: bytes[used...]).copyMemory(from: $0)
    }
    sends[sockets.count] = cring_send(
      fd: socket.descriptor, offset: UInt32(used), count: UInt32(output.count), sent: 0)
    used += output.count
    sockets.append(socket)
  }

  /// Sends all outputs, in the order in which they were added.
  package func send() {
    let isWorthIt = sockets.count >= Self.leastCount
    let status = cring_send_all(
      isWorthIt ? ring : nil, bytes.baseAddress, sends, CUnsignedInt(sockets.count))
    sent = sockets.count
    guard status < 0 else { return }
    // It worked when it was opened. From now on each output needs a call.
    refusal = SystemError(code: -status, call: "io_uring_enter")
    cring_close(ring)
    ring = nil
  }

  /// Returns the result of an output; see ``StreamSocket/send(_:)``.
  ///
  /// Sends it before the others if it was not sent. Call it once for each.
  package func result(of place: Int) -> Int? {
    if place >= sent {
      cring_send_all(nil, bytes.baseAddress, sends + place, 1)
      // The call for the others finds no socket.
      sends[place].fd = -1
    }
    return sockets[place].endSending(Int(sends[place].sent), of: Int(sends[place].count))
  }

  /// Calls `body` with the bytes of an output.
  package func withBytes<Value>(of place: Int, _ body: (Span<UInt8>) -> Value) -> Value {
    let start = Int(sends[place].offset)
    let output = UnsafeRawBufferPointer(rebasing: bytes[start..<start + Int(sends[place].count)])
    return body(output.bindMemory(to: UInt8.self).span)
  }

  /// Removes all outputs.
  package func removeAll() {
    (used, sent) = (0, 0)
    sockets.removeAll(keepingCapacity: true)
  }
}
