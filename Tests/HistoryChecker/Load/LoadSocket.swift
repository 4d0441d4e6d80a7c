internal import Glibc

/// A client's end of a connection that never waits.
package final class LoadSocket {
  package let descriptor: CInt
  private var received: [UInt8] = []
  private var chunk = [UInt8](repeating: 0, count: 1 << 16)
  private var unsent: [UInt8] = []
  private var isClosed = false

  /// Whether nothing more will come.
  package private(set) var isOver = false

  /// Connects; `nil` when nobody listens.
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

  /// Whether something waits to be sent.
  package var isStuck: Bool { !unsent.isEmpty }

  /// Sends what is taken now, and keeps the rest.
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

  /// The whole lines that have come; what the stream was cut within is dropped.
  package func lines() -> [String] {
    // No more than a chunk at once: others are to be listened to as well.
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

/// Waits until one of some sockets has something, or a time is over.
///
/// - Returns: Those that can be read or sent to.
@discardableResult
func waitFor(_ sockets: [LoadSocket], milliseconds: Int) -> [LoadSocket] {
  var waiting = sockets.map {
    pollfd(
      fd: $0.descriptor, events: Int16(POLLIN) | ($0.isStuck ? Int16(POLLOUT) : 0), revents: 0)
  }
  poll(&waiting, nfds_t(waiting.count), CInt(milliseconds))
  return zip(sockets, waiting).compactMap { $1.revents == 0 ? nil : $0 }
}

/// Milliseconds of a monotonic clock.
package func monotonicMilliseconds() -> Int {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
}
