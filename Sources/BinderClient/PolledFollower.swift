internal import JSON
internal import Wire

/// Streams that survive a restart of the daemon, for programs with an event loop of their own.
///
/// Unlike ``Follower`` it never waits for the daemon.
package final class PolledFollower {
  /// A message of the daemon, or a change of the connection.
  package enum News {
    case update(Update)

    /// All subscriptions are made, for the first time or again.
    case live

    /// The connection was lost, with the daemon's reason.
    case lost(reason: String?)
  }

  private let client: BinderClient
  private let reconnects: Bool
  private var states: [TopicState]
  private var connection: BinderConnection?

  /// The topics of unanswered subscriptions, by the identifier of the request.
  private var asked: [Int: Int] = [:]
  private var wasLive = false
  private var backoff = Backoff()
  private var nextTry = Deadline.never
  private var answers: [(id: Int, answer: Result<JSONText, ClientError>)] = []

  /// Creates a follower; the first connection must succeed.
  ///
  /// - Parameter reconnects: Whether to reconnect after a loss.
  package init(
    _ topics: [Topic], of client: BinderClient, reconnects: Bool
  ) throws(ClientError) {
    (self.client, self.reconnects) = (client, reconnects)
    states = topics.enumerated().map { TopicState($1, index: $0) }
    try connect()
  }

  /// The descriptor to poll for input; `nil` while there is no daemon.
  package var descriptor: CInt? { connection?.descriptor }

  /// The time after which ``receive()`` must be called, in milliseconds; `nil` for no limit.
  package var milliseconds: CInt? { connection == nil ? nextTry.pollTime : nil }

  private func connect() throws(ClientError) {
    let connection = try client.connectWithoutWaiting()
    connection.keepsNotifications = true
    connection.onAnswer = { [unowned self] id, answer in answers.append((id, answer)) }
    (asked, answers) = ([:], [])
    for i in states.indices { asked[try connection.send("subscribe", states[i].parameters)] = i }
    self.connection = connection
  }

  /// Reads available messages, or reconnects when it is time to.
  ///
  /// - Throws: ``ClientError`` if a subscription is refused, or if the connection is lost and not
  ///   reconnected.
  package func receive() throws(ClientError) -> [News] {
    guard let connection else {
      if nextTry.isOver { try reconnect() }
      return []
    }
    var news: [News] = []
    do throws(ClientError) {
      let failure = Self.failure { () throws(ClientError) in try connection.receiveArrived() }
      try takeAnswers(connection, &news)
      for (method, params) in connection.takeNotifications() {
        guard let handle = params.sub,
          let i = states.firstIndex(where: { handle == .name($0.handle) })
        else { continue }
        try states[i].take(method, params) { news.append(.update($0)) }
      }
      if let failure { throw failure }
    } catch {
      try lose(error, &news)
    }
    return news
  }

  private func takeAnswers(
    _ connection: BinderConnection, _ news: inout [News]
  ) throws(ClientError) {
    defer { answers = [] }
    for (id, answer) in answers {
      guard let i = asked.removeValue(forKey: id) else { continue }
      let subscribed = try connection.decode(answer.get(), as: SubscribeAnswer.self)
      states[i].take(subscribed) { news.append(.update($0)) }
      guard asked.isEmpty else { continue }
      wasLive = true
      backoff.reset()
      news.append(.live)
    }
  }

  private static func failure(_ body: () throws(ClientError) -> Void) -> ClientError? {
    do throws(ClientError) {
      try body()
      return nil
    } catch {
      return error
    }
  }

  private func reconnect() throws(ClientError) {
    do throws(ClientError) {
      try connect()
    } catch {
      guard error.isPassing else { throw error }
      nextTry = Deadline(inMilliseconds: backoff.next(requested: nil))
    }
  }

  /// Closes the connection and schedules a reconnection; throws if the error is permanent.
  private func lose(_ error: ClientError, _ news: inout [News]) throws(ClientError) {
    guard reconnects, wasLive, error.isPassing else { throw error }
    let requested = connection?.reconnectMilliseconds
    connection = nil
    nextTry = Deadline(inMilliseconds: backoff.next(requested: requested))
    let reason: String? = if case .lost(let reason) = error { reason } else { nil }
    news.append(.lost(reason: reason))
  }
}
