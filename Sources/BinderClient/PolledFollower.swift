internal import JSON
internal import Wire

/// Streams that survive a restart of the daemon, for programs with an event loop of their own.
///
/// Unlike ``Follower`` it never waits for the daemon.
package final class PolledFollower {
  /// A message of the daemon, or a change of the connection.
  package enum News {
    case update(Update)

    /// All subscriptions are made, for the first time or again; `after` is the least position of those
    /// that have one.
    case live(after: UInt64?)

    /// The connection was lost, with the daemon's reason.
    case lost(reason: String?)
  }

  private let link: PolledConnection
  private var states: [TopicState]

  /// The topics of unanswered subscriptions, by the identifier of the request.
  private var asked: [Int: Int] = [:]

  /// The unanswered acknowledgements that the program waits for.
  private var acknowledging: Set<Int> = []

  /// Whether all subscriptions were made once; until then a refusal ends the follower.
  private var wasLive = false

  /// The answers and notifications that have arrived.
  private var answers: [(id: Int, answer: Result<JSONText, ClientError>)] = []
  private var messages: [(method: String, params: Incoming.Params)] = []

  /// The size of the lines of ``messages`` in bytes.
  private var messageBytes = 0
  private var news: [News] = []

  /// The error to throw after ``news``.
  private var failure: ClientError?

  /// The most bytes of notifications kept while an answer is outstanding.
  private static let maxMessageBytes = 64 << 20

  /// Creates a follower; the first connection must succeed.
  ///
  /// - Parameters:
  ///   - reconnects: Whether to reconnect after a loss.
  ///   - notesSilence: Whether ``BinderClient/onNote`` is called for a daemon that is silent.
  package init(
    _ topics: [Topic], of client: BinderClient, reconnects: Bool, notesSilence: Bool = false
  ) throws(ClientError) {
    link = PolledConnection(client, reconnects: reconnects)
    link.notesSilence = notesSilence
    states = topics.enumerated().map { TopicState($1, index: $0) }
    link.onConnect = { [unowned self] in for i in states.indices { subscribe(i) } }
    link.onAnswer = { [unowned self] id, answer in answers.append((id, answer)) }
    link.onMessage = { [unowned self] method, params, bytes in
      messages.append((method, params))
      messageBytes += bytes
    }
    try link.start()
  }

  /// The descriptor to poll for input; `nil` while there is no daemon.
  package var descriptor: CInt? { link.descriptor }

  /// The time at which ``receive()`` must be called.
  package var deadline: Deadline {
    let isWaiting = isAsking || messages.isEmpty
    return failure == nil && isWaiting ? link.deadline : Deadline(inMilliseconds: 0)
  }

  /// The same in milliseconds from now, for `poll`; -1 for never.
  package var pollTime: CInt { deadline.pollTime }

  private func subscribe(_ i: Int) { asked[link.send("subscribe", states[i].parameters())] = i }

  // MARK: Acknowledging

  /// Acknowledges the events of a durable topic up to a position.
  ///
  /// If the connection is lost, the acknowledgement is repeated on the next one.
  package func acknowledge(_ topic: Int, upTo seq: UInt64) {
    states[topic].acknowledge(upTo: seq)
    guard link.isConnected else { return }
    acknowledging.insert(send(topic, upTo: seq))
  }

  /// Whether an event of a durable topic was sent to an earlier program, which may have processed it.
  func wasDelivered(_ topic: Int, _ seq: UInt64) -> Bool { seq <= states[topic].delivered }

  /// Whether an acknowledgement was not answered yet; notifications wait for it.
  package var isAcknowledging: Bool { !acknowledging.isEmpty }

  private func send(_ topic: Int, upTo seq: UInt64) -> Int {
    link.send("ack", ["sub": .string(states[topic].handle), "seq": .number(JSONNumber(seq))])
  }

  // MARK: Receiving

  /// Processes available messages, or reconnects when it is time to.
  ///
  /// - Throws: ``ClientError`` if a subscription is refused or has ended, or if the connection is lost
  ///   and not made again. Updates from before were returned.
  package func receive() throws(ClientError) -> [News] {
    if failure == nil {
      do throws(ClientError) {
        let end = try receiveMessages()
        try processMessages()
        if let end { lose(end) }
      } catch {
        failure = error
      }
    }
    defer { news = [] }
    if news.isEmpty, let failure { throw failure }
    return news
  }

  /// Receives messages; if the connection has ended for good, those from before are processed first.
  private func receiveMessages() throws(ClientError) -> ConnectionEnd? {
    do throws(ClientError) {
      return try link.receive()
    } catch {
      try processMessages(isLast: true)
      throw error
    }
  }

  /// Whether a subscription or an acknowledgement was not answered yet.
  private var isAsking: Bool { !asked.isEmpty || !acknowledging.isEmpty }

  /// - Parameter isLast: Whether the connection has ended, so that no answer comes any more.
  private func processMessages(isLast: Bool = false) throws(ClientError) {
    // What follows an answer is for the next call: an error of the stream is not one of the answer.
    let wasAcknowledging = isAcknowledging
    let answered = answers
    answers = []
    for (id, answer) in answered { try process(answer, to: id) }
    guard isLast || !isAsking && !wasAcknowledging else {
      if messageBytes > Self.maxMessageBytes {
        throw .notUnderstood("more than 64 MiB before an answer")
      }
      return
    }
    let received = messages
    (messages, messageBytes) = ([], 0)
    for (method, params) in received {
      guard let handle = params.sub,
        let i = states.firstIndex(where: { handle == .name($0.handle) })
      else { continue }
      let lost = try states[i].receive(method, params) { news.append(.update($0)) }
      // The daemon has lost the acknowledgement with the connection.
      if let lost { _ = send(i, upTo: lost) }
    }
  }

  private func process(
    _ answer: Result<JSONText, ClientError>, to id: Int
  ) throws(ClientError) {
    if acknowledging.remove(id) != nil {
      _ = try answer.get()
      return
    }
    guard let i = asked.removeValue(forKey: id) else { return }
    let text: JSONText
    do throws(ClientError) {
      text = try answer.get()
    } catch {
      if states[i].fallBack(for: error) { return subscribe(i) }
      guard wasLive else { throw error }
      if let end = try link.lose(error) { lose(end) }
      return
    }
    states[i].begin(try SubscribeAnswer(text)) { news.append(.update($0)) }
    guard asked.isEmpty else { return }
    wasLive = true
    news.append(.live(after: states.compactMap(\.position).min()))
  }

  private func lose(_ end: ConnectionEnd) {
    (asked, acknowledging, answers) = ([:], [], [])
    (messages, messageBytes) = ([], 0)
    let reason: String? = if case .lost(let reason) = end.error { reason } else { nil }
    news.append(.lost(reason: reason))
  }
}
