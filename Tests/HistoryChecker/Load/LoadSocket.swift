internal import Glibc

/// A nonblocking client connection.
package final class LoadSocket {
  package let descriptor: CInt
  private var received: [UInt8] = []
  private var chunk = [UInt8](repeating: 0, count: 1 << 16)
  private var unsent: [UInt8] = []
  private var isClosed = false

  /// Whether no more input will arrive.
  package private(set) var isOver = false

  /// Connects; returns `nil` if no server listens.
  package init?(_ path: String) {
    descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue) | O_CLOEXEC, 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let status = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard status == 0, fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0 else {
      close()
      return nil
    }
  }

  deinit {
    close()
  }

  package func close() {
    guard !isClosed else { return }
    isClosed = true
    isOver = true
    Glibc.close(descriptor)
  }

  /// Whether unsent bytes are queued.
  package var isStuck: Bool { !unsent.isEmpty }

  /// Sends as much as possible now, and queues the rest.
  package func send(_ text: String) {
    unsent += Array(text.utf8)
    flush()
  }

  package func flush() {
    while !isClosed, !unsent.isEmpty {
      let count = Glibc.send(
        descriptor, unsent, unsent.count, CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT))
      guard count > 0 else { break }
      unsent.removeFirst(count)
    }
  }

  /// Returns the complete lines received; an incomplete last line waits for its end.
  package func lines() -> [String] {
    // Read at most one chunk at a time, so that other clients get their turn.
    if !isOver {
      let count = recv(descriptor, &chunk, chunk.count, CInt(MSG_DONTWAIT))
      if count > 0 {
        received += chunk[..<count]
      } else if count == 0 || (errno != EAGAIN && errno != EINTR) {
        isOver = true
      }
    }
    guard let end = received.lastIndex(of: UInt8(ascii: "\n")) else { return [] }
    let lines = received[..<end].split(separator: UInt8(ascii: "\n")).map {
      String(decoding: $0, as: UTF8.self)
    }
    received.removeFirst(end + 1)
    return lines
  }
}

/// Waits until a socket is ready or the time is up.
///
/// - Returns: The ready sockets.
@discardableResult
func waitFor(_ sockets: [LoadSocket], milliseconds: Int) -> [LoadSocket] {
  var waiting = sockets.map {
    pollfd(
      fd: $0.descriptor, events: Int16(POLLIN) | ($0.isStuck ? Int16(POLLOUT) : 0), revents: 0)
  }
  poll(&waiting, nfds_t(waiting.count), CInt(milliseconds))
  return zip(sockets, waiting).compactMap { $1.revents == 0 ? nil : $0 }
}

/// Returns the monotonic clock in milliseconds.
package func monotonicMilliseconds() -> Int {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
}
