internal import BinderClient
internal import Glibc
internal import JSON
internal import Synchronization
internal import Wire

/// A socket to the daemon that passes lines.
///
/// It reads only when somebody waits for a line, so that a slow program slows down the daemon and
/// needs no memory.
final class LineSocket: Sendable {
  private struct Input: ~Copyable {
    var splitter: LineSplitter
    var lines: [JSONText] = []
    var next = 0
    var fault: String?
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
  }

  private struct Output {
    /// The bytes that were not sent yet.
    var bytes: [UInt8] = []
    var isFlushing = false
    var isLost = false

    /// The tasks that wait for room.
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  /// The bytes that wait, beyond which ``drain()`` waits.
  private static let maxWaiting = 1 << 16

  /// The time after which a daemon that stops wants to be asked again, in milliseconds.
  var reconnectMilliseconds: UInt64? {
    get { announced.withLock { $0 } }
    set { announced.withLock { $0 = newValue } }
  }

  private let announced = Mutex<UInt64?>(nil)
  private let descriptor: CInt
  private let input: Mutex<Input>
  private let output = Mutex(Output())

  /// Connects to the first place where a daemon listens.
  ///
  /// - Parameter maxLine: The longest line in bytes that the daemon may send.
  init(_ search: SocketSearch, maxLine: Int) throws(ClientError) {
    let (socket, _) = try ClientSocket.open(search)
    descriptor = fcntl(socket.descriptor, F_DUPFD_CLOEXEC, 0)
    guard descriptor >= 0 else { throw .lost(reason: nil) }
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    input = Mutex(Input(splitter: LineSplitter(limit: maxLine + 1024)))
  }

  deinit {
    Glibc.close(descriptor)
  }

  /// Ends the connection at once; waiting tasks notice it.
  func close() {
    shutdown(descriptor, CInt(SHUT_RDWR))
  }

  // MARK: Sending

  /// Sends a line, without waiting until the daemon has room for it.
  ///
  /// A lost connection is noticed by reading.
  func write(_ line: [UInt8]) {
    let mustFlush = output.withLock { output in
      output.bytes += line
      guard !output.isFlushing else { return false }
      flush(&output)
      output.isFlushing = !output.bytes.isEmpty
      return output.isFlushing
    }
    if mustFlush { Task { await flushAll() } }
  }

  /// Waits while many bytes were not sent yet.
  func drain() async {
    await withCheckedContinuation { continuation in
      let isFree = output.withLock { output in
        guard output.bytes.count > Self.maxWaiting else { return true }
        output.waiting.append(continuation)
        return false
      }
      if isFree { continuation.resume() }
    }
  }

  private func flush(_ output: inout Output) {
    var sent = 0
    while sent < output.bytes.count, !output.isLost {
      let count = output.bytes.withUnsafeBytes { bytes in
        send(
          descriptor, bytes.baseAddress?.advanced(by: sent), bytes.count - sent, CInt(MSG_NOSIGNAL))
      }
      if count > 0 {
        sent += count
      } else if errno == EAGAIN {
        break
      } else if errno != EINTR {
        output.isLost = true
      }
    }
    if output.isLost { output.bytes = [] } else { output.bytes.removeFirst(sent) }
  }

  private func flushAll() async {
    while true {
      _ = await Readiness.shared.wait(for: CInt(POLLOUT), on: descriptor)
      let (isDone, waiting) = output.withLock { output in
        flush(&output)
        let isDone = output.bytes.isEmpty
        if isDone { output.isFlushing = false }
        guard output.bytes.count <= Self.maxWaiting else {
          return (isDone, [CheckedContinuation<Void, Never>]())
        }
        defer { output.waiting = [] }
        return (isDone, output.waiting)
      }
      for continuation in waiting { continuation.resume() }
      if isDone { return }
    }
  }

  // MARK: Receiving

  /// Waits for the next line.
  ///
  /// - Throws: ``ClientError`` at the end of the connection, and for a line that is not JSON;
  ///   `CancellationError`.
  func line() async throws -> JSONText {
    while true {
      if let line = try input.withLock({ (input) throws(ClientError) in try next(&input) }) {
        return line
      }
      guard await Readiness.shared.wait(for: CInt(POLLIN), on: descriptor) else {
        throw CancellationError()
      }
    }
  }

  /// Returns the next line that has arrived; `nil` if the task must wait.
  private func next(_ input: inout Input) throws(ClientError) -> JSONText? {
    while input.next == input.lines.count {
      input.lines.removeAll(keepingCapacity: true)
      input.next = 0
      if let fault = input.fault { throw .notUnderstood(fault) }
      let count = recv(descriptor, &input.chunk, input.chunk.count, 0)
      if count < 0, errno == EINTR { continue }
      if count < 0, errno == EAGAIN { return nil }
      guard count > 0 else { throw .lost(reason: nil) }
      split(count, &input)
    }
    input.next += 1
    return input.lines[input.next - 1]
  }

  private func split(_ count: Int, _ input: inout Input) {
    var (lines, fault) = (input.lines, input.fault)
    input.chunk.withUnsafeBufferPointer { chunk in
      input.splitter.feed(chunk.extracting(..<count).span) { line in
        if let line, let text = try? JSONText(parsing: line, maxMembers: JSONLimits.anyMembers) {
          lines.append(text)
        } else {
          fault = line == nil ? "a line that is too long" : "a line that is not JSON"
        }
        return .done
      }
    }
    (input.lines, input.fault) = (lines, fault)
  }
}
