internal import Glibc
public import JSON

/// A client of binderd with blocking calls and with streams that survive a restart of the daemon.
///
/// ```swift
/// let client = BinderClient(name: "porch")
/// _ = try client.call("set", ["source": .string("cells/lamp"), "value": .bool(true)])
/// let lamps = try client.follow([Topic("cells/**")])
/// while true {
///   if case .value(let change) = try lamps.next() { print(change.source, change.value ?? .null) }
/// }
/// ```
///
/// Use a client on one thread only.
public final class BinderClient {
  /// The places where the client looks for the daemon's socket.
  public let search: SocketSearch

  /// A descriptor to watch, for example standard output.
  ///
  /// When its reader closes it, waiting ends with ``ClientError/readerGone``.
  public var output: CInt?

  /// Called when a stream loses its connection, when it resumes, and when a daemon is silent.
  public var onNote: ((ConnectionNote) -> Void)?

  /// The limits on how long the client waits for answers.
  public var limits = AnswerLimits()

  /// Whether the client also waits for a daemon that is not there yet, as it does for one that it has
  /// lost.
  package var waitsForDaemon = false

  /// Opens a connection in place of ``search``, and names the daemon; `nil` to search.
  package var opener: (() throws(ClientError) -> (ClientSocket, String))?

  let client: ClientName
  private var connection: BinderConnection?

  /// Creates a client.
  ///
  /// It connects on first use.
  ///
  /// - Parameters:
  ///   - socket: The path of the daemon's socket; `nil` to search as the environment says.
  ///   - daemon: The name of a daemon to search for, if no path is given; `nil` for binderd, or the
  ///     one that the environment names.
  ///   - name: The program's name, which `daemon/connections` shows.
  public init(socket: String? = nil, daemon: String? = nil, name: String, version: String = "") {
    search = SocketSearch(socket: socket, daemon: daemon)
    client = ClientName(name: name, version: version)
  }

  /// Returns the connection for calls, and connects if there is none.
  public func connected(
    until deadline: Deadline = .never
  ) throws(ClientError) -> BinderConnection {
    try repeating(until: deadline) { connection throws(ClientError) in connection }
  }

  /// Calls a method and waits for its result.
  ///
  /// - Throws: ``ClientError``. After ``ClientError/lost(reason:)`` and
  ///   ``ClientError/notUnderstood(_:)``, the next call reconnects. The lost call is not repeated,
  ///   because the daemon may have run it.
  public func call(
    _ method: String, _ params: JSONObject = [:], until deadline: Deadline = .never
  ) throws(ClientError) -> JSONText {
    let connection = try connected(until: deadline)
    do throws(ClientError) {
      return try connection.call(method, params, until: deadline)
    } catch {
      switch error {
      // After a message that is not understood, the connection says nothing else.
      case .lost, .notUnderstood: self.connection = nil
      default: break
      }
      throw error
    }
  }

  /// Calls a method that changes something, so that it takes effect exactly once.
  ///
  /// If the connection is lost before the answer, the call is sent again on the next one, with the same
  /// idempotency key.
  ///
  /// - Parameter id: The idempotency key, for a program that repeats the command after its own crash;
  ///   `nil` for a new one.
  /// - Throws: ``ClientError``. After ``ClientError/timedOut`` and ``ClientError/outcomeUnknown`` the
  ///   daemon may have run it.
  @discardableResult
  public func command(
    _ method: String, _ params: JSONObject = [:], id: String? = nil,
    until deadline: Deadline = .never
  ) throws(ClientError) -> JSONText {
    var params = params
    var meta: JSONObject = if case .object(let meta)? = params["_meta"] { meta } else { [:] }
    meta["cmd"] = .string(id ?? newCommandID())
    params["_meta"] = .object(meta)
    var epoch: String?
    return try repeating(until: deadline) { connection throws(ClientError) in
      guard epoch == nil || epoch == connection.greeting.epoch else { throw .outcomeUnknown }
      epoch = connection.greeting.epoch
      return try connection.call(method, params, until: deadline)
    }
  }

  /// Calls a method that changes nothing, and calls it again if the connection is lost.
  package func query(
    _ method: String, _ params: JSONObject, until deadline: Deadline = .never
  ) throws(ClientError) -> JSONText {
    try repeating(until: deadline) { connection throws(ClientError) in
      try connection.call(method, params, until: deadline)
    }
  }

  /// Uses the connection for calls, and a new one each time that it is lost.
  ///
  /// The first connection must succeed, unless the client waits for the daemon.
  private func repeating<Value>(
    until deadline: Deadline, _ use: (BinderConnection) throws(ClientError) -> Value
  ) throws(ClientError) -> Value {
    var reconnection = Reconnection()
    var isWaiting = connection != nil
    while true {
      do throws(ClientError) {
        let used: BinderConnection
        if let connection { used = connection } else { used = try connect(until: deadline) }
        connection = used
        isWaiting = true
        return try use(used)
      } catch {
        if !isWaiting, waits(after: error) {
          isWaiting = true
          onNote?(.absent(error))
        }
        let requested = connection?.reconnectMilliseconds
        guard isWaiting, error.isOfConnection,
          let milliseconds = reconnection.pause(
            after: ConnectionEnd(error, reconnectMilliseconds: requested))
        else { throw error }
        connection = nil
        try pause(milliseconds: milliseconds, until: deadline)
      }
    }
  }

  /// Whether to wait for a daemon that could not be reached at the first attempt.
  func waits(after error: ClientError) -> Bool {
    guard waitsForDaemon, case .noDaemon = error else { return false }
    return !error.isDenied
  }

  /// Waits without a connection.
  ///
  /// - Throws: ``ClientError/timedOut`` after the deadline; ``ClientError/readerGone``.
  package func pause(
    milliseconds: UInt64, until deadline: Deadline = .never
  ) throws(ClientError) {
    let last = Deadline.earlier(deadline, limits.deadline)
    let end = Deadline.earlier(last, Deadline(inMilliseconds: milliseconds))
    if case .readerGone = waitFor(nil, until: end, output: output) { throw .readerGone }
    if last.isOver { throw .timedOut }
  }

  /// Drops the connection for calls; the next call connects again.
  package func disconnect() { connection = nil }

  /// Calls a method, waits for its result and decodes it.
  public func call<Value: Decodable>(
    _ method: String, _ params: JSONObject = [:], as type: Value.Type,
    until deadline: Deadline = .never
  ) throws(ClientError) -> Value {
    let result = try call(method, params, until: deadline)
    return try connected().decode(result, as: type)
  }

  /// Follows sources or events on a separate connection.
  ///
  /// - Parameter reconnects: Whether to reconnect after a lost connection. The first connection
  ///   must succeed.
  /// - Throws: ``ClientError``, also if the daemon refuses one of the subscriptions.
  public func follow(
    _ topics: [Topic], reconnects: Bool = true, until deadline: Deadline = .never
  ) throws(ClientError) -> Follower {
    try Follower(topics, of: self, reconnects: reconnects, until: deadline)
  }

  /// Opens a socket to the daemon for a program that implements the protocol itself.
  public func openSocket() throws(ClientError) -> ClientSocket {
    try open().0
  }

  private func open() throws(ClientError) -> (ClientSocket, String) {
    if let opener { return try opener() }
    return try ClientSocket.open(search)
  }

  /// Returns a new connection whose daemon may not have answered yet, for a caller that polls.
  func connectWithoutWaiting() throws(ClientError) -> BinderConnection {
    try BinderConnection(try open(), client: client, output: output, limits)
  }

  func connect(until deadline: Deadline) throws(ClientError) -> BinderConnection {
    let connection = try connectWithoutWaiting()
    try connection.greet(until: deadline) { [onNote] path in onNote?(.silent(path: path)) }
    return connection
  }
}

/// Returns a new idempotency key: 128 random bits.
package func newCommandID() -> String {
  (0..<2).map { _ in
    let digits = String(UInt64.random(in: .min ... .max), radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }.joined()
}

extension JSONText {
  /// Decodes the value; members that the type does not read are ignored.
  ///
  /// - Throws: ``JSONDecodingError`` for the first mismatch.
  public func decoded<Value: Decodable>(
    as type: Value.Type = Value.self
  ) throws(JSONDecodingError) -> Value {
    try JSONDecoder().decode(type, from: self, unknownMembers: .ignored)
  }
}

/// The name and version of a program.
struct ClientName {
  let name: String
  let version: String
}

/// A change in the connection of a stream.
public enum ConnectionNote: Equatable, Sendable {
  /// The connection is lost, with the daemon's reason if there is one.
  ///
  /// The client reconnects.
  case lost(reason: String?)

  /// The connection is back.
  ///
  /// The stream continues after a position, if it has one.
  case resumed(after: UInt64?)

  /// A process accepted the connection at a path but has not answered yet.
  case silent(path: String)

  /// No daemon is there yet; the client waits for it.
  case absent(ClientError)
}
