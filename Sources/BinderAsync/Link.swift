internal import BinderClient
internal import JSON
internal import Wire

/// A connection on which the daemon has answered `hello`.
struct Link: Sendable {
  let socket: LineSocket

  /// The identity of the journal.
  let epoch: String

  /// The longest request in bytes that the daemon takes.
  private let maxRequest: Int

  /// The longest line in bytes that the daemon may send; a longer value comes in parts.
  private static let maxLine = 1 << 20

  /// The places of the daemon, and the name and version of the program.
  struct Target: Sendable {
    let search: SocketSearch
    let name: String
    let version: String
  }

  /// Connects and says `hello`.
  static func open(_ target: Target) async throws -> Link {
    let socket = try LineSocket(target.search, maxLine: maxLine)
    socket.write(
      try line(
        0, "hello",
        [
          "protocol": .array([.number(JSONNumber(1))]),
          "client": .object(["name": .string(target.name), "version": .string(target.version)]),
          "optional": .array([.string("items")]),
          "limits": .object(["line": .number(JSONNumber(maxLine))]),
        ], max: .max))
    let answer = try await receive(socket)
    if let error = answer["error"] { throw ClientError(error.text) }
    let result = answer.object("result")
    return Link(
      socket: socket, epoch: result.string("epoch") ?? "",
      maxRequest: result.object("limits").integer("line_in") ?? maxLine)
  }

  /// Returns the line of a request; without an id the daemon does not answer it.
  ///
  /// - Throws: ``ClientError/refused(_:)`` (`line_too_long`) if the daemon takes no such line. The
  ///   daemon's own error would have no id, because it drops the line.
  func line(_ id: Int?, _ method: String, _ params: JSONObject) throws(ClientError) -> [UInt8] {
    try Self.line(id, method, params, max: maxRequest)
  }

  private static func line(
    _ id: Int?, _ method: String, _ params: JSONObject, max: Int
  ) throws(ClientError) -> [UInt8] {
    var frame: JSONObject = ["jsonrpc": .string("2.0")]
    frame["id"] = id.map { .number(JSONNumber($0)) }
    frame["method"] = .string(method)
    frame["params"] = .object(params)
    let bytes = Array(JSONValue.object(frame).text.text.utf8) + [UInt8(ascii: "\n")]
    guard bytes.count <= max else {
      throw .refused(
        WireError(
          .lineTooLong, "the request has \(bytes.count) bytes, a line has at most \(max)",
          ["limit": .string("line_in"), "max": .number(JSONNumber(max))]))
    }
    return bytes
  }

  /// Waits for the next answer or notification.
  ///
  /// - Throws: `ConnectionEnd` if the daemon has said when to return, or why it ends the connection;
  ///   ``ClientError``; `CancellationError`.
  func receive() async throws -> JSONObject { try await Self.receive(socket) }

  private static func receive(_ socket: LineSocket) async throws -> JSONObject {
    let line: JSONText
    do {
      line = try await socket.line()
    } catch let error as ClientError {
      throw ConnectionEnd(error, reconnectMilliseconds: socket.reconnectMilliseconds)
    }
    guard case .object(let frame) = line.value else {
      throw ClientError.notUnderstood("a line that is no object")
    }
    switch frame["method"] {
    case .string("closing"):
      let params = frame.object("params")
      throw ConnectionEnd(
        .lost(reason: params.string("reason")),
        reconnectMilliseconds: params.position("reconnect_ms"))
    // The connection goes on if the daemon is started again.
    case .string("stopping"):
      socket.reconnectMilliseconds = frame.object("params").position("reconnect_ms")
    default: break
    }
    return frame
  }
}

extension ConnectionEnd {
  /// Returns the error of an end for the program; any other error is the same.
  static func reason(of error: any Error) -> any Error {
    (error as? ConnectionEnd)?.error ?? error
  }
}

extension Reconnection {
  /// Repeats an attempt to connect, each after a pause, until it succeeds.
  ///
  /// - Throws: The error after which another attempt cannot succeed; `CancellationError`.
  mutating func connect<Value>(
    after error: any Error, isolation: isolated (any Actor)? = #isolation,
    _ attempt: () async throws -> Value
  ) async throws -> Value {
    var last = error
    while true {
      let end = last as? ConnectionEnd ?? (last as? ClientError).map { ConnectionEnd($0) }
      guard let end, let milliseconds = pause(after: end) else {
        throw ConnectionEnd.reason(of: last)
      }
      try await Task.sleep(for: .milliseconds(milliseconds))
      do {
        return try await attempt()
      } catch {
        last = error
      }
    }
  }
}

extension JSONObject {
  /// Returns a member that is an object; empty if it is not one.
  func object(_ name: String) -> JSONObject {
    if case .object(let object)? = self[name] { object } else { [:] }
  }

  /// Returns a member that is a string; `nil` if it is not one.
  func string(_ name: String) -> String? {
    if case .string(let string)? = self[name] { string } else { nil }
  }

  /// Returns a member that is an integer; `nil` if it is not one.
  func integer(_ name: String) -> Int? {
    guard case .number(let number)? = self[name] else { return nil }
    return number.int64.flatMap { Int(exactly: $0) }
  }

  /// Returns a member that is a position or a count; `nil` if it is not one.
  func position(_ name: String) -> UInt64? { integer(name).flatMap { UInt64(exactly: $0) } }
}
