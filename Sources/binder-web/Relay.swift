import CWebSockets
import EventLoop
import JSON
import Wire

/// A browser's connection to the daemon: passes lines on in both directions.
///
/// It keeps nothing. While one side takes no bytes, it does not read from the other, so the daemon
/// conflates values or feeds events from the journal as for any slow client.
final class Relay: StreamSocketDelegate {
  /// Codes of `CloseEvent.code` in the browser.
  enum Closing: UInt32 {
    /// The daemon cannot be reached, or has closed the connection: try again.
    case away = 4001
    /// The daemon does not let this user in.
    case denied = 4003
  }

  private let browser: OpaquePointer
  private let scratch: Scratch
  private let socket: StreamSocket
  private var frames = LineFrames()

  /// The bytes that the daemon has not taken yet.
  private var waiting = ByteBuffer()

  /// The lines before the daemon has answered for whom this connection acts; `nil` afterwards.
  private var introduction: LineSplitter?
  private var isClosed = false

  /// The longest answer to `act_as` in bytes.
  private static let maxIntroduction = 64 << 10

  /// - Parameters:
  ///   - socket: Connected to the daemon.
  ///   - user: The name of the user for whom to act; `nil` for the user of this program.
  init(_ browser: OpaquePointer, _ socket: StreamSocket, for user: String?, _ scratch: Scratch) {
    (self.browser, self.socket, self.scratch) = (browser, socket, scratch)
    socket.delegate = self
    guard let user else {
      socket.setReading(true)
      return
    }
    introduction = LineSplitter(limit: Self.maxIntroduction)
    // Until the daemon has agreed, nothing of the browser reaches it.
    cweb_set_reading(browser, false)
    waiting.append(#"{"jsonrpc":"2.0","id":0,"method":"act_as","params":{"name":"#)
    waiting.append(quoted: user)
    waiting.append("}}\n")
    flush()
    socket.setReading(true)
  }

  // MARK: From the browser

  /// Passes on a part of a message; its end becomes the end of a line.
  func text(_ bytes: UnsafeBufferPointer<UInt8>, isEnd: Bool) {
    waiting.append(bytes.span)
    if isEnd { waiting.append(UInt8(ascii: "\n")) }
    flush()
  }

  private func flush() {
    guard !isClosed else { return }
    guard let sent = socket.send(waiting.span) else {
      return closeBrowser(.away, "binderd is gone")
    }
    waiting.removeFirst(sent)
    guard introduction == nil else { return }
    cweb_set_reading(browser, waiting.isEmpty)
    if waiting.isEmpty { waiting.removeAll(keepingCapacity: 0) }
  }

  // MARK: From the daemon

  /// Reads on after the browser has taken everything.
  func room() { socket.setReading(true) }

  func socket(received bytes: Span<UInt8>) {
    if introduction != nil { return introduce(bytes) }
    let (whole, rest) = frames.parts(of: bytes)
    for case let part? in [whole, rest] {
      guard send(bytes.extracting(part.bytes), part) else { return close() }
    }
    if cweb_is_full(browser) { socket.setReading(false) }
  }

  private func send(_ bytes: Span<UInt8>, _ part: LineFrames.Part) -> Bool {
    scratch.withCopy(of: bytes) { cweb_send(browser, $0, bytes.count, part.isBegin, part.isEnd) }
  }

  /// Takes the answer to `act_as`.
  private func introduce(_ bytes: Span<UInt8>) {
    var denial: String?
    var isAnswered = false
    introduction?.feed(bytes) { line in
      isAnswered = true
      denial = if let line { Self.denial(in: line) } else { "the answer of binderd is too long" }
      return .done
    }
    guard isAnswered else { return }
    if let denial { return closeBrowser(.denied, denial) }
    introduction = nil
    flush()
  }

  /// Returns why the daemon refuses; `nil` if it agrees.
  private static func denial(in line: Span<UInt8>) -> String? {
    guard case .object(let answer)? = (try? JSONText(parsing: line))?.value else {
      return "an unusable answer"
    }
    if answer["result"] != nil { return nil }
    for (member, word) in [("error", "message"), ("params", "reason")] {
      guard case .object(let part)? = answer[member], case .string(let text)? = part[word] else {
        continue
      }
      return text
    }
    return "an unusable answer"
  }

  func socketReachedEnd() { closeBrowser(.away, "binderd has closed the connection") }
  func socketBecameWritable() { flush() }
  func socketClosed(_: SystemError?) { closeBrowser(.away, "binderd is gone") }

  // MARK: Ending

  private func closeBrowser(_ code: Closing, _ reason: String) {
    guard !isClosed else { return }
    close()
    closeSocket(browser, code, reason)
  }

  /// Ends the connection to the daemon.
  func close() {
    isClosed = true
    socket.close()
  }
}

/// Closes a WebSocket with a reason, which the page shows.
func closeSocket(_ browser: OpaquePointer, _ code: Relay.Closing, _ reason: String) {
  let text = reason.cut(toBytes: 120)
  cweb_close(browser, code.rawValue, text, text.utf8.count)
}

/// A buffer for one part of a message, with the room that libwebsockets needs before it.
final class Scratch {
  private let room: Int
  private let bytes: UnsafeMutablePointer<UInt8>
  private let capacity: Int

  init(capacity: Int) {
    room = cweb_headroom()
    self.capacity = capacity
    bytes = .allocate(capacity: room + capacity)
  }

  deinit { bytes.deallocate() }

  func withCopy<Result>(
    of source: Span<UInt8>, _ body: (UnsafeMutablePointer<UInt8>) -> Result
  ) -> Result {
    precondition(source.count <= capacity, "a part is larger than the buffer")
    let target = bytes + room
    source.withUnsafeBufferPointer { source in
      if let first = source.baseAddress { target.update(from: first, count: source.count) }
    }
    return body(target)
  }
}
