import Glibc
import JSON
import TestSupport
import Testing

/// A client on plain system calls, which can send any bytes and disconnect in any way.
final class TestSocket {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  let descriptor: CInt
  private var rest: [UInt8] = []
  private var isClosed = false
  private var recorder: OrderRecorder?

  /// The pending requests; `nil` if the sent bytes need not be requests.
  let asked: AskedMethods?

  /// Whether to check each line against the schema.
  private let isChecked: Bool

  /// - Parameters:
  ///   - isRecorded: Whether to check the order of the lines; then all sent bytes must be requests.
  ///   - isChecked: Whether to check each line against the schema, which takes a while.
  init(_ path: String, isRecorded: Bool = true, isChecked: Bool = true) throws {
    self.isChecked = isChecked
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

  /// Sends as much as possible without blocking, and returns the number of bytes.
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

  /// Returns the next line; `nil` at the end of the stream.
  ///
  /// - Throws: ``Failure`` if none arrives in time.
  func line(within milliseconds: CInt = 180_000) throws -> String? {
    while true {
      if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
        let line = String(decoding: rest[..<end], as: UTF8.self)
        rest.removeFirst(end + 1)
        if isChecked { Frames.check(line, asked) }
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

  /// Returns the lines up to the end of the stream.
  func lines() throws -> [String] {
    var lines: [String] = []
    while let line = try line() { lines.append(line) }
    return lines
  }

  /// Returns whether nothing arrives for a time.
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

  /// Sends a request and returns the line of its answer.
  func call(_ request: String) throws -> String {
    try send(request)
    guard let line = try line() else { throw Failure(description: "the stream has ended") }
    return line
  }

  /// Sends a request and returns its result, or its error.
  func result(_ request: String) throws -> JSONObject {
    guard case .object(let frame) = try JSONValue(parsing: call(request)),
      case .object(let result)? = frame["result"] ?? frame["error"]
    else { throw Failure(description: "no result: \(request)") }
    return result
  }
}
