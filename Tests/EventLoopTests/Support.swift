import EventLoop
import Glibc

/// A delegate that records the events of a socket.
final class Recorder: StreamSocketDelegate {
  var bytes: [UInt8] = []
  var ends = 0
  var writable = 0
  var closes: [SystemError?] = []
  var onReceive: (() -> Void)?
  var onRead: (() -> Void)?
  var reads: [Bool] = []

  func socket(received bytes: Span<UInt8>) {
    for i in bytes.indices { self.bytes.append(bytes[i]) }
    onReceive?()
  }

  func socketWillRead() { onRead?() }
  func socketDidRead(_ hasRead: Bool) { reads.append(hasRead) }
  func socketReachedEnd() { ends += 1 }
  func socketBecameWritable() { writable += 1 }
  func socketClosed(_ error: SystemError?) { closes.append(error) }

  var text: String { String(decoding: bytes, as: UTF8.self) }
}

/// The other end of a socket, with blocking system calls.
final class Peer {
  let descriptor: CInt

  init(descriptor: CInt) {
    self.descriptor = descriptor
  }

  init(connectedTo path: String) throws {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue) | O_CLOEXEC, 0)
    let status = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    if status != 0 { throw SystemError(code: errno, call: "connect", subject: path) }
  }

  deinit {
    Glibc.close(descriptor)
  }

  func send(_ text: String) {
    _ = Glibc.send(descriptor, text, text.utf8.count, CInt(MSG_NOSIGNAL))
  }

  /// Closes the sending side.
  func finish() {
    shutdown(descriptor, CInt(SHUT_WR))
  }

  /// Waits for the end of the stream; returns whether it comes before any bytes.
  func waitForEnd() -> Bool {
    var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&ready, 1, 60_000) == 1 && receive() == nil
  }

  /// Returns the bytes that have arrived, without waiting; `nil` at the end of the stream.
  func receive() -> [UInt8]? {
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    let count = recv(descriptor, &chunk, chunk.count, CInt(MSG_DONTWAIT))
    if count == 0 { return nil }
    return count < 0 ? [] : Array(chunk[..<count])
  }
}

/// Returns a connected pair: the first end on the loop, the second for the test.
func makePair(on loop: Loop) throws -> (StreamSocket, Peer) {
  var ends: [CInt] = [0, 0]
  // A process that another test starts must not keep an end open.
  let type = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue) | O_CLOEXEC
  guard socketpair(AF_UNIX, type, 0, &ends) == 0 else {
    throw SystemError(code: errno, call: "socketpair")
  }
  return (try StreamSocket(adopting: ends[0], on: loop), Peer(descriptor: ends[1]))
}

extension StreamSocket {
  func send(_ bytes: [UInt8]) -> Int? { send(bytes.span) }
}

extension Loop {
  /// Runs turns until a condition holds; fails after one minute.
  func run(until condition: () -> Bool) throws {
    var isLate = false
    let alarm = try EventLoop.Timer(on: self) { isLate = true }
    alarm.start(afterMilliseconds: 60_000)
    while !condition(), !isLate { runOnce() }
    alarm.close()
    if isLate { throw SystemError(code: ETIMEDOUT, call: "run(until:)") }
  }

  /// Runs for a time and returns the number of turns.
  func countTurns(forMilliseconds time: UInt64) throws -> Int {
    var isOver = false
    let alarm = try EventLoop.Timer(on: self) { isOver = true }
    alarm.start(afterMilliseconds: time)
    var turns = 0
    while !isOver {
      runOnce()
      turns += 1
    }
    alarm.close()
    return turns
  }
}
