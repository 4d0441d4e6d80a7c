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
  /// - Throws: ``Loss`` if the daemon's last line says why it closes the connection;
  ///   ``ClientError``; `CancellationError`.
  func receive() async throws -> JSONObject { try await Self.receive(socket) }

  private static func receive(_ socket: LineSocket) async throws -> JSONObject {
    guard case .object(let frame) = try await socket.line().value else {
      throw ClientError.notUnderstood("a line that is no object")
    }
    guard frame["method"] == .string("closing") else { return frame }
    let params = frame.object("params")
    throw Loss(
      reason: params.string("reason"),
      reconnectMilliseconds: params.integer("reconnect_ms").flatMap { UInt64(exactly: $0) })
  }
}

/// The end of a connection as the daemon has announced it.
struct Loss: Error {
  let reason: String?
  let reconnectMilliseconds: UInt64?
}

/// The reaction to an error of a connection.
struct Recovery {
  /// The error for the program.
  let error: any Error

  /// Whether another attempt may succeed.
  let isPassing: Bool

  /// The time after which the daemon wants to be asked again; `nil` for the usual pause.
  let milliseconds: UInt64?

  /// The reasons that are gone when the program reads again.
  private static let temporary: Set = ["stalled", "out_queue_full"]

  init(from error: any Error) {
    switch error {
    case let loss as Loss:
      self.error = ClientError.lost(reason: loss.reason)
      isPassing =
        loss.reconnectMilliseconds != nil || loss.reason.map(Self.temporary.contains) ?? true
      milliseconds = loss.reconnectMilliseconds
    case let error as ClientError:
      self.error = error
      milliseconds = nil
      isPassing =
        switch error {
        case .noDaemon, .lost: true
        case .refused(let error): error.retry
        default: false
        }
    default: (self.error, isPassing, milliseconds) = (error, false, nil)
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
