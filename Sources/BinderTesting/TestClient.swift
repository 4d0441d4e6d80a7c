internal import Connections
public import JSON
internal import Wire

/// A client of a ``TestDaemon``: each call commits, and returns its answer.
public final class TestClient {
  private let daemon: TestDaemon
  private let connection: TestConnection
  private var lastID = 0

  /// The notifications that were received and not taken yet.
  private var notifications: [JSONObject] = []

  /// The open views, by handle.
  ///
  /// A test holds the views, and these hold their client.
  private var views: [String: OpenView] = [:]

  private struct OpenView {
    weak var view: TestView?
  }

  /// The calls that are not answered yet, by id.
  private var calls: [String: OpenCall] = [:]

  private struct OpenCall {
    weak var call: TestCall?
  }

  init(_ daemon: TestDaemon, _ connection: TestConnection) {
    (self.daemon, self.connection) = (daemon, connection)
  }

  /// Whether the daemon has closed the connection.
  public var isClosed: Bool { connection.isClosed }

  // MARK: Calls

  /// Calls a method.
  ///
  /// - Parameters:
  ///   - parameters: The parameters by name.
  ///   - cmd: The id of the command; a repeat with the same id returns the same result.
  /// - Returns: The value of the result; `null` if there is none.
  /// - Throws: ``CallError``.
  @discardableResult
  public func call(
    _ method: String, _ parameters: JSONObject = [:], cmd: String? = nil
  ) throws(CallError) -> JSONValue {
    var parameters = parameters
    if let cmd { parameters["_meta"] = .object(["cmd": .string(cmd)]) }
    return try request(method, parameters)["value"] ?? .null
  }

  /// Sends a request, and returns the whole result.
  ///
  /// - Throws: ``CallError``; `no_answer` if the commits are held, see ``TestDaemon/holdCommits()``.
  @discardableResult
  public func request(
    _ method: String, _ parameters: JSONObject = [:]
  ) throws(CallError) -> JSONObject {
    try begin(method, parameters).result()
  }

  /// Sends a request whose answer is read later.
  public func begin(_ method: String, _ parameters: JSONObject = [:]) -> TestCall {
    lastID += 1
    let call = TestCall(self, method)
    calls["\(lastID)"] = OpenCall(call: call)
    connection.send(
      JSONValue.object([
        "id": .number(JSONNumber(lastID)), "method": .string(method),
        "params": .object(parameters),
      ]).text.text)
    receive()
    return call
  }

  /// Returns the value of a source.
  ///
  /// - Throws: ``CallError``; `not_found` if it has none.
  public func get(_ source: String) throws(CallError) -> JSONValue {
    let result = try request("get", ["source": .string(source)])
    guard let value = result["value"] ?? result["values"] else {
      throw CallError(name: "not_found", message: "\(source) is gone", data: [:])
    }
    return value
  }

  /// Sets a source that clients may write.
  ///
  /// - Throws: ``CallError``.
  public func set(_ source: String, _ value: JSONValue) throws(CallError) {
    try request("set", ["source": .string(source), "value": value])
  }

  /// Subscribes to a source or a pattern.
  ///
  /// - Returns: The result: the value, its position and the handle; see ``frames(of:)``.
  /// - Throws: ``CallError``.
  @discardableResult
  public func subscribe(_ source: String) throws(CallError) -> JSONObject {
    try request("subscribe", ["source": .string(source)])
  }

  /// Opens a view.
  ///
  /// - Throws: ``CallError``.
  public func open(_ view: String, _ arguments: JSONObject = [:]) throws(CallError) -> TestView {
    let result = try request("open", ["binder": .string(view), "args": .object(arguments)])
    let opened = TestView(self, result)
    views[opened.handle] = OpenView(view: opened)
    return opened
  }

  /// Returns the notifications since the last call, in order, without those of views: their `params`.
  public func frames() -> [JSONObject] {
    receive()
    defer { notifications = [] }
    return notifications
  }

  // MARK: Frames

  /// Finishes the turn of the daemon, and sorts what was received.
  func receive() {
    daemon.finishTurn()
    for line in connection.lines() {
      guard case .object(let frame)? = try? JSONValue(parsing: line) else { continue }
      guard case .string(let method)? = frame["method"], case .object(let params)? = frame["params"]
      else {
        if let id = frame["id"]?.text.text { calls.removeValue(forKey: id)?.call?.answer = frame }
        continue
      }
      guard let view = params["view"]?.text.text else {
        notifications.append(params)
        continue
      }
      apply(method, params, to: view)
    }
  }

  private func apply(_ method: String, _ params: JSONObject, to view: String) {
    switch method {
    case "next": views[view]?.view?.apply(params)
    case "opened":
      let child = TestView(self, params)
      views[view] = OpenView(view: child)
      if let parent = params["parent"]?.text.text { views[parent]?.view?.children.append(child) }
    case "closed":
      guard let closed = views.removeValue(forKey: view)?.view else { return }
      closed.isClosed = true
      for parent in views.values { parent.view?.children.removeAll { $0 === closed } }
    default: notifications.append(params)
    }
  }
}

/// A call whose answer is read later.
public final class TestCall {
  private let client: TestClient
  private let method: String
  fileprivate var answer: JSONObject?

  init(_ client: TestClient, _ method: String) { (self.client, self.method) = (client, method) }

  /// Whether it is answered.
  public var isAnswered: Bool {
    client.receive()
    return answer != nil
  }

  /// Returns the whole result.
  ///
  /// - Throws: ``CallError``; `no_answer` if there is none yet.
  public func result() throws(CallError) -> JSONObject {
    guard isAnswered, let answer else {
      throw CallError(name: "no_answer", message: "\(method) was not answered", data: [:])
    }
    if let error = answer["error"] { throw CallError(error) }
    if case .object(let result)? = answer["result"] { return result }
    return [:]
  }
}

/// An error that a call has got.
///
/// Errors of one name and one reason are equal, whatever their message.
public struct CallError: Error, Equatable, CustomStringConvertible {
  /// The name of the error: `not_found`.
  public let name: String
  /// A sentence for people.
  public let message: String
  /// More members of the error: `what`, `id`, `path`, `reason`.
  public let data: JSONObject

  /// The reason of a `rejected` error.
  public var reason: String? {
    guard name == "rejected", case .string(let reason)? = data["reason"] else { return nil }
    return reason
  }

  init(name: String, message: String, data: JSONObject) {
    (self.name, self.message, self.data) = (name, message, data)
  }

  init(_ value: JSONValue) {
    if let error = WireError(value) {
      self.init(name: error.name.rawValue, message: error.message, data: error.data)
    } else {
      self.init(name: "unknown", message: value.text.text, data: [:])
    }
  }

  /// A parameter is wrong.
  public static let invalid = CallError(name: "invalid_params", message: "", data: [:])
  /// Something does not exist.
  public static let notFound = CallError(name: "not_found", message: "", data: [:])
  /// Something exists already.
  public static let exists = CallError(name: "already_exists", message: "", data: [:])
  /// The role of the client does not allow it.
  public static let denied = CallError(name: "permission_denied", message: "", data: [:])
  /// The journal takes nothing.
  public static let readOnly = CallError(name: "read_only", message: "", data: [:])

  /// A rule of the service refuses it.
  public static func rejected(_ reason: String) -> CallError {
    CallError(name: "rejected", message: "", data: ["reason": .string(reason)])
  }

  /// Compares names and reasons.
  public static func == (left: Self, right: Self) -> Bool {
    left.name == right.name && left.reason == right.reason
  }

  /// The name and the message.
  public var description: String { "\(name): \(message)" }
}

/// A view that a client has opened, with all changes applied.
public final class TestView {
  private let client: TestClient
  let handle: String

  /// The name of the view.
  public let name: String

  /// The names of the intents that the client is offered, in order.
  public let intents: [String]

  /// Whether the view has ended.
  public internal(set) var isClosed = false

  /// The views that it has opened and that are open, in order.
  public internal(set) var children: [TestView] = []

  private var properties: [String: JSONValue] = [:]

  init(_ client: TestClient, _ frame: JSONObject) {
    self.client = client
    handle = frame["view"]?.text.text ?? "null"
    if case .string(let name)? = frame["binder"] { self.name = name } else { name = "" }
    if case .object(let intents)? = frame["intents"] {
      self.intents = intents.members.map(\.name)
    } else {
      intents = []
    }
    apply(frame)
  }

  /// The value of a property as the client sees it; `nil` if there is none.
  public subscript(property: String) -> JSONValue? {
    client.receive()
    return properties[property]
  }

  /// Sends an intent.
  ///
  /// - Returns: The value of the answer; `null` if there is none.
  /// - Throws: ``CallError``.
  @discardableResult
  public func intent(_ name: String, _ arguments: JSONObject = [:]) throws(CallError) -> JSONValue {
    let handle = (try? JSONValue(parsing: handle)) ?? .null
    let result = try client.request(
      "intent", ["view": handle, "name": .string(name), "args": .object(arguments)])
    return result["value"] ?? .null
  }

  /// Closes the view.
  ///
  /// - Throws: ``CallError``.
  public func close() throws(CallError) {
    let handle = (try? JSONValue(parsing: handle)) ?? .null
    try client.request("close", ["view": handle])
    isClosed = true
  }

  /// Applies the properties of a frame.
  func apply(_ frame: JSONObject) {
    guard case .object(let props)? = frame["props"] else { return }
    for member in props.members {
      guard case .object(let news) = member.value else { continue }
      if let value = news["value"] { properties[member.name] = value }
      if news["gone"] != nil { properties[member.name] = nil }
      guard case .array(let changes)? = news["changes"] else { continue }
      var list: [JSONValue] = []
      if case .array(let known)? = properties[member.name] { list = known }
      for case .object(let change) in changes { list.apply(change) }
      properties[member.name] = .array(list)
    }
  }
}

extension [JSONValue] {
  /// Applies a change of a list, as the protocol writes it.
  fileprivate mutating func apply(_ change: JSONObject) {
    guard case .string(let op)? = change["op"] else { return }
    func index(_ name: String) -> Int { change[name].flatMap { Int($0.text.text) } ?? 0 }
    switch op {
    case "insert": insert(change["value"] ?? .null, at: index("at"))
    case "update": self[index("at")] = change["value"] ?? .null
    case "merge":
      guard case .object(let members)? = change["value"], case .object(var row) = self[index("at")]
      else { return }
      for member in members.members { row[member.name] = member.value }
      self[index("at")] = .object(row)
    case "remove": remove(at: index("at"))
    case "move": insert(remove(at: index("from")), at: index("to"))
    case "reset": if case .array(let all)? = change["value"] { self = all }
    default: break
    }
  }
}

/// The connection of a client, as the daemon sees it.
final class TestConnection {
  private let connection: Connection
  private let transport = TestTransport()

  var isClosed: Bool { transport.isClosed }

  init(_ connection: Connection) {
    self.connection = connection
    connection.start(transport)
  }

  func send(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    connection.receive(bytes.span)
  }

  /// Returns the lines that the client has received since the last call.
  func lines() -> [String] {
    defer { transport.bytes = [] }
    return String(decoding: transport.bytes, as: UTF8.self).split(separator: "\n").map(String.init)
  }
}

/// A socket that takes everything.
private final class TestTransport: Transport {
  var bytes: [UInt8] = []
  private(set) var isClosed = false

  func send(_ bytes: Span<UInt8>) -> Int? {
    for i in bytes.indices { self.bytes.append(bytes[i]) }
    return bytes.count
  }

  func setReading(_ isReading: Bool) {}
  func close() { isClosed = true }
}
