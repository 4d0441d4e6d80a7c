internal import Glibc
internal import Synchronization

/// A web server of this machine, on threads of its own, that answers as a test says: well or badly.
package final class WebServer {
  /// What somebody has asked for.
  package struct Request: Sendable {
    package let path: String

    /// By name in small letters.
    package let headers: [String: String]
  }

  /// What is answered.
  package enum Page: Sendable {
    case text(String, headers: [String: String] = [:])
    case status(String, headers: [String: String] = [:])
    /// These bytes and then the end, whatever they are.
    case bytes([UInt8])
    /// Nothing, for as long as the client waits.
    case nothing
    /// This again and again, for as long as the client takes it.
    case endless(head: String, String)
    /// Another one, when ``WebServer/open()`` was called.
    indirect case gated(Page)
  }

  private let core: Core

  /// Starts it, at a port that is free.
  package init(_ answer: @escaping @Sendable (Request) -> Page) {
    core = Core(answer)
    core.start()
  }

  /// Starts it with pages by their paths; all others are not found.
  package convenience init(_ pages: [String: Page]) {
    self.init { pages[$0.path] ?? .status("404 Not Found") }
  }

  deinit {
    core.stop()
  }

  package var port: UInt16 { core.port }

  /// The address of a page.
  package func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

  /// What was asked for so far.
  package var requests: [Request] { core.state.withLock { $0.requests } }

  /// How many connections there were, and how many clients have left before they were answered.
  package var connections: Int { core.state.withLock { $0.connections } }
  package var hangups: Int { core.state.withLock { $0.hangups } }

  /// Lets what is gated be answered.
  package func open() {
    core.state.withLock { $0.isOpen = true }
  }
}

/// What the threads of a server share: the state is locked, all else is not changed after the start.
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
      // Closed here and not by who stops it: another server may get the number at once.
      defer { close(core.listener) }
      while true {
        let client = accept(core.listener, nil, nil)
        guard client >= 0 else { return }
        core.state.withLock { $0.connections += 1 }
        core.run { $0.serve(client) }
      }
    }
  }

  /// Takes no more clients; those who wait for nothing are hung up on by what they wait for.
  func stop() {
    shutdown(listener, CInt(SHUT_RDWR))
  }

  /// Runs something on a thread of its own.
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

  /// - Returns: Whether another request may follow.
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

  /// The next request; `nil` at the end of the connection.
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
