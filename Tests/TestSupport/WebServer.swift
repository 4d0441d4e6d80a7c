internal import Glibc
internal import Synchronization

/// A local web server, on its own threads, whose answers the test determines.
package final class WebServer {
  /// A received request.
  package struct Request: Sendable {
    package let path: String

    /// The headers by lowercase name.
    package let headers: [String: String]
  }

  /// An answer.
  package enum Page: Sendable {
    case text(String, headers: [String: String] = [:])
    case status(String, headers: [String: String] = [:])
    /// Arbitrary bytes, then the end of the connection.
    case bytes([UInt8])
    /// No answer, as long as the client waits.
    case nothing
    /// The text repeated, as long as the client reads.
    case endless(head: String, String)
    /// Another answer, sent after ``WebServer/open()``.
    indirect case gated(Page)
  }

  private let core: Core

  /// Starts a server at a free port.
  package init(_ answer: @escaping @Sendable (Request) -> Page) {
    core = Core(answer)
    core.start()
  }

  /// Starts a server with pages by path; other paths are not found.
  package convenience init(_ pages: [String: Page]) {
    self.init { pages[$0.path] ?? .status("404 Not Found") }
  }

  deinit {
    core.stop()
  }

  package var port: UInt16 { core.port }

  /// Returns the URL of a page.
  package func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

  /// The requests so far.
  package var requests: [Request] { core.state.withLock { $0.requests } }

  /// The number of connections so far.
  package var connections: Int { core.state.withLock { $0.connections } }
  /// The number of clients that left before the end of their answer.
  package var hangups: Int { core.state.withLock { $0.hangups } }

  /// Releases the gated answers.
  package func open() {
    core.state.withLock { $0.isOpen = true }
  }
}

/// The shared state of the server's threads.
///
/// `state` is locked; everything else is constant after the start.
private final class Core: Sendable {
  struct State {
    var requests: [WebServer.Request] = []
    var connections = 0
    var hangups = 0
    var isOpen = false
  }

  let state = Mutex(State())
  let port: UInt16
  private let listener: CInt
  private let answer: @Sendable (WebServer.Request) -> WebServer.Page

  init(_ answer: @escaping @Sendable (WebServer.Request) -> WebServer.Page) {
    self.answer = answer
    let listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | O_CLOEXEC, 0)
    self.listener = listener
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, size) == 0 && listen(listener, 64) == 0
          && getsockname(listener, $0, &size) == 0
      }
    }
    precondition(isBound, "no port for a test")
    port = UInt16(bigEndian: address.sin_port)
  }

  func start() {
    run { core in
      // Close it on this thread: after a close another server could reuse the descriptor at once.
      defer { close(core.listener) }
      while true {
        let client = accept(core.listener, nil, nil)
        guard client >= 0 else { return }
        // A process that another test starts would keep the connection open.
        _ = fcntl(client, F_SETFD, FD_CLOEXEC)
        core.state.withLock { $0.connections += 1 }
        core.run { $0.serve(client) }
      }
    }
  }

  /// Accepts no more clients; existing connections stay until their clients leave.
  func stop() {
    shutdown(listener, CInt(SHUT_RDWR))
  }

  /// Runs a closure on a new thread.
  private func run(_ body: @escaping @Sendable (Core) -> Void) {
    final class Work: Sendable {
      let body: @Sendable () -> Void
      init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    let work = Work { [self] in body(self) }
    var thread = pthread_t()
    pthread_create(
      &thread, nil,
      { argument in
        argument.map { Unmanaged<Work>.fromOpaque($0).takeRetainedValue().body() }
        return nil
      }, Unmanaged.passRetained(work).toOpaque())
    pthread_detach(thread)
  }

  private func serve(_ client: CInt) {
    defer { close(client) }
    while let request = read(client) {
      state.withLock { $0.requests.append(request) }
      guard send(answer(request), to: client) else { return }
    }
  }

  /// Sends an answer; returns whether another request may follow.
  private func send(_ page: WebServer.Page, to client: CInt) -> Bool {
    switch page {
    case .text(let text, let headers):
      return send(head("200 OK", headers, text.utf8.count) + text, to: client)
    case .status(let status, let headers):
      return send(head(status, headers, 0), to: client)
    case .bytes(let bytes):
      _ = send(bytes, to: client)
      return false
    case .nothing:
      waitForEnd(client)
      return false
    case .endless(let head, let text):
      guard send(head, to: client) else { return false }
      while send(text, to: client) {}
      state.withLock { $0.hangups += 1 }
      return false
    case .gated(let page):
      while !state.withLock({ $0.isOpen }) { usleep(1000) }
      return send(page, to: client)
    }
  }

  private func head(_ status: String, _ headers: [String: String], _ count: Int) -> String {
    let lines = headers.map { "\($0.key): \($0.value)\r\n" }.joined()
    return "HTTP/1.1 \(status)\r\n\(lines)Content-Length: \(count)\r\n\r\n"
  }

  private func send(_ text: String, to client: CInt) -> Bool { send(Array(text.utf8), to: client) }

  private func send(_ bytes: [UInt8], to client: CInt) -> Bool {
    var sent = 0
    while sent < bytes.count {
      let count = bytes[sent...].withUnsafeBytes {
        Glibc.send(client, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
      }
      guard count > 0 else { return false }
      sent += count
    }
    return true
  }

  private func waitForEnd(_ client: CInt) {
    var byte: UInt8 = 0
    while recv(client, &byte, 1, 0) > 0 {}
    state.withLock { $0.hangups += 1 }
  }

  /// Reads the next request; returns `nil` at the end of the connection.
  private func read(_ client: CInt) -> WebServer.Request? {
    var bytes: [UInt8] = []
    var byte: UInt8 = 0
    while !bytes.suffix(4).elementsEqual("\r\n\r\n".utf8) {
      guard recv(client, &byte, 1, 0) == 1 else { return nil }
      bytes.append(byte)
    }
    let lines = String(decoding: bytes, as: UTF8.self).split { $0 == "\r\n" }
    let words = (lines.first ?? "").split(separator: " ")
    var headers: [String: String] = [:]
    for line in lines.dropFirst() {
      let parts = line.split(separator: ":", maxSplits: 1)
      guard parts.count == 2 else { continue }
      headers[parts[0].lowercased()] = String(parts[1].drop { $0 == " " })
    }
    return WebServer.Request(path: words.count > 1 ? String(words[1]) : "", headers: headers)
  }
}
