internal import BinderClient
internal import Glibc
internal import JSON
internal import Wire

/// A service that is provided, until it is closed or the daemon refuses it;
/// ``AsyncBinderClient/provide(_:)`` makes it.
///
/// If the connection is lost, it provides the service again. A queued call that it works on, or has
/// answered without a receipt, is not run twice: when the daemon delivers it again, it gets the answer.
/// Direct calls have ended with the connection.
public actor Provider {
  /// A queued call: the journal, and the position in it.
  private struct Key: Hashable {
    let epoch: String
    let id: String
  }

  /// A call that the daemon has delivered.
  private struct Delivered: Sendable {
    let id: String
    let method: String
    let params: JSONObject
    let caller: JSONObject
    let socket: LineSocket
    let epoch: String
    let end: ContinuousClock.Instant

    var isQueued: Bool { id.hasPrefix("q") }
    var key: Key { Key(epoch: epoch, id: id) }
  }

  private typealias Answer = Result<JSONObject, any Error>

  /// The longest message of an error, in characters.
  private static let maxMessage = 500

  private let target: Link.Target
  private let service: Service

  /// The connection; `nil` while there is none.
  private var link: Link?
  private var lastID = 0

  /// The actions for the answers to requests.
  private var answers: [Int: (Answer) -> Void] = [:]

  /// The calls that do not run yet.
  private var waiting: [Delivered] = []

  /// The queued calls that run, and the number of all that do.
  private var running: Set<Key> = []
  private var runningCount = 0

  /// The replies to queued calls that the daemon may not have.
  private var replies: [Key: JSONObject] = [:]

  /// The newest keys of ``replies``, the oldest first, and the most that are kept.
  private var replyOrder: [Key] = []
  private static let maxReplies = 256

  /// The queued calls that came on this connection.
  private var delivered: Set<Key> = []

  /// The tasks that wait until something changes.
  private var watchers: [CheckedContinuation<Void, Never>] = []
  private var isClosing = false
  private var isOver = false
  private var failure: (any Error)?

  init(_ target: Link.Target, _ service: Service) {
    (self.target, self.service) = (target, service)
  }

  // MARK: For the program

  /// Waits until the provider has ended.
  ///
  /// - Throws: ``ClientError`` if the daemon has ended it.
  public func wait() async throws {
    await until { isOver }
    if let failure { throw failure }
  }

  /// Takes no more calls, finishes those that it has, and ends the connection.
  public func close() async {
    if link != nil {
      isClosing = true
      await withCheckedContinuation { continuation in
        request("withdraw", ["service": .string(service.name)]) { _ in continuation.resume() }
      }
      await until { runningCount == 0 && waiting.isEmpty && answers.isEmpty }
    }
    end(nil)
  }

  // MARK: The connection

  /// Makes the first connection.
  func open() async throws {
    let first: Link
    do {
      first = try await connect()
    } catch {
      throw ConnectionEnd.reason(of: error)
    }
    Task { await read(first) }
  }

  private func connect() async throws -> Link {
    let link = try await Link.open(target)
    do {
      link.socket.write(try link.line(0, "provide", service.declaration))
      var frame = try await link.receive()
      while frame["id"] == nil { frame = try await link.receive() }
      if let error = frame["error"] { throw ClientError(error.text) }
      guard !isOver else { throw CancellationError() }
    } catch {
      link.socket.close()
      throw error
    }
    self.link = link
    wakeAll()
    return link
  }

  /// Takes calls and answers, and connects again, until an error that does not pass.
  private func read(_ first: Link) async {
    var (link, reconnection) = (first, Reconnection())
    while true {
      let loss: any Error
      do {
        while true {
          let frame = try await link.receive()
          reconnection.succeed()
          receive(frame, link)
        }
      } catch {
        loss = error
      }
      lose(ConnectionEnd.reason(of: loss))
      guard !isClosing, !isOver else { return end(nil) }
      do {
        link = try await reconnection.connect(after: loss) { try await connect() }
      } catch {
        return end(error)
      }
    }
  }

  private func lose(_ error: any Error) {
    link?.socket.close()
    link = nil
    // The daemon has ended direct calls, and delivers queued ones again.
    waiting = []
    delivered = []
    let answers = answers
    self.answers = [:]
    for answer in answers.values { answer(.failure(ClientError.lost(reason: "\(error)"))) }
    wakeAll()
  }

  private func end(_ error: (any Error)?) {
    guard !isOver else { return }
    (isOver, failure) = (true, error)
    lose(ClientError.lost(reason: nil))
  }

  /// Waits until a condition holds, or the provider has ended.
  private func until(_ condition: () -> Bool) async {
    while !isOver, !condition() {
      await withCheckedContinuation { watchers.append($0) }
    }
  }

  private func wakeAll() {
    let all = watchers
    watchers = []
    for watcher in all { watcher.resume() }
  }

  /// Sends a request; the answer comes once, also if the connection is lost.
  ///
  /// - Returns: Why it cannot be sent at all; then there is no answer.
  @discardableResult
  private func request(
    _ method: String, _ params: JSONObject, _ onAnswer: @escaping (Answer) -> Void
  ) -> ClientError? {
    guard let link else {
      onAnswer(.failure(ClientError.lost(reason: nil)))
      return nil
    }
    lastID += 1
    do throws(ClientError) {
      let line = try link.line(lastID, method, params)
      answers[lastID] = onAnswer
      link.socket.write(line)
      return nil
    } catch {
      return error
    }
  }

  /// Returns a value, also if the connection is lost meanwhile; `nil` if there is none.
  private func value(of source: String) async throws -> JSONValue? {
    while true {
      await until { link != nil }
      guard !isOver else { throw ClientError.lost(reason: nil) }
      let answer = await withCheckedContinuation { continuation in
        let fault = request("get", ["source": .string(source)]) {
          continuation.resume(returning: $0)
        }
        if let fault { continuation.resume(returning: .failure(fault)) }
      }
      switch answer {
      case .success(let result): return result["value"]
      case .failure(ClientError.refused(let error)):
        guard error.name == .notFound else { throw ClientError.refused(error) }
        return nil
      case .failure(ClientError.lost): continue
      case .failure(let error): throw error
      }
    }
  }

  private func receive(_ frame: JSONObject, _ link: Link) {
    if let id = frame.integer("id") {
      let error = frame["error"].map { ClientError($0.text) }
      answers.removeValue(forKey: id)?(
        error.map { .failure($0) } ?? .success(frame.object("result")))
    } else if frame.string("method") == "call" {
      let params = frame.object("params")
      deliver(
        Delivered(
          id: params.string("call") ?? "", method: params.string("method") ?? "",
          params: params.object("params"), caller: params.object("caller"),
          socket: link.socket, epoch: link.epoch,
          end: .now + service.timeout))
    }
    wakeAll()
  }

  // MARK: Calls

  private func deliver(_ call: Delivered) {
    if call.isQueued {
      delivered.insert(call.key)
      if let known = replies[call.key] { return reply(call, known) }
      guard !running.contains(call.key) else { return }
    }
    waiting.append(call)
    start()
  }

  /// Begins as many of the calls that wait as may run.
  private func start() {
    while runningCount < service.jobs, !waiting.isEmpty {
      let call = waiting.removeFirst()
      // The daemon has given up a direct call.
      guard call.isQueued || .now < call.end else { continue }
      runningCount += 1
      if call.isQueued { running.insert(call.key) }
      Task {
        let reply = await outcome(of: call)
        finish(call, reply)
      }
    }
  }

  /// Runs the method and returns the reply.
  private nonisolated func outcome(of delivered: Delivered) async -> JSONObject {
    let name = String(delivered.method.dropFirst(service.name.utf8.count + 1))
    let call = ServiceCall(
      service.name, delivered.params,
      uid: delivered.caller.integer("uid").flatMap(UInt32.init(exactly:)) ?? .max,
      pid: delivered.caller.integer("pid").flatMap(Int32.init(exactly:)) ?? 0
    ) { try await self.value(of: $0) }
    do {
      guard let method = service.methods[name] else { throw Refusal("no method '\(name)'") }
      return call.reply(try await method.run(call))
    } catch {
      return ["error": .string(String("\(error)".prefix(Self.maxMessage)))]
    }
  }

  private func finish(_ call: Delivered, _ result: JSONObject) {
    var isOurs = link?.socket === call.socket
    if call.isQueued {
      // Otherwise it is sent when the daemon delivers the call again.
      replies[call.key] = result
      replyOrder.append(call.key)
      // Another program may have answered the call meanwhile; then nobody asks for the reply.
      if replyOrder.count > Self.maxReplies { replies[replyOrder.removeFirst()] = nil }
      isOurs = delivered.contains(call.key)
      running.remove(call.key)
    }
    if isOurs { reply(call, result) }
    runningCount -= 1
    start()
    wakeAll()
  }

  private func reply(_ call: Delivered, _ result: JSONObject) {
    func send(_ result: JSONObject) -> ClientError? {
      var params = result
      params["call"] = .string(call.id)
      return request("reply", params) { [self] in receipt($0, for: call) }
    }
    guard let error = send(result) else { return }
    // It is too long.
    complain("the reply to \(call.method) cannot be sent: \(error)")
    _ = send(["error": .string("the result cannot be sent: \(error)")])
  }

  private func receipt(_ answer: Answer, for call: Delivered) {
    switch answer {
    case .success: replies[call.key] = nil
    case .failure(ClientError.refused(let error)):
      replies[call.key] = nil
      // The caller may have gone away meanwhile.
      if error.name != .notFound {
        complain("the reply to \(call.method) was refused: \(error.message)")
      }
    case .failure: break
    }
  }

  private nonisolated func complain(_ text: String) {
    let line = Array("\(service.name): \(text)\n".utf8)
    _ = line.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}

extension AsyncBinderClient {
  /// Provides a service, and returns when others can call it.
  ///
  /// It has a connection of its own. It does not end with the client.
  ///
  /// - Throws: ``ClientError`` if the daemon refuses, for example because another program provides a
  ///   service of this name.
  public nonisolated func provide(_ service: Service) async throws -> Provider {
    let provider = Provider(target, service)
    try await provider.open()
    return provider
  }
}
