internal import CSupport
internal import Clibuv
internal import Glibc
package import Model

/// The callbacks of a ``StreamSocket``, on the loop's thread.
package protocol StreamSocketDelegate: AnyObject {
  /// Bytes are about to be read. From then on they are in no other place than this process.
  func socketWillRead()

  /// A read has ended, after the calls that it has caused.
  ///
  /// - Parameter hasRead: Whether something was read: bytes, an end or an error.
  func socketDidRead(_ hasRead: Bool)

  /// Bytes have arrived; the span is valid during the call.
  func socket(received bytes: Span<UInt8>)

  /// The peer will send no more; it may still read.
  func socketReachedEnd()

  /// More bytes can be sent, after ``StreamSocket/send(_:)`` took fewer than it was given.
  func socketBecameWritable()

  /// The peer closed both directions, or the socket failed; this is the last call.
  func socketClosed(_ error: SystemError?)
}

extension StreamSocketDelegate {
  package func socketWillRead() {}
  package func socketDidRead(_ hasRead: Bool) {}
}

/// A connected Unix socket for byte streams.
///
/// It uses `uv_poll_t`, because a `uv_pipe_t` cannot detect that a half-closed peer has closed
/// completely.
package final class StreamSocket {
  /// The delegate, retained until the socket is closed.
  package var delegate: (any StreamSocketDelegate)?

  /// The process that connected.
  package let peer: Peer

  /// The size of a buffer for discarding input, and the maximum number of such reads.
  private static let dropSize = 16 << 10
  private static let maxDrops = 64

  /// Whether the service manager also holds the descriptor.
  ///
  /// Then the peer sees no end when this process closes its own; see ``close()``.
  package var isStored = false

  package let descriptor: CInt
  private let loop: Loop
  private var handle: Handle<uv_poll_t>?
  private var isReading = false
  private var isBlocked = false
  private var isAtEnd = false
  private var events: CInt = 0

  /// Takes over a connected socket; closes it on failure.
  package init(adopting descriptor: CInt, on loop: Loop) throws(SystemError) {
    self.loop = loop
    self.descriptor = descriptor
    do {
      peer = try Peer(of: descriptor)
      handle = try Handle("uv_poll_init", owner: self) {
        uv_poll_init(loop.pointer, $0, descriptor)
      }
    } catch {
      _ = Glibc.close(descriptor)
      throw error
    }
  }

  /// Limits the output that the kernel holds for the peer, to about twice a number of bytes.
  ///
  /// The kernel counts it as memory of this process. The setting is a hint: errors are ignored.
  package func limitKernelOutput(to bytes: CInt) {
    var bytes = bytes
    setsockopt(
      descriptor, SOL_SOCKET, SO_SNDBUF, &bytes, socklen_t(MemoryLayout.size(ofValue: bytes)))
  }

  /// Takes over a connected socket of an earlier process; closes it on failure.
  package convenience init(inherited descriptor: CInt, on loop: Loop) throws(SystemError) {
    do {
      try SystemError.check("fcntl", cposix_prepare_inherited(descriptor))
    } catch {
      _ = Glibc.close(descriptor)
      throw error
    }
    try self.init(adopting: descriptor, on: loop)
  }

  /// Connects to the socket at a path, without waiting.
  ///
  /// - Throws: ``SystemError``. With the code `EAGAIN` the listener has no room for another client
  ///   now.
  package convenience init(connectingTo path: String, on loop: Loop) throws(SystemError) {
    let descriptor = try SystemError.check("socket", cposix_unix_socket())
    do {
      try SystemError.check("connect", cposix_connect(descriptor, path), on: path)
    } catch {
      _ = Glibc.close(descriptor)
      throw error
    }
    try self.init(adopting: descriptor, on: loop)
  }

  // MARK: Reading

  /// Starts or stops reading.
  ///
  /// While stopped, input stays in the kernel, which slows the peer.
  package func setReading(_ isReading: Bool) {
    self.isReading = isReading
    updateEvents()
  }

  /// Reads the available input once.
  package func readNow() {
    guard handle != nil, isReading, !isAtEnd, let delegate else { return }
    delegate.socketWillRead()
    let count = cposix_receive(descriptor, loop.slab.baseAddress, loop.slab.count)
    if count > 0 {
      let bytes = UnsafeRawBufferPointer(rebasing: loop.slab[..<count])
      delegate.socket(received: bytes.bindMemory(to: UInt8.self).span)
    } else if count == 0 {
      isAtEnd = true
      updateEvents()
      delegate.socketReachedEnd()
    } else if count != -Int(EAGAIN) {
      close(because: SystemError(code: CInt(-count), call: "recv"))
    }
    delegate.socketDidRead(count != -Int(EAGAIN))
  }

  // MARK: Writing

  /// Sends as many bytes as the kernel takes without waiting.
  ///
  /// - Returns: The number of bytes sent. If fewer than given, ``delegate`` is called when there is
  ///   room again. `nil` if the peer has closed; the caller must then close the socket.
  package func send(_ bytes: Span<UInt8>) -> Int? {
    guard handle != nil else { return nil }
    guard !bytes.isEmpty else { return 0 }
    let sent = bytes.withUnsafeBufferPointer {
      cposix_send(descriptor, $0.baseAddress, $0.count)
    }
    return endSending(sent, of: bytes.count)
  }

  /// Waits for room if fewer bytes than given were sent.
  ///
  /// - Parameter sent: The number of bytes that the kernel took, or a negative error.
  /// - Returns: See ``send(_:)``.
  func endSending(_ sent: Int, of count: Int) -> Int? {
    guard handle != nil, sent >= 0 || sent == -Int(EAGAIN) else { return nil }
    setBlocked(sent < count)
    return max(0, sent)
  }

  fileprivate func setBlocked(_ isBlocked: Bool) {
    guard self.isBlocked != isBlocked else { return }
    self.isBlocked = isBlocked
    updateEvents()
  }

  // MARK: Closing

  /// Closes the socket.
  ///
  /// The delegate is not called any more.
  package func close() {
    guard let handle else { return }
    self.handle = nil
    delegate = nil
    uv_poll_stop(handle.raw)
    handle.close()
    dropInput()
    if isStored { shutdown(descriptor, CInt(SHUT_RDWR)) }
    _ = Glibc.close(descriptor)
  }

  /// Stops using the socket and leaves it open for the next process, if the manager holds it.
  package func leave() {
    guard let handle else { return }
    self.handle = nil
    delegate = nil
    uv_poll_stop(handle.raw)
    handle.close()
    _ = Glibc.close(descriptor)
  }

  /// Discards unread input.
  ///
  /// With unread input the kernel would send the peer a reset instead of an end.
  private func dropInput() {
    withUnsafeTemporaryAllocation(byteCount: Self.dropSize, alignment: 1) { bytes in
      for _ in 0..<Self.maxDrops
      where cposix_receive(descriptor, bytes.baseAddress, bytes.count) < bytes.count { return }
    }
  }

  fileprivate func close(because error: SystemError?) {
    let delegate = delegate
    close()
    delegate?.socketClosed(error)
  }

  // MARK: Events

  private func updateEvents() {
    guard let handle else { return }
    var wanted: CInt = 0
    if isReading, !isAtEnd { wanted |= CInt(UV_READABLE.rawValue) }
    if isBlocked { wanted |= CInt(UV_WRITABLE.rawValue) }
    // libuv maps a lone EPOLLHUP onto the watched events, and nothing else sets the priority flag
    // on a Unix socket. So this event fires when a half-closed peer closes completely, and costs
    // nothing before. UV_DISCONNECT would fire endlessly after the end of input.
    if isAtEnd { wanted |= CInt(UV_PRIORITIZED.rawValue) }
    guard wanted != events else { return }
    events = wanted
    // Fails only for a closing handle; an empty set stops it.
    let status = uv_poll_start(handle.raw, wanted, socketReady)
    precondition(status == 0, "a socket is not watched: \(status)")
  }
}

private func socketReady(_ poll: UnsafeMutablePointer<uv_poll_t>?, _ status: CInt, _ events: CInt) {
  let socket = owner(of: poll?.pointee.data, as: StreamSocket.self)
  guard status >= 0 else {
    return socket.close(because: SystemError(code: -status, call: "poll"))
  }
  if events & CInt(UV_PRIORITIZED.rawValue) != 0 { return socket.close(because: nil) }
  if events & CInt(UV_WRITABLE.rawValue) != 0 {
    socket.setBlocked(false)
    socket.delegate?.socketBecameWritable()
  }
  if events & CInt(UV_READABLE.rawValue) != 0 { socket.readNow() }
}
