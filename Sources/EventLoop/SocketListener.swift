internal import CSupport
internal import Clibuv
internal import Glibc

/// A listening Unix socket, or a TCP socket of this machine only.
package final class SocketListener {
  /// A reason why a socket cannot be used.
  package enum PathError: Error, Equatable {
    /// Another process listens there; `pid` is 0 if it is unknown.
    case alreadyRunning(path: String, pid: Int32)

    /// A file that is not a socket exists; it is not changed.
    case notASocket(path: String)

    /// Other users could replace the socket: they own the directory or may write to it.
    case unsafeDirectory(UnsafeDirectory)

    /// A descriptor of the service manager is not a listening Unix stream socket.
    case notAListener(descriptor: CInt, reason: String)

    /// `LISTEN_FDS` is not a valid number of descriptors.
    case badDescriptorCount(String)

    /// A system call failed.
    case system(SystemError)
  }

  /// The maximum number of connections accepted per turn, so that many new ones do not starve
  /// others.
  private static let acceptedPerTurn = 16

  /// The maximum number of connections waiting in the kernel, which may lower it to `somaxconn`.
  private static let backlog: CInt = 4096

  /// The pause when not even rejecting clients is possible, in milliseconds.
  private static let restMilliseconds: UInt64 = 100

  /// The path of the socket; an abstract name starts with `@`, and TCP has an empty one.
  package let path: String

  /// The TCP port; `nil` for a Unix socket.
  package var port: UInt16? { UInt16(exactly: cposix_port(descriptor)) }

  private let descriptor: CInt
  private let file: SocketFile?
  private var onAccept: ((CInt) -> Void)?
  private let farewell: () -> [UInt8]
  private var handle: Handle<uv_poll_t>?

  /// A spare descriptor, used to reject clients when no other descriptors are left.
  private var reserve = SocketListener.openReserve()

  /// The timer that ends a pause.
  private var alarm: Timer?

  /// Creates the socket file and listens.
  ///
  /// Replaces a stale socket file, for example of a daemon that was killed.
  ///
  /// - Parameters:
  ///   - path: At most 107 bytes.
  ///   - mode: The permissions that the file has from the start, for example `0o600`.
  ///   - group: The group of the file, set before clients can connect; by default that of the
  ///     process.
  ///   - farewell: Returns the bytes to send to a client that is rejected for lack of descriptors.
  ///   - onAccept: Called with the descriptor of each new client; the callee must close it.
  package convenience init(
    path: String, mode: UInt32, group: UInt32? = nil, on loop: Loop,
    farewell: @escaping () -> [UInt8] = { [] }, onAccept: @escaping (CInt) -> Void
  ) throws(PathError) {
    let file = try SocketFile(clearing: path)
    let descriptor: CInt
    do {
      descriptor = try SystemError.check("socket", cposix_unix_socket())
    } catch {
      throw .system(error)
    }
    do throws(SystemError) {
      try SystemError.check("bind", cposix_bind(descriptor, path, mode), on: path)
      file.recordIdentity()
      if let group { try file.give(to: group) }
      if listen(descriptor, Self.backlog) != 0 {
        throw SystemError(code: errno, call: "listen", subject: path)
      }
      try self.init(descriptor, file, on: loop, farewell, onAccept)
    } catch {
      _ = Glibc.close(descriptor)
      file.remove()
      throw .system(error)
    }
  }

  /// Listens on a TCP port of 127.0.0.1, which only programs of this machine reach.
  ///
  /// - Parameters:
  ///   - port: The port; 0 for any free one.
  ///   - onAccept: Called with the descriptor of each new client; the callee must close it.
  package convenience init(
    loopbackPort port: UInt16, on loop: Loop, onAccept: @escaping (CInt) -> Void
  ) throws(PathError) {
    do {
      let descriptor = try SystemError.check(
        "bind", cposix_listen_on_loopback(port, Self.backlog), on: "127.0.0.1:\(port)")
      try self.init(descriptor, nil, on: loop, { [] }, onAccept)
    } catch {
      throw .system(error)
    }
  }

  /// Listens on a descriptor that the service manager has bound.
  ///
  /// Its file stays after closing.
  ///
  /// - Throws: ``PathError/notAListener(descriptor:reason:)`` if it is not a listening Unix stream
  ///   socket; the descriptor is not changed then.
  package convenience init(
    adopting descriptor: CInt, on loop: Loop, farewell: @escaping () -> [UInt8] = { [] },
    onAccept: @escaping (CInt) -> Void
  ) throws(PathError) {
    if let reason = Self.fault(of: descriptor) {
      throw .notAListener(descriptor: descriptor, reason: reason)
    }
    do {
      try SystemError.check("fcntl", cposix_prepare_inherited(descriptor))
      try self.init(descriptor, nil, on: loop, farewell, onAccept)
    } catch {
      throw .system(error)
    }
  }

  /// Returns why a descriptor cannot accept clients; `nil` if it can.
  private static func fault(of descriptor: CInt) -> String? {
    switch cposix_descriptor_kind_of(descriptor) {
    case cposix_listening_unix_stream: nil
    case cposix_not_open: "it is not open"
    case cposix_not_unix: "it is not a Unix socket"
    case cposix_datagram: "it is a datagram socket"
    case cposix_seqpacket: "it is a seqpacket socket"
    case cposix_not_listening: "it does not listen"
    default: "it is not a socket"
    }
  }

  private init(
    _ descriptor: CInt, _ file: SocketFile?, on loop: Loop, _ farewell: @escaping () -> [UInt8],
    _ onAccept: @escaping (CInt) -> Void
  ) throws(SystemError) {
    self.descriptor = descriptor
    self.file = file
    path = Self.path(of: descriptor)
    (self.farewell, self.onAccept) = (farewell, onAccept)
    do {
      let handle = try Handle<uv_poll_t>("uv_poll_init", owner: self) {
        uv_poll_init(loop.pointer, $0, descriptor)
      }
      self.handle = handle
      alarm = try Timer(on: loop) { [unowned self] in watch() }
      watch()
    } catch {
      handle?.close()
      _ = Glibc.close(reserve)
      throw error
    }
  }

  private static func path(of descriptor: CInt) -> String {
    var text = [CChar](repeating: 0, count: 128)
    _ = cposix_socket_path(descriptor, &text, text.count)
    return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  private func watch() {
    guard let handle else { return }
    let status = uv_poll_start(handle.raw, CInt(UV_READABLE.rawValue), listenerReady)
    precondition(status == 0, "a listener is not watched: \(status)")
  }

  /// Stops listening and removes the socket file, unless another daemon has replaced it.
  package func close() {
    guard let handle else { return }
    self.handle = nil
    onAccept = nil
    alarm?.close()
    alarm = nil
    uv_poll_stop(handle.raw)
    handle.close()
    file?.remove()
    _ = Glibc.close(descriptor)
    if reserve >= 0 { _ = Glibc.close(reserve) }
  }

  fileprivate func ready() {
    for _ in 0..<Self.acceptedPerTurn {
      guard let onAccept else { return }
      let client = cposix_accept(descriptor)
      if client >= 0 {
        onAccept(client)
      } else if client == -EMFILE || client == -ENFILE {
        guard turnOneAway() else { return rest() }
      } else {
        return
      }
    }
  }

  /// Accepts one client with the spare descriptor, sends the farewell and closes it.
  ///
  /// Otherwise the client would stay in the backlog and keep the loop busy. Returns `false` if no
  /// client could be accepted.
  private func turnOneAway() -> Bool {
    if reserve >= 0 { _ = Glibc.close(reserve) }
    let client = cposix_accept(descriptor)
    if client >= 0 {
      farewell().withUnsafeBytes {
        _ = send(client, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT))
      }
      _ = Glibc.close(client)
    }
    reserve = Self.openReserve()
    return client >= 0
  }

  /// Stops accepting for a while, because another thread has taken the spare descriptor.
  private func rest() {
    if let handle { uv_poll_stop(handle.raw) }
    alarm?.start(afterMilliseconds: Self.restMilliseconds)
  }

  private static func openReserve() -> CInt {
    open("/dev/null", O_RDONLY | O_CLOEXEC)
  }
}

private func listenerReady(
  _ poll: UnsafeMutablePointer<uv_poll_t>?, _ status: CInt, _ events: CInt
) {
  owner(of: poll?.pointee.data, as: SocketListener.self).ready()
}
