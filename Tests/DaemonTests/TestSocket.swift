import Glibc
import JSON
import TestSupport
import Testing

/// One client by plain system calls: it can send whatever it likes and leave however it likes.
final class TestSocket {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  let descriptor: CInt
  private var rest: [UInt8] = []
  private var isClosed = false
  private var recorder: OrderRecorder?

  /// What was asked; `nil` when what is sent need not be requests.
  let asked: AskedMethods?

  /// - Parameter isRecorded: Whether what is sent are requests, so that their order can be held.
  init(_ path: String, isRecorded: Bool = true) throws {
    recorder = isRecorded ? OrderRecorder() : nil
    asked = isRecorded ? AskedMethods() : nil
    descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue) | O_CLOEXEC, 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let status = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    if status != 0 {
      let reason = String(cString: strerror(errno))
      Glibc.close(descriptor)
      isClosed = true
      throw Failure(description: "connect \(path): \(reason)")
    }
  }

  deinit {
    close()
  }

  func close() {
    guard !isClosed else { return }
    isClosed = true
    Glibc.close(descriptor)
  }

  // MARK: Sending

  /// Sends lines, each with its LF.
  func send(_ lines: String...) throws {
    try send(bytes: Array(lines.map { $0 + "\n" }.joined().utf8))
  }

  func send(bytes: [UInt8]) throws {
    asked?.sent(bytes)
    var sent = 0
    while sent < bytes.count {
      let count = bytes[sent...].withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
      }
      guard count > 0 else {
        throw Failure(description: "send: \(String(cString: strerror(errno)))")
      }
      recorder?.sent(Array(bytes[sent..<sent + count]))
      sent += count
    }
  }

  /// Sends what is taken without waiting, and returns how much that was.
  func sendNow(_ bytes: [UInt8]) -> Int {
    let count = Glibc.send(
      descriptor, bytes, bytes.count, CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT))
    recorder?.sent(Array(bytes.prefix(max(0, count))))
    return max(0, count)
  }

  /// Ends the sending side.
  func finish() {
    recorder?.sentEnd()
    shutdown(descriptor, CInt(SHUT_WR))
  }

  // MARK: Receiving

  /// The next line; `nil` at the end of the stream.
  ///
  /// - Throws: ``Failure`` when none comes within a time.
  func line(within milliseconds: CInt = 60_000) throws -> String? {
    while true {
      if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
        let line = String(decoding: rest[..<end], as: UTF8.self)
        rest.removeFirst(end + 1)
        Frames.check(line, asked)
        if let fault = recorder?.received(line) { Issue.record("\(fault)") }
        return line
      }
      guard try receive(within: milliseconds) else {
        guard rest.isEmpty else {
          throw Failure(description: "the stream ends within a line")
        }
        return nil
      }
    }
  }

  /// The lines up to the end of the stream.
  func lines() throws -> [String] {
    var lines: [String] = []
    while let line = try line() { lines.append(line) }
    return lines
  }

  /// Whether nothing comes for a time.
  func isSilent(for milliseconds: CInt = 50) -> Bool {
    var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return rest.isEmpty && poll(&ready, 1, milliseconds) == 0
  }

  private func receive(within milliseconds: CInt) throws -> Bool {
    var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard poll(&ready, 1, milliseconds) > 0 else {
      throw Failure(description: "nothing comes within \(milliseconds) ms")
    }
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    let count = recv(descriptor, &chunk, chunk.count, 0)
    if count > 0 { rest += chunk[..<count] }
    return count > 0
  }

  // MARK: Calling

  /// The line that answers a request.
  func call(_ request: String) throws -> String {
    try send(request)
    guard let line = try line() else { throw Failure(description: "the stream has ended") }
    return line
  }

  /// The result of a request, or its error.
  func result(_ request: String) throws -> JSONObject {
    guard case .object(let frame) = try JSONValue(parsing: call(request)),
      case .object(let result)? = frame["result"] ?? frame["error"]
    else { throw Failure(description: "no result: \(request)") }
    return result
  }
}
