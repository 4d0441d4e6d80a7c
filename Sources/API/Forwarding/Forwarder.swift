internal import Connections
internal import EventSourcing
internal import JSON
internal import Model
internal import Signals
internal import Wire

/// Passes the commands of this daemon's clients on to the active daemon, while this one follows.
///
/// A client reads its own writes: its answer waits until this daemon has applied the command's
/// events, and its reads wait for the answer. Commands of a client run in order.
///
/// When the active daemon changes, or messages may have been lost, commands with a `cmd` are sent
/// again; they run once. The others are refused, because their outcome is unknown. Disconnects a
/// client that holds leases, views or bindings at the lost daemon. They end there; the client must
/// create them again.
final class Forwarder: RequestForwarder {
  /// The address of the active daemon; `nil` while it is not known, or out of reach.
  private(set) var active: String?

  /// Whether another daemon takes commands.
  var isFollowing = true

  /// The time for which no daemon may take commands before they are refused, in milliseconds.
  private let patienceMilliseconds: UInt64

  /// Whether this daemon cannot reach the database.
  private var isAway = false

  /// The time since which no daemon takes commands, in milliseconds; `nil` if it is not known.
  private var awaySince: UInt64?

  /// The number of commands that were passed on.
  private(set) var count: UInt64 = 0

  /// The clients with requests or with something at the active daemon, by connection number.
  private var clients: [UInt64: Client] = [:]

  /// The requests without an answer, by their numbers, which grow.
  private var requests: [UInt64: ForwardedRequest] = [:]
  private var lastID: UInt64 = 0

  /// Actions for the time when this daemon has applied a position.
  private var waiting: [(position: UInt64, action: () -> Void)] = []
  private let send: (_ frame: ForwardedFrame, _ address: String) -> Void
  private let scheduler: any Scheduler
  private let now: () -> UInt64

  /// A client as the active daemon knows it.
  private final class Client {
    let connection: Connection

    /// Whether something at the active daemon ends with the connection.
    var hasSession = false

    /// Whether the present active daemon has answered it.
    var isKnown = false

    /// The numbers of its requests without an answer, in order.
    var requests: [UInt64] = []

    /// The bytes sent to the client and not yet reported to the active daemon.
    var untold = 0

    /// Whether the active daemon knows that the client has closed its sending side.
    var hasToldEnd = false

    /// Whether the active daemon has answered that it has nothing left to send to the client.
    var isDone = false

    init(_ connection: Connection) { self.connection = connection }
  }

  /// - Parameters:
  ///   - now: Returns the milliseconds of a monotonic clock.
  ///   - send: Sends a message to a daemon.
  init(
    on scheduler: any Scheduler, now: @escaping () -> UInt64, patienceMilliseconds: UInt64,
    send: @escaping (_ frame: ForwardedFrame, _ address: String) -> Void
  ) {
    (self.scheduler, self.now, self.send) = (scheduler, now, send)
    self.patienceMilliseconds = patienceMilliseconds
  }

  /// Also when this daemon does not follow any more, until earlier commands have their answers.
  func takes(_ connection: Connection) -> Bool {
    isFollowing || connection.forwardedRequests > 0
  }

  // MARK: Requests

  func forward(
    _ call: Call, _ method: Method, _ request: Request, _ line: Span<UInt8>,
    _ context: CallContext
  ) -> Connection.Parking? {
    let connection = context.connection
    let isWaitedFor = method.kind == .command || method.kind == .query
    let size = request.params?.count ?? 0
    guard !isWaitedFor || connection.hasRoom(toForward: size) else { return .durability }
    let options: CallOptions?
    var call = call
    do throws(WireError) {
      options = try context.options(of: request, line)
      call = try options?.applied(to: call) ?? call
    } catch {
      call.refuse(error)
      return nil
    }
    method.calls &+= 1
    guard let call = call.later(isLimited: !isWaitedFor) else { return nil }
    lastID += 1
    count &+= 1
    let id = lastID
    var frame = ForwardedFrame(of: connection.id)
    frame.peer = ForwardedPeer(connection.peer)
    frame.method = method.name
    frame.params = request.params.map { JSONText(scanned: line.extracting($0)) }
    frame.id = id
    let forwarded = ForwardedRequest(
      call, frame, isRepeatable: options?.cmd != nil, isCancellable: !isWaitedFor)
    if case .both(let run) = method.site {
      forwarded.runHere = { [params = frame.params] in run(context, params) }
    }
    requests[id] = forwarded
    call.keep(BlockDisposable { [weak self] in self?.forget(id) })
    connection.beginForwarded(size, isWaitedFor: isWaitedFor)
    call.keep(BlockDisposable { connection.endForwarded(size, isWaitedFor: isWaitedFor) })
    forwarded.leavesSomething =
      method.site.leavesSomething || options?.lease?.isOfConnection == true
    client(connection).requests.append(id)
    if active == nil { waitForActive(forwarded) }
    post(forwarded)
    return nil
  }

  private func client(_ connection: Connection) -> Client {
    if let client = clients[connection.id] { return client }
    let client = Client(connection)
    clients[connection.id] = client
    connection.attach(
      .forwardedRequests, BlockDisposable { [weak self, id = connection.id] in self?.end(id) })
    connection.mayEnd = { [weak self, unowned client] in self?.mayEnd(client) ?? true }
    return client
  }

  /// Returns whether a client that has closed its sending side has nothing left at the active daemon.
  private func mayEnd(_ client: Client) -> Bool {
    guard client.hasSession, !client.isDone else { return true }
    // After a loss, a client with a session ends anyway.
    guard !client.hasToldEnd, let active else { return false }
    client.hasToldEnd = true
    var frame = ForwardedFrame(of: client.connection.id)
    frame.isAtEnd = true
    send(frame, active)
    return false
  }

  private func end(_ id: UInt64) {
    guard clients.removeValue(forKey: id) != nil, let active else { return }
    var frame = ForwardedFrame(of: id)
    frame.hasEnded = true
    send(frame, active)
  }

  /// Forgets a request that was answered, or that nobody waits for any more.
  private func forget(_ id: UInt64) {
    guard let request = requests.removeValue(forKey: id) else { return }
    let client = request.frame.client.flatMap { clients[$0] }
    if let client, let i = client.requests.firstIndex(of: id) { client.requests.remove(at: i) }
    defer { if let client { refuseLost(of: client) } }
    guard request.isCancellable, request.isSent, !request.isAnswered, let active else { return }
    var frame = ForwardedFrame(of: request.frame.client)
    frame.cancelled = id
    send(frame, active)
  }

  private func post(_ request: ForwardedRequest) {
    guard let active else { return }
    request.isSent = true
    if !request.isCancellable { request.call.markBegun() }
    var frame = request.frame
    if let client = frame.client.flatMap({ clients[$0] }) {
      if !client.isKnown { frame.isNew = true }
      frame.after = client.requests.last { $0 < frame.id ?? 0 && requests[$0]?.isLost != true }
      if request.leavesSomething { client.hasSession = true }
    }
    send(frame, active)
  }

  /// Lets a request wait for an active daemon, but not if none has been there for long.
  private func waitForActive(_ request: ForwardedRequest) {
    let since = awaySince ?? now()
    awaySince = since
    let waited = now() - since
    guard waited < patienceMilliseconds else { return refuse(request) }
    request.call.keep(
      scheduler.schedule(after: Double(patienceMilliseconds - waited) / 1000) {
        [weak self, weak request] in
        guard let self, let request, awaySince == since else { return }
        refuse(request)
      })
  }

  private func refuse(_ request: ForwardedRequest) {
    request.call.refuse(
      request.isSent ? .interrupted : isAway ? .databaseIsAway : .following(nil, nil))
  }

  // MARK: Answers

  /// Takes a message of the active daemon.
  func receive(_ frame: ForwardedFrame, from address: String, appliedUpTo position: UInt64) {
    guard address == active else { return }
    guard let id = frame.client else {
      if frame.hasMissed == true { messagesWereLost() }
      return
    }
    guard let client = clients[id] else { return }
    if frame.hasMissed == true { return sendAgain(client.requests) }
    if frame.isDropped == true { return client.connection.close(.restart) }
    if frame.isDone == true {
      client.isDone = true
      return client.connection.endIfDone()
    }
    let at = frame.at ?? 0
    defer { reportRead(frame.size ?? 0, takenBy: client) }
    if let line = frame.line { return client.connection.relay(line, after: at) }
    client.isKnown = true
    guard let number = frame.id, let request = requests[number] else { return }
    request.isAnswered = true
    client.connection.recordWrite(upTo: at)
    if let error = frame.error {
      request.call.answer(after: at, isResult: false, error)
    } else if let runHere = request.runHere {
      when(applied: at, now: position) { [weak self] in
        self?.finish(request, frame.result, at, runHere)
      }
    } else {
      request.call.answer(after: at, isResult: true, frame.result ?? JSONText(members: [:]))
    }
  }

  /// Reports the bytes that a client has read: the active daemon sends no more to a slow one.
  private func reportRead(_ size: Int, takenBy client: Client) {
    // Others may send messages through the database, so the number may be wrong.
    client.untold += min(max(0, size), 1 << 30) + 1
    guard client.untold >= ForwardedFrame.takenBytes else { return }
    let taken = client.untold
    client.untold = 0
    client.connection.whenTaken { [weak self] in
      guard let self, let active else { return }
      var frame = ForwardedFrame(of: client.connection.id)
      frame.taken = taken
      send(frame, active)
    }
  }

  /// Answers once the method has run here too.
  private func finish(
    _ request: ForwardedRequest, _ result: JSONText?, _ at: UInt64,
    _ runHere: @escaping () -> Method.LocalEffect
  ) {
    guard !request.call.isOver else { return }
    switch runHere() {
    case .done: request.call.answer(after: at, isResult: true, result ?? JSONText(members: [:]))
    case .failed: request.call.connection.close(.restart)
    case .pending:
      // It waits for work on another thread.
      request.call.keep(
        scheduler.schedule(after: 0.01) { [weak self] in self?.finish(request, result, at, runHere)
        })
    }
  }

  private func when(applied position: UInt64, now: UInt64, _ action: @escaping () -> Void) {
    guard position > now else { return action() }
    waiting.append((position, action))
  }

  /// Notes that this daemon has applied all events up to a position.
  func advance(to position: UInt64) {
    guard !waiting.isEmpty else { return }
    let due = waiting.filter { $0.position <= position }
    waiting.removeAll { $0.position <= position }
    for wait in due { wait.action() }
  }

  // MARK: Changes

  /// Changes the address of the active daemon.
  ///
  /// - Parameters:
  ///   - address: `nil` while it is not known, or out of reach.
  ///   - isAway: Whether this daemon cannot reach the database.
  func change(to address: String?, isAway: Bool) {
    self.isAway = isAway
    guard address != active else { return }
    active = address
    awaySince = address == nil ? now() : nil
    guard let address else {
      for id in requests.keys.sorted() { if let request = requests[id] { waitForActive(request) } }
      return
    }
    if lastKnown != address {
      lastKnown = address
      for client in clients.values { client.isKnown = false }
    }
    begin()
  }

  /// The active daemon that the clients' sessions belong to.
  private var lastKnown: String?

  /// Begins again with the active daemon, because messages may have been lost.
  func messagesWereLost() {
    if active != nil { begin() }
  }

  /// Begins again with the active daemon: notifications to clients with sessions may be lost, and the
  /// active daemon may not have heard that clients are gone.
  private func begin() {
    if !isFollowing {
      // This daemon keeps what its own clients leave with their own connections.
      for request in requests.values where request.leavesSomething {
        request.call.connection.close(.restart)
      }
    }
    for (_, client) in clients.sorted(by: { $0.key < $1.key }) where client.hasSession {
      client.connection.close(.restart)
    }
    guard let active else { return }
    var frame = ForwardedFrame(of: nil)
    frame.living = clients.keys.sorted()
    send(frame, active)
    sendAgain(requests.keys.sorted())
  }

  /// Sends requests without an answer again, in order, and refuses those that may run twice.
  ///
  /// A refusal waits for the answers to the client's earlier commands.
  private func sendAgain(_ ids: [UInt64]) {
    for id in ids {
      guard let request = requests[id] else { continue }
      if request.isSent, !request.isRepeatable { request.isLost = true } else { post(request) }
    }
    for id in ids {
      if let client = requests[id]?.frame.client.flatMap({ clients[$0] }) { refuseLost(of: client) }
    }
  }

  /// Refuses the lost requests of a client before which no command waits for its answer.
  private func refuseLost(of client: Client) {
    var i = 0
    while i < client.requests.count, let request = requests[client.requests[i]] {
      if request.isLost {
        // The refusal removes it, and perhaps others.
        request.call.refuse(.interrupted, isForwarded: true)
        i = 0
      } else if request.isCancellable {
        i += 1
      } else {
        return
      }
    }
  }
}

/// A request that another daemon runs.
private final class ForwardedRequest {
  let call: Call
  let frame: ForwardedFrame

  /// Whether it runs once, however often it is sent.
  let isRepeatable: Bool

  /// Whether it was sent to the present active daemon, or to one before it.
  var isSent = false

  /// Has the effect here too, after the method has succeeded.
  var runHere: (() -> Method.LocalEffect)?

  /// Whether the client may cancel it, although it was sent.
  let isCancellable: Bool
  var isAnswered = false

  /// Whether it leaves something at the active daemon that ends with the connection.
  var leavesSomething = false

  /// Whether it may have been lost; it is then refused once earlier commands have their answers.
  var isLost = false

  init(_ call: Call, _ frame: ForwardedFrame, isRepeatable: Bool, isCancellable: Bool) {
    (self.call, self.frame, self.isRepeatable) = (call, frame, isRepeatable)
    self.isCancellable = isCancellable
  }
}

extension CallContext {
  /// Returns the options of a request; `nil` if it has none, or if the active daemon will refuse it.
  fileprivate func options(
    of request: Request, _ line: Span<UInt8>
  ) throws(WireError) -> CallOptions? {
    guard request.params != nil, !request.isPositional else { return nil }
    let listed = request.parameters
    if listed.isComplete {
      guard let place = listed.options else { return nil }
      if let options = CallOptions(reading: line, place) { return options }
    }
    let (_, options): (NoParameters, _) = try decode(request, line, [], .ignored)
    return options
  }
}

extension LeaseOption {
  fileprivate var isOfConnection: Bool { if case .connection = self { true } else { false } }
}

extension WireError {
  /// The error for a command that was not passed on, because the database is away.
  fileprivate static var databaseIsAway: WireError {
    .readOnly("\(JournalError.databaseAway)", reason: "database", .none)
  }

  /// The error for a command whose outcome is unknown.
  fileprivate static var interrupted: WireError {
    .readOnly(
      "another daemon has become the active one, or the database was away, before the answer came; "
        + "the command may have run. With a cmd it would have been sent again",
      reason: "interrupted", .unknown)
  }
}
