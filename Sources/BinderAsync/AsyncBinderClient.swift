// A program needs no other import.
@_exported public import BinderClient
@_exported public import JSON
internal import Wire

/// A client of one daemon for programs with tasks.
///
/// ```swift
/// let client = AsyncBinderClient(name: "porch")
/// try await client.set("cells/lamp", to: true)
/// for try await change in client.watch("cells/**") {
///   print(change.source, change.value ?? .null)
/// }
/// ```
///
/// Any number of tasks may use a client at a time. Calls share a connection, which is made for the
/// first call and renewed when it is lost. Each subscription has a connection of its own, so a slow
/// reader delays nobody else.
///
/// Methods throw ``ClientError``, or `CancellationError` if the task is cancelled.
public actor AsyncBinderClient {
  /// A call that waits for its answer.
  private struct Request {
    let line: [UInt8]

    /// The journal for which it was sent.
    let epoch: String

    /// Whether it has an idempotency key, so that it is sent again after a loss.
    let isRepeatable: Bool
    let answer: CheckedContinuation<JSONObject, any Error>
  }

  /// The most calls that wait for an answer at a time; further ones wait until one is answered.
  private static let maxInFlight = 256

  nonisolated let target: Link.Target

  /// The connection; `nil` before the first call and while there is no daemon.
  private var link: Link?
  private var isConnecting = false
  private var reader: Task<Void, Never>?

  /// The calls by id, in the order in which they were sent.
  private var requests: [Int: Request] = [:]
  private var lastID = 0
  private var inFlight = 0

  /// The calls that wait for a connection or for another call.
  private var waiting: [Int: CheckedContinuation<Void, Never>] = [:]

  /// The reason why the client has ended; `nil` while it works.
  private var failure: (any Error)?

  /// Creates a client, which connects for its first call.
  ///
  /// - Parameters:
  ///   - socket: The path of the daemon's socket; `nil` to search as `bindctl` does.
  ///   - daemon: The name of a daemon to search for, if no path is given; `nil` for binderd, or the
  ///     one that the environment names.
  ///   - name: The program's name, which `daemon/connections` shows.
  public init(socket: String? = nil, daemon: String? = nil, name: String, version: String = "") {
    target = Link.Target(
      search: .init(socket: socket, daemon: daemon), name: name, version: version)
  }

  deinit {
    reader?.cancel()
    link?.socket.close()
  }

  // MARK: Calls

  /// Calls a method and returns its result.
  ///
  /// If the connection is lost before the answer, it throws ``ClientError/lost(reason:)``: the daemon
  /// may have run it. While there is no daemon, a call waits for one, except the first. A call with
  /// `cmd` in `_meta` is a ``command(_:_:id:)``.
  public func call(_ method: String, _ params: JSONObject = [:]) async throws -> JSONObject {
    try await request(method, params, isRepeatable: params.object("_meta")["cmd"] != nil)
  }

  /// Calls a method that changes something, so that it takes effect exactly once.
  ///
  /// If the connection is lost, the call is sent again on the next one, with the same idempotency
  /// key.
  ///
  /// - Parameter id: The idempotency key, for a program that repeats the command after its own crash;
  ///   `nil` for a new one.
  /// - Throws: ``ClientError/outcomeUnknown`` if the journal was replaced meanwhile.
  @discardableResult
  public func command(
    _ method: String, _ params: JSONObject = [:], id: String? = nil
  ) async throws -> JSONObject {
    var params = params
    var meta = params.object("_meta")
    meta["cmd"] = .string(id ?? newCommandID())
    params["_meta"] = .object(meta)
    return try await request(method, params, isRepeatable: true)
  }

  /// Calls a method with encoded parameters and returns the decoded `value` of its result.
  public func call<Value: Decodable & Sendable>(
    _ method: String, with params: some Encodable & Sendable, as type: Value.Type
  ) async throws -> Value {
    try value(of: await call(method, encoded(params)), method, as: type)
  }

  /// Calls a method with encoded parameters and returns its whole decoded result.
  ///
  /// The structures that `bindctl generate swift` writes use it.
  public func call<Result: Decodable & Sendable>(
    _ method: String, with params: some Encodable & Sendable, result type: Result.Type = Result.self
  ) async throws -> Result {
    try decoded(.object(await call(method, encoded(params))), of: method, as: type)
  }

  /// Calls a method that changes something with encoded parameters, so that it takes effect exactly
  /// once, and returns the decoded `value` of its result.
  ///
  /// ```swift
  /// let visits = try await client.command("cells.add", with: ["name": "visits"], as: Int.self)
  /// ```
  @discardableResult
  public func command<Value: Decodable & Sendable>(
    _ method: String, with params: some Encodable & Sendable, as type: Value.Type
  ) async throws -> Value {
    try value(of: await command(method, encoded(params)), method, as: type)
  }

  /// Calls a method that changes something with encoded parameters, so that it takes effect exactly
  /// once, and returns its whole decoded result, for example ``Committed``.
  @discardableResult
  public func command<Result: Decodable & Sendable>(
    _ method: String, with params: some Encodable & Sendable, result type: Result.Type = Result.self
  ) async throws -> Result {
    try decoded(.object(await command(method, encoded(params))), of: method, as: type)
  }

  private func value<Value: Decodable>(
    of result: JSONObject, _ method: String, as type: Value.Type
  ) throws(ClientError) -> Value {
    guard let value = result["value"] else {
      throw .notUnderstood(
        "the result of \(method) has no 'value'; decode all of it with 'result:' instead of 'as:'")
    }
    return try decoded(value, of: method, as: type)
  }

  private func encoded(_ params: some Encodable) throws -> JSONObject {
    guard case .object(let object) = try JSONEncoder().text(params).value else { return [:] }
    return object
  }

  private func decoded<Value: Decodable>(
    _ value: JSONValue, of method: String, as type: Value.Type
  ) throws(ClientError) -> Value {
    do {
      return try value.text.decoded(as: type)
    } catch {
      var hint = ""
      // The most usual mistake: the type of the value, where all of the result is decoded.
      if case .object(let result) = value, result["value"] != nil {
        let names = result.members.map(\.name).sorted().joined(separator: ", ")
        hint = "; it has the members \(names): decode a type with these, or its value with 'as:'"
      }
      throw .notUnderstood("the result of \(method) is no \(type): \(error)\(hint)")
    }
  }

  /// Returns the present value of a source; `nil` if it was removed.
  public func get(_ source: String) async throws -> JSONValue? {
    try await call("get", ["source": .string(source)])["value"]
  }

  /// Returns the present value of a source, decoded.
  public func get<Value: Decodable & Sendable>(
    _ source: String, as type: Value.Type = Value.self
  ) async throws -> Value {
    try decoded(await get(source) ?? .null, of: "get", as: type)
  }

  /// Sets a source, exactly once.
  ///
  /// - Returns: The position of the change; `nil` for a source that is not journaled.
  @discardableResult
  public func set(_ source: String, to value: JSONValue) async throws -> UInt64? {
    try await command("set", ["source": .string(source), "value": value]).position("seq")
  }

  /// Sets a source to an encoded value, exactly once.
  @discardableResult
  public func set(_ source: String, to value: some Encodable & Sendable) async throws -> UInt64? {
    try await set(source, to: try JSONEncoder().text(value).value)
  }

  // MARK: Subscriptions

  /// Returns the values of a source, or of all sources of a pattern, and then their changes.
  ///
  /// A lost connection is renewed. No change of a journaled source is left out or given twice; of
  /// others, and with ``Topic/Mode/newest``, a slow program gets the newest value. The values of lists
  /// and maps are whole.
  public nonisolated func watch(
    _ pattern: String, mode: Topic.Mode = .everyIfJournaled
  ) -> Changes {
    Changes(target, pattern, mode)
  }

  /// Returns the events of the journal, each once and in order.
  ///
  /// - Parameters:
  ///   - streams: Patterns of the streams; empty for all.
  ///   - types: Patterns of the types; empty for all.
  ///   - start: The first event.
  public nonisolated func events(
    _ streams: String..., types: [String] = [], from start: JournalStart = .now
  ) -> JournalEvents {
    JournalEvents(target, streams: streams, types: types, start)
  }

  /// Subscribes to a source, a pattern or `events`, for a program that stores positions, acknowledges
  /// events or reads the steps of lists.
  ///
  /// - Parameters:
  ///   - options: The other parameters of the method `subscribe`, for example `durable`.
  ///   - cursor: The position to resume after, for `events` and with `mode` `every`.
  public nonisolated func subscribe(
    _ source: String, _ options: JSONObject = [:], resumingAfter cursor: Cursor? = nil
  ) async throws -> Subscription {
    let subscription = Subscription(target, source, options, cursor)
    try await subscription.open()
    return subscription
  }

  /// Ends the connection for calls.
  ///
  /// Calls that wait, and later ones, throw `CancellationError`.
  public func close() { end(CancellationError()) }

  // MARK: Sending

  private func request(
    _ method: String, _ params: JSONObject, isRepeatable: Bool
  ) async throws -> JSONObject {
    lastID += 1
    let id = lastID
    while inFlight >= Self.maxInFlight, failure == nil { try await wait(id) }
    inFlight += 1
    defer {
      inFlight -= 1
      wakeAll()
    }
    let link = try await ready(id)
    let line = try link.line(id, method, params)
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { answer in
        requests[id] = Request(
          line: line, epoch: link.epoch, isRepeatable: isRepeatable, answer: answer)
        link.socket.write(line)
      }
    } onCancel: {
      Task { await self.cancel(id) }
    }
  }

  /// Gives up a call; one that is asynchronous, such as `wait`, would otherwise go on in the daemon.
  private func cancel(_ id: Int) {
    guard let request = requests.removeValue(forKey: id) else { return }
    if let link,
      let line = try? link.line(nil, "cancel", ["id": .number(JSONNumber(id))])
    {
      link.socket.write(line)
    }
    request.answer.resume(throwing: CancellationError())
  }

  /// Returns the connection, with room for a line.
  private func ready(_ id: Int) async throws -> Link {
    while true {
      if let failure { throw failure }
      if let link {
        await link.socket.drain()
        if link.socket === self.link?.socket { return link }
      } else if reader == nil, !isConnecting {
        try await connectFirst()
      } else {
        try await wait(id)
      }
    }
  }

  /// Waits until something has changed that calls wait for.
  private func wait(_ id: Int) async throws {
    await withTaskCancellationHandler {
      await withCheckedContinuation { waiting[id] = $0 }
    } onCancel: {
      Task { await self.wake(id) }
    }
    try Task.checkCancellation()
  }

  private func wake(_ id: Int) { waiting.removeValue(forKey: id)?.resume() }

  private func wakeAll() {
    for id in waiting.keys.sorted() { wake(id) }
  }

  // MARK: Connecting

  private func connectFirst() async throws {
    isConnecting = true
    defer {
      isConnecting = false
      wakeAll()
    }
    let link: Link
    do {
      link = try await Link.open(target)
    } catch {
      throw ConnectionEnd.reason(of: error)
    }
    guard failure == nil else { return link.socket.close() }
    self.link = link
    reader = Task { [weak self, target] in
      await Self.read(link, target) { [weak self] in self }
    }
  }

  /// Passes answers on, and connects again, until an error that does not pass.
  private static func read(
    _ first: Link, _ target: Link.Target, _ client: @Sendable () -> AsyncBinderClient?
  ) async {
    var (link, reconnection) = (first, Reconnection())
    while true {
      let loss: any Error
      do {
        while true {
          let frame = try await link.receive()
          guard let client = client() else { return }
          if await client.receive(frame) { reconnection.succeed() }
        }
      } catch {
        loss = error
      }
      link.socket.close()
      await client()?.lose(ConnectionEnd.reason(of: loss))
      do {
        link = try await reconnection.connect(after: loss) {
          guard client() != nil else { throw CancellationError() }
          return try await Link.open(target)
        }
      } catch {
        if !(error is CancellationError) { await client()?.end(error) }
        return
      }
      guard let client = client() else { return link.socket.close() }
      // Without a call there is no answer to wait for.
      if await !client.resume(link) { reconnection.succeed() }
    }
  }

  /// Passes an answer to its call; notifications are for subscriptions.
  ///
  /// - Returns: Whether it is the result of a call.
  private func receive(_ frame: JSONObject) -> Bool {
    guard frame["id"] != nil else { return false }
    let error = frame["error"].map { ClientError($0.text) }
    guard let id = frame.integer("id") else {
      // The daemon could not read the id of a line, so that any call may be meant.
      if let error { for id in requests.keys { fail(id, error) } }
      return false
    }
    guard let request = requests[id] else { return false }
    switch error {
    case nil:
      requests[id] = nil
      request.answer.resume(returning: frame.object("result"))
    // The command is sent again to the next daemon.
    case .refused(let error)? where error.name == .shuttingDown && request.isRepeatable: break
    case let error?: fail(id, error)
    }
    return error == nil
  }

  private func fail(_ id: Int, _ error: any Error) {
    requests.removeValue(forKey: id)?.answer.resume(throwing: error)
  }

  private func lose(_ error: any Error) {
    link = nil
    for (id, request) in requests where !request.isRepeatable { fail(id, error) }
  }

  /// Sends the commands again that were not answered, with the same key.
  ///
  /// - Returns: Whether there are any.
  private func resume(_ link: Link) -> Bool {
    guard failure == nil else {
      link.socket.close()
      return false
    }
    self.link = link
    for (id, request) in requests.sorted(by: { $0.key < $1.key }) {
      if request.epoch == link.epoch {
        link.socket.write(request.line)
      } else {
        fail(id, ClientError.outcomeUnknown)
      }
    }
    wakeAll()
    return !requests.isEmpty
  }

  private func end(_ error: any Error) {
    guard failure == nil else { return }
    failure = error
    reader?.cancel()
    link?.socket.close()
    link = nil
    for id in requests.keys { fail(id, error) }
    wakeAll()
  }
}

/// The result of a command with the position of its event.
///
/// ```swift
/// let set = try await client.command(
///   "cells.set", with: Cell(name: "lamp", value: true), result: Committed<Bool>.self)
/// print(set.value, set.seq ?? 0)
/// ```
public struct Committed<Value: Decodable & Sendable>: Decodable, Sendable {
  /// The value that the command returns.
  public let value: Value

  /// The position of the event; `nil` if the command has changed nothing.
  public let seq: UInt64?

  /// The version of the stream after the event; `nil` if the command has changed nothing.
  public let version: UInt64?
}
