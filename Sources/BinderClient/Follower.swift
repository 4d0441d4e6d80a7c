internal import JSON
internal import Wire

/// Streams that survive a restart of the daemon.
///
/// Journaled sources resume without gaps or duplicates; other sources restart from the current
/// value. Create a follower with ``BinderClient/follow(_:reconnects:until:)``.
public final class Follower {
  private let client: BinderClient
  private let reconnects: Bool
  private var states: [TopicState]
  private var connection: BinderConnection?
  private var ready: [Update] = []
  private var nextReady = 0
  private var backoff = Backoff()

  /// The reconnection delay that the daemon requested, in milliseconds; `nil` for the usual
  /// backoff.
  private var pause: UInt64?

  init(
    _ topics: [Topic], of client: BinderClient, reconnects: Bool, until deadline: Deadline
  ) throws(ClientError) {
    self.client = client
    self.reconnects = reconnects
    states = topics.enumerated().map { TopicState($1, index: $0) }
    try connect(until: deadline)
  }

  /// Waits for the next update.
  ///
  /// - Throws: ``ClientError/timedOut``, after which you can call this again;
  ///   ``ClientError/lost(reason:)`` if the follower does not reconnect;
  ///   ``ClientError/refused(_:)`` if the journal was replaced or no longer holds the requested
  ///   events.
  public func next(until deadline: Deadline = .never) throws(ClientError) -> Update {
    let deadline = Deadline.earlier(deadline, client.limits.deadline)
    while true {
      if nextReady < ready.count {
        nextReady += 1
        return ready[nextReady - 1]
      }
      ready.removeAll(keepingCapacity: true)
      nextReady = 0
      if connection == nil { try reconnect(until: deadline) }
      do throws(ClientError) {
        try receive(until: deadline)
      } catch {
        try lose(error)
      }
    }
  }

  private func receive(until deadline: Deadline) throws(ClientError) {
    guard let connection else { return }
    let (method, params) = try connection.notification(until: deadline)
    guard let handle = params.sub, let i = states.firstIndex(where: { handle == .name($0.handle) })
    else { return }
    try states[i].take(method, params) { ready.append($0) }
    // The event was acknowledged already, but the daemon lost the acknowledgement with the
    // connection.
    if method == "next", let seq = params.seq, seq <= states[i].acknowledged {
      try acknowledge(i, upTo: seq, until: deadline)
    }
  }

  // MARK: Acknowledging

  /// Whether ``next(until:)`` can return without waiting for the daemon.
  public var hasMore: Bool { nextReady < ready.count || connection?.hasNext ?? false }

  /// Acknowledges all events of a durable topic up to a position, and waits until the daemon has
  /// stored it.
  ///
  /// If the connection is lost, the follower repeats the acknowledgement after reconnecting.
  ///
  /// - Parameters:
  ///   - topic: The index of the topic.
  ///   - seq: The position of a received event.
  public func acknowledge(
    _ topic: Int, upTo seq: UInt64, until deadline: Deadline = .never
  ) throws(ClientError) {
    states[topic].acknowledged = max(states[topic].acknowledged, seq)
    guard let connection else { return }
    do throws(ClientError) {
      _ = try connection.call(
        "ack", ["sub": .string(states[topic].handle), "seq": .number(JSONNumber(seq))],
        until: deadline)
    } catch {
      try lose(error)
    }
  }

  // MARK: Connecting

  private func connect(until deadline: Deadline) throws(ClientError) {
    let connection = try client.connect(until: deadline)
    connection.keepsNotifications = true
    for i in states.indices {
      let answer = try subscribe(i, on: connection, until: deadline)
      states[i].take(answer) { ready.append($0) }
    }
    self.connection = connection
    backoff.reset()
  }

  private func subscribe(
    _ i: Int, on connection: BinderConnection, until deadline: Deadline
  ) throws(ClientError) -> SubscribeAnswer {
    do throws(ClientError) {
      return try connection.call(
        "subscribe", states[i].parameters, as: SubscribeAnswer.self, until: deadline)
    } catch {
      guard states[i].settle(for: error) else { throw error }
      return try connection.call(
        "subscribe", states[i].parameters, as: SubscribeAnswer.self, until: deadline)
    }
  }

  /// Records that the connection is lost.
  ///
  /// Throws errors that are not worth a retry.
  private func lose(_ error: ClientError) throws(ClientError) {
    guard reconnects, error.isPassing, case .lost(let reason) = error else { throw error }
    pause = connection?.reconnectMilliseconds
    connection = nil
    client.onNote?(.lost(reason: reason))
  }

  private func reconnect(until deadline: Deadline) throws(ClientError) {
    while connection == nil {
      let milliseconds = backoff.next(requested: pause)
      pause = nil
      let end = Deadline.earlier(deadline, Deadline(inMilliseconds: milliseconds))
      switch waitFor(nil, until: end, output: client.output) {
      case .ready, .timedOut: break
      case .readerGone: throw .readerGone
      case .failed: throw .lost(reason: nil)
      }
      if deadline.isOver { throw .timedOut }
      do throws(ClientError) {
        try connect(until: deadline)
      } catch {
        guard error.isPassing else { throw error }
      }
    }
    client.onNote?(.resumed(after: states.compactMap(\.position).min()))
  }
}

extension ClientError {
  /// Whether a retry may succeed.
  ///
  /// A missing permission is permanent, and so is a connection that another client has ended.
  package var isPassing: Bool {
    switch self {
    case .noDaemon: true
    case .lost(let reason): reason != "permission_denied" && reason != "kicked"
    case .refused(let error): error.name == .shuttingDown || error.name == .overloaded
    default: false
    }
  }
}
