import BinderClient
import Glibc
import JSON
import TestSupport

/// A daemon that follows a script, one connection after another, on a separate thread.
///
/// `@unchecked` because the script is constant after the start, and received lines are read only
/// after the thread has ended.
final class ScriptedDaemon: @unchecked Sendable {
  /// One step of the script.
  enum Step: Sendable {
    /// Answers the next request with a result.
    case answer(String)
    /// Answers the next request with an error object.
    case refuse(String)
    /// Receives a request and does not answer it.
    case take
    /// Sends a line.
    case send(String)
    /// Sends a line repeatedly until the client disconnects.
    case `repeat`(String)
    /// Does nothing until the client disconnects.
    case hang
  }

  static let hello =
    Step.answer(
      #"{"protocol":1,"server":{"name":"binderd","version":"9"},"epoch":"e","first":1,"last":7}"#)

  /// A connection of the script has not ended within a minute.
  struct Unfinished: Error {}

  /// The path of the socket.
  let path: String

  private let directory: TemporaryDirectory
  private let listener: CInt
  private let connections: [[Step]]
  /// A pipe that the thread writes to when it ends.
  private let ends = makePipe()

  private var received: [[String]] = []

  /// Starts the daemon; each connection ends after its last step.
  init(_ connections: [[Step]]) throws {
    directory = try TemporaryDirectory()
    path = directory.path + "/s"
    self.connections = connections
    listener = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue) | O_CLOEXEC, 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        precondition(bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0)
      }
    }
    listen(listener, 8)
    var thread = pthread_t()
    pthread_create(
      &thread, nil,
      { argument in
        argument.map { Unmanaged<ScriptedDaemon>.fromOpaque($0).takeRetainedValue().run() }
        return nil
      }, Unmanaged.passRetained(self).toOpaque())
    pthread_detach(thread)
  }

  deinit {
    close(listener)
    for end in ends { close(end) }
  }

  /// Waits until all connections have ended, and returns the requests of each.
  func requests() throws -> [[JSONObject]] {
    var end = pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0)
    guard poll(&end, 1, 60_000) == 1 else { throw Unfinished() }
    var byte: UInt8 = 0
    _ = read(ends[0], &byte, 1)
    return received.map { lines in
      lines.compactMap { line in
        guard case .object(let object)? = try? JSONValue(parsing: line) else { return nil }
        return object
      }
    }
  }

  private func run() {
    defer { _ = write(ends[1], "e", 1) }
    for steps in connections {
      let client = accept(listener, nil, nil)
      guard client >= 0 else { return }
      // A process that another test starts would keep the connection open.
      _ = fcntl(client, F_SETFD, FD_CLOEXEC)
      received.append([])
      var reader = LineReader(descriptor: client)
      for step in steps { perform(step, client, &reader) }
      close(client)
    }
  }

  private func perform(_ step: Step, _ client: CInt, _ reader: inout LineReader) {
    switch step {
    case .answer(let result): answer(#""result":"# + result, client, &reader)
    case .refuse(let error): answer(#""error":"# + error, client, &reader)
    case .take: _ = take(&reader)
    case .send(let line): send(line, client)
    case .repeat(let line): while send(line, client) {}
    case .hang: while reader.next() != nil {}
    }
  }

  private func answer(_ member: String, _ client: CInt, _ reader: inout LineReader) {
    guard let line = take(&reader), case .object(let request)? = try? JSONValue(parsing: line)
    else { return }
    send(#"{"jsonrpc":"2.0","id":\#((request["id"] ?? .null).text),\#(member)}"#, client)
  }

  private func take(_ reader: inout LineReader) -> String? {
    guard let line = reader.next() else { return nil }
    received[received.count - 1].append(line)
    return line
  }

  /// - Returns: Whether the client was connected.
  @discardableResult
  private func send(_ line: String, _ client: CInt) -> Bool {
    let bytes = Array((line + "\n").utf8)
    return Glibc.send(client, bytes, bytes.count, CInt(MSG_NOSIGNAL)) == bytes.count
  }
}

/// Reads lines byte by byte: slow, but simple.
private struct LineReader {
  let descriptor: CInt

  func next() -> String? {
    var line: [UInt8] = []
    var byte: UInt8 = 0
    while recv(descriptor, &byte, 1, 0) == 1 {
      if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
      line.append(byte)
    }
    return nil
  }
}
