import BinderClient
import Console
import Glibc
import JSON
import Wire

/// A lease of a connection that this process keeps, also over restarts of the daemon.
///
/// While the daemon is away, nothing ends with the lease. When it is back, it keeps the lease for a few
/// seconds, in which this process resumes it.
final class HeldLease {
  private let client: BinderClient
  private let link: PolledConnection

  private var wasLost = false

  /// The actions for the answers to requests, by id.
  private var actions: [Int: (Result<JSONText, ClientError>) throws -> Void] = [:]
  private var arrived: [(id: Int, answer: Result<JSONText, ClientError>)] = []
  private var notifications: [(method: String, params: JSONObject)] = []

  /// The name; `nil` until the daemon has granted the lease.
  private(set) var name: String?

  /// Whether the daemon has ended it.
  private(set) var isLost = false

  /// Called when the lease was granted, and when it was resumed on a new connection.
  var onKept: () throws -> Void = {}
  var onNotification: (_ method: String, _ params: JSONObject) throws -> Void = { _, _ in }

  /// The longest pause before the next attempt to connect, in milliseconds.
  ///
  /// After a restart the daemon keeps the lease for `lease_grace_ms`, 5 s; longer pauses would miss it.
  private static let longestPause: UInt64 = 2_000

  /// The longest wait for the answer to a release, in milliseconds, and for a daemon that is away.
  private static let (patience, patienceWhileAway): (UInt64, UInt64) = (30_000, 3_000)

  init(_ client: BinderClient) {
    self.client = client
    link = PolledConnection(client, longestPause: Self.longestPause)
    link.notesSilence = true
    link.onConnect = { [unowned self] in connected() }
    link.onAnswer = { [unowned self] id, answer in arrived.append((id, answer)) }
    link.onNotification = { [unowned self] method, params in
      notifications.append((method, params.object))
    }
  }

  /// Asks for a new lease.
  func start() throws { try link.start() }

  var isConnected: Bool { link.isConnected }

  /// The descriptor to poll for input; `nil` while there is no daemon.
  var descriptor: CInt? { link.descriptor }

  /// The time at which ``receive()`` must be called.
  var deadline: Deadline { link.deadline }

  private func connected() {
    actions = [:]
    guard let name else {
      return send("lease.grant", [:]) { [unowned self] answer in try granted(answer) }
    }
    send("lease.resume", ["lease": .string(name)]) { [unowned self] answer in
      try resumed(answer)
    }
  }

  private func granted(_ answer: Result<JSONText, ClientError>) throws {
    if case .failure(let error) = answer, error.isOfConnection { return try lose(error) }
    guard case .string(let name)? = try answer.get().object["value"] else {
      throw Failure("the answer to lease.grant has no name", .bug)
    }
    self.name = name
    try onKept()
  }

  private func resumed(_ answer: Result<JSONText, ClientError>) throws {
    switch answer {
    case .success:
      if wasLost { client.onNote?(.resumed(after: nil)) }
      wasLost = false
      try onKept()
    case .failure(.refused(let error)) where !ConnectionEnd(.refused(error)).isPassing:
      // The daemon has not noticed yet that the former connection has ended.
      if error.data["reason"] == .string("in_use") {
        try lose(.lost(reason: nil))
      } else {
        isLost = true
      }
    case .failure(let error): try lose(error)
    }
  }

  /// Gives up a lease that has ended, and asks for a new one.
  func beginAgain() {
    (name, isLost) = (nil, false)
    connected()
  }

  /// Gives up the connection after a refusal that passes.
  func lose(_ error: ClientError) throws {
    if let end = try link.lose(error) { lost(end) }
  }

  private func lost(_ end: ConnectionEnd) {
    actions = [:]
    wasLost = true
    let reason: String? = if case .lost(let reason) = end.error { reason } else { nil }
    client.onNote?(.lost(reason: reason))
  }

  /// Sends a request; nothing happens while the daemon is away.
  func send(
    _ method: String, _ params: JSONObject,
    _ onAnswer: @escaping (Result<JSONText, ClientError>) throws -> Void = { _ in }
  ) {
    guard link.isConnected else { return }
    actions[link.send(method, params)] = onAnswer
  }

  /// Processes what has arrived, or connects again when it is time to; never waits.
  func receive() throws {
    let end = try link.receive()
    while !arrived.isEmpty || !notifications.isEmpty {
      let (answers, notified) = (arrived, notifications)
      (arrived, notifications) = ([], [])
      for (id, answer) in answers { try actions.removeValue(forKey: id)?(answer) }
      for (method, params) in notified { try onNotification(method, params) }
    }
    if let end { lost(end) }
  }

  /// Waits until a descriptor is readable, or until ``receive()`` has something to do.
  func wait(orFor other: CInt?, until deadline: Deadline = .never) {
    // Negative descriptors are ignored by poll.
    var ends = [other, descriptor].map {
      pollfd(fd: $0 ?? -1, events: Int16(POLLIN), revents: 0)
    }
    poll(&ends, nfds_t(ends.count), Deadline.earlier(deadline, link.deadline).pollTime)
  }

  /// Ends the lease, and waits until the daemon has recorded that.
  func release() {
    guard let name, !isLost else { return }
    var isDone = false
    func ask() {
      send("lease.release", ["lease": .string(name)]) { answer in
        // Any other refusal says that the lease has ended already.
        if case .failure(.refused(let error)) = answer,
          ConnectionEnd(.refused(error)).isPassing
        {
          return
        }
        isDone = true
      }
    }
    onNotification = { _, _ in }
    onKept = { ask() }
    ask()
    let end = Deadline(inMilliseconds: Self.patience)
    let endWhileAway = Deadline(inMilliseconds: Self.patienceWhileAway)
    while !isDone, !isLost, !end.isOver, isConnected || !endWhileAway.isOver {
      wait(orFor: nil, until: isConnected ? end : endWhileAway)
      do { try receive() } catch { return }
    }
  }
}

/// Calls a method whose effects end with a lease, and holds the lease until a signal ends the process.
///
/// - Parameter onResult: Receives the result of the method.
func runWhileConnected(
  _ method: String, _ params: JSONObject, _ context: Context,
  onResult: @escaping (JSONObject) throws -> Void
) throws -> Never {
  // First, because whoever waits for the end of this process finds the values removed.
  let signals = SignalWait([SIGINT, SIGTERM, SIGHUP])
  let descriptor = try signals.descriptor()
  let lease = HeldLease(context.client)
  var isDone = false
  // If the connection is lost before the answer, the call is repeated, and takes effect once.
  let id = newCommandID()
  lease.onKept = { [unowned lease] in
    guard !isDone, let name = lease.name else { return }
    var params = params
    var meta: JSONObject = if case .object(let meta)? = params["_meta"] { meta } else { [:] }
    (meta["lease"], meta["cmd"]) = (.string(name), .string(id))
    params["_meta"] = .object(meta)
    lease.send(method, params) { [unowned lease] answer in
      switch answer {
      case .success(let result):
        isDone = true
        try onResult(result.object)
      case .failure(let error):
        guard error.isOfConnection else { throw error }
        try lease.lose(error)
      }
    }
  }
  try lease.start()
  while true {
    lease.wait(orFor: descriptor)
    try lease.receive()
    if lease.isLost { throw Failure("lease '\(lease.name ?? "")' has ended", .lost) }
    if let number = signals.next(withinMilliseconds: 0) {
      lease.release()
      signals.end()
      signal(number, SIG_DFL)
      raise(number)
    }
  }
}
