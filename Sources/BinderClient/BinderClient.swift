internal import Glibc
public import JSON

/// A client of binderd for Swift programs: blocking calls, and streams that outlive a restart of
/// the daemon.
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
/// Confined to a thread.
public final class BinderClient {
  /// Where the daemon is looked for.
  public let search: SocketSearch

  /// A descriptor, for example that of the standard output: when nobody reads there any more,
  /// waiting ends with ``ClientError/readerGone``.
  public var output: CInt?

  /// Called when a stream has lost its connection, when it goes on, and when a daemon is silent.
  public var onNote: ((ConnectionNote) -> Void)?

  /// For how long answers are waited for.
  public var limits = AnswerLimits()

  let client: ClientName
  private var connection: BinderConnection?

  /// A client; it connects when it is first used.
  ///
  /// - Parameters:
  ///   - socket: Where the daemon listens; `nil` to look where the environment says.
  ///   - name: The program, as `daemon/connections` shows it.
  public init(socket: String? = nil, name: String, version: String = "") {
    search = SocketSearch(option: socket) { name in getenv(name).map { String(cString: $0) } }
    client = ClientName(name: name, version: version)
  }

  /// The connection for calls, made when there is none.
  public func connected(
    until deadline: Deadline = .never
  ) throws(ClientError) -> BinderConnection {
    if let connection { return connection }
    let new = try connect(until: deadline)
    connection = new
    return new
  }

  /// Calls a method and waits for its result.
  ///
  /// - Throws: ``ClientError``. After ``ClientError/lost(reason:)`` the next call connects anew;
  ///   the lost one is not repeated, because it may have been run.
  public func call(
    _ method: String, _ params: JSONObject = [:], until deadline: Deadline = .never
  ) throws(ClientError) -> JSONText {
    let connection = try connected(until: deadline)
    do throws(ClientError) {
      return try connection.call(method, params, until: deadline)
    } catch {
      if case .lost = error { self.connection = nil }
      throw error
    }
  }

  /// Calls a method and waits for its result as a type.
  public func call<Value: Decodable>(
    _ method: String, _ params: JSONObject = [:], as type: Value.Type,
    until deadline: Deadline = .never
  ) throws(ClientError) -> Value {
    let result = try call(method, params, until: deadline)
    return try connected().decode(result, as: type)
  }

  /// Follows sources or events on a connection of their own.
  ///
  /// - Parameter reconnects: Whether a lost connection is made anew; the first one must succeed.
  /// - Throws: ``ClientError``, also when the daemon refuses one of the subscriptions.
  public func follow(
    _ topics: [Topic], reconnects: Bool = true, until deadline: Deadline = .never
  ) throws(ClientError) -> Follower {
    try Follower(topics, of: self, reconnects: reconnects, until: deadline)
  }

  /// Opens a socket to the daemon for a program that speaks the protocol by itself.
  public func openSocket() throws(ClientError) -> ClientSocket {
    try ClientSocket.open(search).0
  }

  func connect(until deadline: Deadline) throws(ClientError) -> BinderConnection {
    try BinderConnection(
      search, client: client, output: output, limits, until: deadline,
      onSilence: { [onNote] path in onNote?(.silent(path: path)) })
  }
}

/// How a program calls itself.
struct ClientName {
  let name: String
  let version: String
}

/// What happens to the connection of a stream.
public enum ConnectionNote: Equatable, Sendable {
  /// It is lost, with the reason that the daemon gave; it is tried anew.
  case lost(reason: String?)

  /// It is there again; the stream goes on after a position, when it has one.
  case resumed(after: UInt64?)

  /// Somebody has taken a connection at a path and says nothing yet.
  case silent(path: String)
}
