internal import Glibc
public import JSON
internal import Wire

/// One connection to a daemon for requests, answers and notifications.
///
/// It blocks, and is confined to one thread. A lost connection is never reopened; ``Follower``
/// makes a new one.
public final class BinderConnection {
  /// The socket on which all lines are sent and received.
  private let socket: ClientSocket
  private let decoder = JSONDecoder()
  private var splitter = LineSplitter(limit: lineLimit + 1024)
  private var lines: [JSONText] = []
  private var fault: String?
  private var requests = SentRequests()

  /// The number of answers that have arrived and were not read.
  package var unreadAnswers: Int { requests.answers.count }

  /// The number of requests that were sent.
  var countOfRequests: Int { requests.lastID }

  /// Called with each notification except `closing`, and the size of its line in bytes.
  var onMessage: ((_ method: String, _ params: Incoming.Params, _ bytes: Int) -> Void)?

  /// Called with the method and the parameters of each notification except `closing`.
  public var onNotification: ((_ method: String, _ params: JSONText) -> Void)?
  private let limits: AnswerLimits
  private var closingReason: String?

  /// Whether the daemon has sent a line.
  private(set) var hasReceived = false
  private let output: CInt?

  /// The path of the daemon's socket.
  public let path: String

  /// The daemon's answer to `hello`.
  public private(set) var greeting = Greeting(
    server: .init(name: "", version: ""), epoch: "", first: 0, last: 0)

  /// The time after which the daemon wants to be asked again, in milliseconds; `nil` if it has named
  /// none.
  package private(set) var reconnectMilliseconds: UInt64?

  /// Whether the daemon has accepted `hello`, if the caller polls.
  private(set) var isGreeted = false

  /// The identifier of the `hello` request.
  private var hello = 0

  /// The daemon's refusal of `hello`, if the caller polls.
  private var refusal: ClientError?

  /// The longest line in bytes that the daemon may send.
  private static let lineLimit = 16 << 20

  /// Sends `hello` on a new socket without waiting.
  ///
  /// - Parameters:
  ///   - opened: The socket, and its path or another name of the daemon.
  ///   - client: The program's name and version, which `daemon/connections` shows.
  ///   - output: A descriptor to watch. Waiting ends when its reader closes it.
  init(
    _ opened: (ClientSocket, String), client: ClientName, output: CInt?, _ limits: AnswerLimits
  ) throws(ClientError) {
    (socket, path) = opened
    self.output = output
    self.limits = limits
    hello = try send(
      "hello",
      [
        "protocol": .array([.number(JSONNumber(1))]),
        "client": .object(["name": .string(client.name), "version": .string(client.version)]),
        "limits": .object(["line": .number(JSONNumber(Self.lineLimit))]),
      ])
  }

  /// Waits for the answer to `hello`.
  ///
  /// - Parameter onSilence: Called with the path if the daemon does not answer soon; it may be
  ///   reading its journal.
  func greet(until deadline: Deadline, onSilence: (String) -> Void) throws(ClientError) {
    let end = limits.end(deadline)
    if let first = limits.noteMilliseconds.map({ Deadline(inMilliseconds: $0) }),
      Deadline.earlier(first, end) == first
    {
      do throws(ClientError) {
        greeting = try decode(answer(to: hello, until: first), as: Greeting.self)
        return
      } catch {
        guard error == .timedOut else { throw error }
        onSilence(path)
      }
    }
    greeting = try decode(answer(to: hello, until: end), as: Greeting.self)
  }

  // MARK: Calling

  /// Calls a method and waits for its result.
  ///
  /// - Throws: ``ClientError``. The connection is still usable after ``ClientError/timedOut``.
  public func call(
    _ method: String, _ params: JSONObject = [:], until deadline: Deadline = .never
  ) throws(ClientError) -> JSONText {
    let id = try send(method, params)
    do throws(ClientError) {
      return try answer(to: id, until: deadline)
    } catch {
      // Nobody waits for the answer any more.
      requests.cancel(id)
      throw error
    }
  }

  /// Calls a method, waits for its result and decodes it.
  ///
  /// Ignores unknown members.
  public func call<Value: Decodable>(
    _ method: String, _ params: JSONObject = [:], as type: Value.Type,
    until deadline: Deadline = .never
  ) throws(ClientError) -> Value {
    try decode(call(method, params, until: deadline), as: type)
  }

  /// Sends a request without waiting.
  ///
  /// - Returns: The identifier to pass to ``answer(to:until:)``.
  public func send(_ method: String, _ params: JSONObject = [:]) throws(ClientError) -> Int {
    try send(method, JSONValue.object(params).text)
  }

  /// Sends a request without waiting.
  ///
  /// Its parameters are an object or an array.
  public func send(_ method: String, _ params: JSONText) throws(ClientError) -> Int {
    let id = requests.add()
    var line = ByteBuffer()
    line.append(#"{"jsonrpc":"2.0","id":"#)
    line.append(integer: id)
    line.append(#","method":"#)
    line.append(quoted: method)
    line.append(#","params":"#)
    line.append(params.text)
    line.append("}\n")
    guard socket.send(line.span) else { throw try whyLost() }
    return id
  }

  /// Waits for the result of a request.
  ///
  /// Keeps other messages that arrive meanwhile. After ``ClientError/timedOut``, you can call this
  /// again.
  public func answer(
    to id: Int, until deadline: Deadline = .never
  ) throws(ClientError) -> JSONText {
    let end = limits.end(deadline)
    while true {
      if let answer = requests.removeAnswer(to: id) { return try answer.get() }
      try receive(until: end)
      // Checked here because a stream of other messages would never time out in `receive`.
      if !requests.isAnswered(id), end.isOver { throw .timedOut }
    }
  }

  /// Decodes a result.
  func decode<Value: Decodable>(
    _ text: JSONText, as type: Value.Type
  ) throws(ClientError) -> Value {
    do throws(JSONDecodingError) {
      return try decoder.decode(type, from: text, unknownMembers: .ignored)
    } catch {
      throw .notUnderstood("\(error)")
    }
  }

  // MARK: Polling

  /// The descriptor to poll for input, for a caller that must not block.
  package var descriptor: CInt { socket.descriptor }

  /// Called with each answer instead of keeping it for ``answer(to:until:)``; that of `hello` is
  /// left out.
  package var onAnswer: ((_ id: Int, _ answer: Result<JSONText, ClientError>) -> Void)?

  /// Processes what has arrived; blocks unless ``descriptor`` is readable.
  ///
  /// - Throws: ``ClientError``. Answers and notifications before the error were passed on.
  package func receiveArrived() throws(ClientError) {
    let isMore = try receive()
    if let refusal { throw refusal }
    guard isMore else { throw lostError() }
  }

  // MARK: Receiving

  /// Waits for bytes and processes them.
  private func receive(until deadline: Deadline) throws(ClientError) {
    switch socket.wait(until: deadline, output: output) {
    case .ready: break
    case .timedOut: throw .timedOut
    case .readerGone: throw .readerGone
    case .failed: throw .lost(reason: nil)
    }
    guard try receive() else { throw lostError() }
  }

  /// Processes the bytes that have arrived.
  ///
  /// - Returns: `false` at the end of the stream.
  private func receive() throws(ClientError) -> Bool {
    let isMore = socket.receive { chunk in
      splitter.feed(chunk) { line in
        // The line limit bounds the cost, so members are unlimited: an answer may hold a whole
        // service.
        if let line, let text = try? JSONText(parsing: line, maxMembers: JSONLimits.anyMembers) {
          lines.append(text)
        } else {
          fault = line == nil ? "a line over 16 MiB" : "a line that is not JSON"
        }
        return .done
      }
    }
    for line in lines { dispatch(try decode(line, as: Incoming.self), line) }
    lines.removeAll(keepingCapacity: true)
    if let fault { throw .notUnderstood(fault) }
    return isMore
  }

  private func dispatch(_ frame: Incoming, _ line: JSONText) {
    hasReceived = true
    if let method = frame.method, let params = frame.params {
      if method == "closing" {
        closingReason = params.reason
        reconnectMilliseconds = params.reconnectMilliseconds
      } else {
        // The connection goes on if the daemon is started again.
        if method == "stopping" { reconnectMilliseconds = params.reconnectMilliseconds }
        onMessage?(method, params, line.text.utf8.count)
        if let onNotification, let params = line.members?["params"] {
          onNotification(method, params)
        }
      }
    } else if let id = frame.id, let result = frame.result {
      keep(.success(result), for: id.text)
    } else if let error = frame.error {
      // The daemon could not read the identifier, so the error belongs to the last request.
      keep(.failure(ClientError(error)), for: frame.id?.text ?? "\(requests.lastID)")
    } else {
      fault = "neither an answer nor a notification"
    }
  }

  private func keep(_ answer: Result<JSONText, ClientError>, for id: String) {
    guard requests.end(id) else { return }
    guard let onAnswer, let number = Int(id) else { return requests.keep(answer, to: id) }
    guard number == hello else { return onAnswer(number, answer) }
    switch answer {
    case .failure(let error): refusal = error
    case .success(let text):
      isGreeted = true
      // Who waits for the answer decodes it again, and gets the error of one that is not understood.
      if let greeting = try? decode(text, as: Greeting.self) { self.greeting = greeting }
    }
  }

  /// Reads the remaining messages and returns the error with the daemon's reason.
  private func whyLost() throws(ClientError) -> ClientError {
    while try receive() {}
    return lostError()
  }

  /// Returns the error for the end of the connection.
  private func lostError() -> ClientError {
    if !hasReceived, let error = socket.whyEnded?() { return error }
    return .lost(reason: closingReason)
  }
}

/// The requests of a connection that have no answer yet, and the answers that nobody has read.
private struct SentRequests {
  private(set) var lastID = 0

  /// The identifiers of unanswered requests that somebody waits for.
  ///
  /// Answers to other identifiers are dropped.
  private var pending: Set<String> = []

  private(set) var answers: [String: Result<JSONText, ClientError>] = [:]

  /// Returns the identifier of a new request.
  mutating func add() -> Int {
    lastID += 1
    pending.insert("\(lastID)")
    return lastID
  }

  /// Drops the answer to a request when it comes.
  mutating func cancel(_ id: Int) { pending.remove("\(id)") }

  /// Ends a request that is answered.
  ///
  /// - Returns: Whether somebody waits for the answer.
  mutating func end(_ id: String) -> Bool { pending.remove(id) != nil }

  mutating func keep(_ answer: Result<JSONText, ClientError>, to id: String) {
    answers[id] = answer
  }

  func isAnswered(_ id: Int) -> Bool { answers["\(id)"] != nil }

  /// Removes and returns the answer to a request; `nil` if it has not arrived.
  mutating func removeAnswer(to id: Int) -> Result<JSONText, ClientError>? {
    answers.removeValue(forKey: "\(id)")
  }
}
