internal import CPosix
internal import Clibuv
internal import Glibc

/// What a ``StreamSocket`` tells, on the loop's thread.
package protocol StreamSocketDelegate: AnyObject {
  /// Bytes have arrived; the span is valid during the call.
  func socket(received bytes: Span<UInt8>)

  /// The peer will send no more; it may still read.
  func socketReachedEnd()

  /// Bytes can be sent again after ``StreamSocket/send(_:)`` took fewer than it was given.
  func socketBecameWritable()

  /// The peer is gone for reading and writing, or the socket failed. The last call.
  func socketClosed(_ error: SystemError?)
}

/// One connected Unix socket: bytes in, bytes out.
///
/// A socket of our own under `uv_poll_t`, not a `uv_pipe_t`: that one cannot tell when a peer that
/// has ended its sending side goes away for good.
package final class StreamSocket {
  /// Who is told; held until the socket is closed.
  package var delegate: (any StreamSocketDelegate)?

  /// The process that connected.
  package let peer: PeerCredentials

  /// How much is dropped at once, and how often; more is a flood.
  private static let dropSize = 16 << 10
  private static let maxDrops = 64

  private let loop: Loop
  private let descriptor: CInt
  private var handle: Handle<uv_poll_t>?
  private var isReading = false
  private var isBlocked = false
  private var isAtEnd = false
  private var events: CInt = 0

  /// Takes over a connected socket, which is closed when this fails.
  package init(adopting descriptor: CInt, on loop: Loop) throws(SystemError) {
    self.loop = loop
    self.descriptor = descriptor
    do {
      peer = try PeerCredentials(of: descriptor)
      handle = try Handle("uv_poll_init", owner: self) {
        uv_poll_init(loop.pointer, $0, descriptor)
      }
    } catch {
      _ = Glibc.close(descriptor)
      throw error
    }
  }

  // MARK: Reading

  /// Reads from now on, or no longer: what the peer sends then waits in the kernel and slows it.
  package func setReading(_ isReading: Bool) {
    self.isReading = isReading
    updateEvents()
  }

  /// Reads what is there, now and once.
  package func readNow() {
    guard handle != nil, isReading, !isAtEnd else { return }
    let count = cposix_receive(descriptor, loop.slab.baseAddress, loop.slab.count)
    if count > 0 {
      let bytes = UnsafeRawBufferPointer(rebasing: loop.slab[..<count])
      delegate?.socket(received: bytes.bindMemory(to: UInt8.self).span)
    } else if count == 0 {
      isAtEnd = true
      updateEvents()
      delegate?.socketReachedEnd()
    } else if count != -Int(EAGAIN) {
      close(because: SystemError(code: CInt(-count), call: "recv"))
    }
  }

  // MARK: Writing

  /// Sends what the kernel takes without waiting.
  ///
  /// - Returns: How many bytes it took; when they are fewer than given, ``delegate`` hears when
  ///   there is room again. `nil` when the peer is gone: the caller closes the socket.
  package func send(_ bytes: Span<UInt8>) -> Int? {
    guard handle != nil else { return nil }
    guard !bytes.isEmpty else { return 0 }
    let sent = bytes.withUnsafeBufferPointer {
      cposix_send(descriptor, $0.baseAddress, $0.count)
    }
    guard sent >= 0 || sent == -Int(EAGAIN) else { return nil }
    setBlocked(sent < bytes.count)
    return max(0, sent)
  }

  private func setBlocked(_ isBlocked: Bool) {
    guard self.isBlocked != isBlocked else { return }
    self.isBlocked = isBlocked
    updateEvents()
  }

  // MARK: Ending

  /// Closes the socket and calls the delegate no more.
  package func close() {
    guard let handle else { return }
    self.handle = nil
    delegate = nil
    uv_poll_stop(handle.raw)
    handle.close()
    dropInput()
    _ = Glibc.close(descriptor)
  }

  /// Takes what the peer has sent and nobody will read: with it, the kernel would tell the peer of a
  /// reset in place of an end.
  private func dropInput() {
    withUnsafeTemporaryAllocation(byteCount: Self.dropSize, alignment: 1) { bytes in
      for _ in 0..<Self.maxDrops
      where cposix_receive(descriptor, bytes.baseAddress, bytes.count) < bytes.count { return }
    }
  }

  private func close(because error: SystemError?) {
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
    // libuv maps a lone EPOLLHUP onto whatever is watched, and nothing else sets the priority flag
    // on a Unix socket: so this fires at the moment when a peer that has ended its sending side is
    // gone for good, and costs nothing before. UV_DISCONNECT would fire for ever after the end.
    if isAtEnd { wanted |= CInt(UV_PRIORITIZED.rawValue) }
    guard wanted != events else { return }
    events = wanted
    // Fails for a closing handle only; no events stop it.
    let status = uv_poll_start(handle.raw, wanted, socketReady)
    precondition(status == 0, "a socket is not watched: \(status)")
  }

  fileprivate func ready(_ status: CInt, _ events: CInt) {
    guard status >= 0 else { return close(because: SystemError(code: -status, call: "poll")) }
    if events & CInt(UV_PRIORITIZED.rawValue) != 0 { return close(because: nil) }
    if events & CInt(UV_WRITABLE.rawValue) != 0 {
      setBlocked(false)
      delegate?.socketBecameWritable()
    }
    if events & CInt(UV_READABLE.rawValue) != 0 { readNow() }
  }
}

private func socketReady(_ poll: UnsafeMutablePointer<uv_poll_t>?, _ status: CInt, _ events: CInt) {
  owner(of: poll?.pointee.data, as: StreamSocket.self).ready(status, events)
}
