internal import JSON
internal import Wire

/// Streams that go on when the daemon was restarted: what is journaled without gap or repeat, what
/// is not with what has become of it meanwhile.
public final class Follower {
  private let client: BinderClient
  private let reconnects: Bool
  private var states: [TopicState]
  private var connection: BinderConnection?
  private var ready: [Update] = []
  private var nextReady = 0
  private var backoff = Backoff()

  /// How long the daemon has asked to be left alone.
  private var pause: UInt64?

  init(
    _ topics: [Topic], of client: BinderClient, reconnects: Bool, until deadline: Deadline
  ) throws(ClientError) {
    self.client = client
    self.reconnects = reconnects
    states = topics.enumerated().map { TopicState($1, index: $0) }
    try connect(until: deadline)
  }

  /// Waits for what comes next.
  ///
  /// - Throws: ``ClientError/timedOut``, after which it may be called again;
  ///   ``ClientError/lost(reason:)`` only when it does not reconnect; when the journal was replaced
  ///   or the wanted part of it dropped, ``ClientError/refused(_:)``.
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
    // It was lost with the connection that it was acknowledged.
    if method == "next", let seq = params.seq, seq <= states[i].acknowledged {
      try acknowledge(i, upTo: seq, until: deadline)
    }
  }

  // MARK: Acknowledging

  /// Whether ``next(until:)`` has a value or an event without waiting for the daemon.
  public var hasMore: Bool { nextReady < ready.count || connection?.hasNext ?? false }

  /// Says that all events of a durable topic up to a position are done with, and waits until the
  /// daemon keeps that.
  ///
  /// When the connection is lost meanwhile it is said again as soon as there is another one.
  ///
  /// - Parameters:
  ///   - topic: Its place among the topics.
  ///   - seq: The position of an event that was told.
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

  /// Notes that the connection is lost; throws what is no reason to try again.
  private func lose(_ error: ClientError) throws(ClientError) {
    guard reconnects, error.isPassing, case .lost(let reason) = error else { throw error }
    pause = connection?.reconnectMilliseconds
    connection = nil
    client.onNote?(.lost(reason: reason))
  }

  private func reconnect(until deadline: Deadline) throws(ClientError) {
    while connection == nil {
      let milliseconds = pause ?? backoff.next(chance: Double.random(in: 0..<1))
      pause = nil
      let end = Deadline.earlier(deadline, Deadline(inMilliseconds: milliseconds))
      if waitFor(nil, until: end, output: client.output) == .readerGone { throw .readerGone }
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
  /// Whether it may be over with the next try to connect: who is not let in will not be then either.
  package var isPassing: Bool {
    switch self {
    case .noDaemon: true
    case .lost(let reason): reason != "permission_denied"
    case .refused(let error): error.name == .shuttingDown || error.name == .overloaded
    default: false
    }
  }
}
