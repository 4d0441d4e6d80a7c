internal import CPosix
internal import Clibuv
internal import Glibc

/// A listening Unix socket.
package final class SocketListener {
  /// Why a socket path cannot be used.
  package enum PathError: Error, Equatable {
    /// Somebody listens there; `pid` is who, 0 when that cannot be seen.
    case alreadyRunning(pid: Int32)

    /// There is a file that is no socket: it is left alone.
    case notASocket

    /// Other users could replace the socket: they own the directory or may write to it.
    case unsafeDirectory(UnsafeDirectory)

    /// A descriptor of the service manager is not a listening Unix stream socket.
    case notAListener(descriptor: CInt, reason: String)

    /// The service manager gives a number of descriptors that is none.
    case badDescriptorCount(String)

    /// A system call failed.
    case system(SystemError)
  }

  /// How many connections one turn takes, so that a storm of them does not starve the others.
  private static let acceptedPerTurn = 16

  /// How many connections wait in the kernel; it lowers this to its own limit (`somaxconn`).
  private static let backlog: CInt = 4096

  /// How long the listener rests when it cannot even turn clients away.
  private static let restMilliseconds: UInt64 = 100

  /// Where clients connect; an abstract name has an `@` before it.
  package let path: String

  private let descriptor: CInt
  private let file: SocketFile?
  private var onAccept: ((CInt) -> Void)?
  private let farewell: () -> [UInt8]
  private var handle: Handle<uv_poll_t>?

  /// A descriptor kept for the time when there are no more, to be able to turn clients away.
  private var reserve = SocketListener.openReserve()

  /// Ends a rest.
  private var alarm: Timer?

  /// Makes the socket file and listens.
  ///
  /// A socket file that nobody listens on, left by a daemon that was killed, is replaced.
  ///
  /// - Parameters:
  ///   - path: At most 107 bytes.
  ///   - mode: The permissions of the file from the first moment, for example `0o600`.
  ///   - group: The group of the file, before anybody can connect; that of the process when not
  ///     given.
  ///   - farewell: What a client is told for whom there is no descriptor.
  ///   - onAccept: Called with each new client's descriptor, which then is the callee's.
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
      file.noteBound()
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

  /// Listens on a descriptor that the service manager has bound; its file stays when this closes.
  ///
  /// - Throws: ``PathError/notAListener(descriptor:reason:)`` for everything but a listening Unix
  ///   stream socket, which is left as it is.
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

  /// Why clients cannot be accepted on a descriptor; `nil` when they can.
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

  /// Stops listening and removes the socket file, unless another daemon has put its own there.
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

  /// Accepts one client with the last descriptor, says why and hangs up, so that it does not wait in the
  /// backlog and keep the loop spinning.
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

  /// Another thread has taken the last descriptor: the clients wait, and the loop does not spin.
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
