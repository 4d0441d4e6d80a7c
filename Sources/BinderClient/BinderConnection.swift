internal import Glibc
public import JSON
internal import Wire

/// One connection to a daemon: requests go out, answers and notifications come in.
///
/// Blocking and confined to a thread. When it is lost it stays lost; ``Follower`` makes a new one.
public final class BinderConnection {
  /// A connection by its parts, before anything was said.
  private let socket: ClientSocket
  private let decoder = JSONDecoder()
  private var splitter = LineSplitter(limit: lineLimit + 1024)
  private var lines: [JSONText] = []
  private var fault: String?
  private var lastID = 0
  private var answers: [String: Result<JSONText, ClientError>] = [:]

  /// The requests that were not answered: an answer to anything else is not kept.
  private var pending: Set<String> = []
  private var notifications: [(method: String, params: Incoming.Params)] = []
  private var nextNotification = 0

  /// Bytes of the lines of ``notifications``.
  private var notificationBytes = 0

  /// Whether somebody takes notifications out; without, they are not kept.
  var keepsNotifications = false

  /// Called with the method and the parameters of each notification, `closing` left out.
  public var onNotification: ((_ method: String, _ params: JSONText) -> Void)?
  private let limits: AnswerLimits
  private var closingReason: String?
  private let output: CInt?

  /// Where the daemon was found.
  public let path: String

  /// What the daemon has said of itself.
  public private(set) var greeting = Greeting(
    server: .init(name: "", version: ""), epoch: "", first: 0, last: 0)

  /// How long the daemon has asked its clients to stay away; `nil` when it has not.
  private(set) var reconnectMilliseconds: UInt64?

  /// The longest line that the daemon is asked to send.
  private static let lineLimit = 16 << 20

  /// How many bytes of notifications are kept while an answer is waited for.
  private static let maxNotificationBytes = 64 << 20

  /// Connects to the first of some places where a daemon listens, and says hello.
  ///
  /// - Parameters:
  ///   - client: The program and its version, as `daemon/connections` shows them.
  ///   - output: A descriptor whose reader may go away: then waiting ends.
  ///   - onSilence: Called with the path when the daemon is silent at first; it may be reading its
  ///     journal.
  init(
    _ search: SocketSearch, client: ClientName, output: CInt?, _ limits: AnswerLimits,
    until deadline: Deadline, onSilence: (String) -> Void
  ) throws(ClientError) {
    (socket, path) = try ClientSocket.open(search)
    self.output = output
    self.limits = limits
    let hello: JSONObject = [
      "protocol": .array([.number(JSONNumber(1))]),
      "client": .object(["name": .string(client.name), "version": .string(client.version)]),
      "limits": .object(["line": .number(JSONNumber(Self.lineLimit))]),
    ]
    let id = try send("hello", hello)
    let end = limits.end(deadline)
    if let first = limits.noteMilliseconds.map({ Deadline(inMilliseconds: $0) }),
      Deadline.earlier(first, end) == first
    {
      do throws(ClientError) {
        greeting = try decode(answer(to: id, until: first), as: Greeting.self)
        return
      } catch {
        guard error == .timedOut else { throw error }
        onSilence(path)
      }
    }
    greeting = try decode(answer(to: id, until: end), as: Greeting.self)
  }

  // MARK: Calling

  /// Calls a method and waits for its result.
  ///
  /// - Throws: ``ClientError``; after ``ClientError/timedOut`` the connection can still be used.
  public func call(
    _ method: String, _ params: JSONObject = [:], until deadline: Deadline = .never
  ) throws(ClientError) -> JSONText {
    try answer(to: send(method, params), until: deadline)
  }

  /// Calls a method and waits for its result as a type; members that it does not know are passed
  /// over.
  public func call<Value: Decodable>(
    _ method: String, _ params: JSONObject = [:], as type: Value.Type,
    until deadline: Deadline = .never
  ) throws(ClientError) -> Value {
    try decode(call(method, params, until: deadline), as: type)
  }

  /// Sends a request without waiting.
  ///
  /// - Returns: By what its answer is asked for.
  public func send(_ method: String, _ params: JSONObject = [:]) throws(ClientError) -> Int {
    try send(method, JSONValue.object(params).text)
  }

  /// Sends a request without waiting; its parameters are an object or an array.
  public func send(_ method: String, _ params: JSONText) throws(ClientError) -> Int {
    lastID += 1
    var line = ByteBuffer()
    line.append(#"{"jsonrpc":"2.0","id":"#)
    line.append(integer: lastID)
    line.append(#","method":"#)
    line.append(quoted: method)
    line.append(#","params":"#)
    line.append(params.text)
    line.append("}\n")
    pending.insert("\(lastID)")
    guard socket.send(line.span) else { throw try whyLost() }
    return lastID
  }

  /// Waits for the result of a request; what the daemon sends meanwhile is kept.
  public func answer(
    to id: Int, until deadline: Deadline = .never
  ) throws(ClientError) -> JSONText {
    let end = limits.end(deadline)
    while true {
      if let answer = answers.removeValue(forKey: "\(id)") { return try answer.get() }
      try receive(until: end)
      // Whoever says other things without end is ready at every moment.
      if answers["\(id)"] == nil, end.isOver { throw .timedOut }
    }
  }

  /// Whether a value or an event is there already.
  var hasNext: Bool { notifications[nextNotification...].contains { $0.method == "next" } }

  /// The next notification.
  func notification(
    until deadline: Deadline
  ) throws(ClientError) -> (method: String, params: Incoming.Params) {
    while nextNotification == notifications.count {
      notifications.removeAll(keepingCapacity: true)
      (nextNotification, notificationBytes) = (0, 0)
      try receive(until: .earlier(deadline, limits.deadline))
    }
    nextNotification += 1
    return notifications[nextNotification - 1]
  }

  /// Decodes what a result holds.
  func decode<Value: Decodable>(
    _ text: JSONText, as type: Value.Type
  ) throws(ClientError) -> Value {
    do throws(JSONDecodingError) {
      return try decoder.decode(type, from: text, unknownMembers: .ignored)
    } catch {
      throw .notUnderstood("\(error)")
    }
  }

  // MARK: Receiving

  /// Waits for more and takes it in.
  private func receive(until deadline: Deadline) throws(ClientError) {
    switch socket.wait(until: deadline, output: output) {
    case .ready: break
    case .timedOut: throw .timedOut
    case .readerGone: throw .readerGone
    }
    guard try take() else { throw .lost(reason: closingReason) }
  }

  /// Takes in what has arrived.
  ///
  /// - Returns: `false` at the end of the stream.
  private func take() throws(ClientError) -> Bool {
    let isMore = socket.receive { chunk in
      splitter.feed(chunk) { line in
        // The length of the line bounds what it costs: an answer may hold all of a service.
        if let line, let text = try? JSONText(parsing: line, maxMembers: JSONLimits.anyMembers) {
          lines.append(text)
        } else {
          fault = line == nil ? "a line over 16 MiB" : "a line that is not JSON"
        }
        return .done
      }
    }
    for line in lines { note(try decode(line, as: Incoming.self), line) }
    lines.removeAll(keepingCapacity: true)
    if let fault { throw .notUnderstood(fault) }
    return isMore
  }

  private func note(_ frame: Incoming, _ line: JSONText) {
    if let method = frame.method, let params = frame.params {
      if method == "closing" {
        closingReason = params.reason
        reconnectMilliseconds = params.reconnect_ms
      } else {
        if let onNotification, let params = line.members?["params"] {
          onNotification(method, params)
        }
        guard keepsNotifications else { return }
        notifications.append((method, params))
        notificationBytes += line.text.utf8.count
        if notificationBytes > Self.maxNotificationBytes {
          fault = "more than 64 MiB before an answer"
        }
      }
    } else if let id = frame.id, let result = frame.result {
      keep(.success(result), for: id.text)
    } else if let error = frame.error {
      // Without an identity the daemon could not read the request: there is only the last one.
      keep(.failure(ClientError(error)), for: frame.id?.text ?? "\(lastID)")
    } else {
      fault = "neither an answer nor a notification"
    }
  }

  private func keep(_ answer: Result<JSONText, ClientError>, for id: String) {
    guard pending.remove(id) != nil else { return }
    answers[id] = answer
  }

  /// What the daemon has said before it hung up.
  private func whyLost() throws(ClientError) -> ClientError {
    while try take() {}
    return .lost(reason: closingReason)
  }
}
