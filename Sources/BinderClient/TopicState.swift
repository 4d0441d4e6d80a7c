internal import JSON
internal import Wire

/// A topic of a stream: how it subscribes, and the updates that messages bring.
struct TopicState {
  let topic: Topic
  let index: Int

  /// Whether the topic reads every change, so that it resumes after a position.
  private var isLog: Bool
  private var progress: SubscriptionState
  private var known: KnownValues

  /// The last position that a durable reader was sent before this program has begun; 0 if none is known.
  private(set) var delivered: UInt64 = 0
  private var hasBegun = false
  private var hasCaughtUp = false

  /// Whether the parts of the first value are still to come.
  private var isIncomplete = false

  init(_ topic: Topic, index: Int) {
    self.init(topic, index: index, isLog: topic.source == "events" || topic.mode != .newest)
  }

  private init(_ topic: Topic, index: Int, isLog: Bool) {
    (self.topic, self.index, self.isLog) = (topic, index, isLog)
    progress = SubscriptionState(
      source: topic.source, isEvery: isLog && topic.source != "events",
      isDurable: topic.durable != nil)
    known = KnownValues(isEvery: isLog, beginsInPast: topic.from != nil)
  }

  /// The handle of the subscription.
  var handle: String { "t\(index)" }

  /// The last position that was passed on; `nil` before the first answer, and for newest values.
  var position: UInt64? { isLog ? progress.cursor?.seq : nil }

  /// Returns the parameters of the first or a resumed subscription.
  mutating func parameters() -> JSONObject {
    var params: JSONObject = ["source": .string(topic.source), "sub": .string(handle)]
    if isLog, topic.source != "events" { params["mode"] = .string("every") }
    params["from"] = topic.from
    if let durable = topic.durable {
      params["durable"] = .string(durable.name)
      params["max_unacked"] = durable.maxUnacknowledged.map { .number(JSONNumber($0)) }
      if durable.steals { params["steal"] = .bool(true) }
    }
    if let cursor = progress.resume() {
      params["from"] = .object(["after": .number(JSONNumber(cursor.seq))])
      params["epoch"] = .string(cursor.epoch)
    }
    if topic.passesGaps { params["on_gap"] = .string("continue") }
    if topic.withOrigin { params["who"] = .bool(true) }
    params["filter"] = topic.filter.map { .object($0) }
    params["pick"] = topic.pick.map { .string($0) }
    if topic.intervalMilliseconds > 0 {
      params["min_interval_ms"] = .number(JSONNumber(topic.intervalMilliseconds))
    }
    return params
  }

  /// Falls back to newest values if the daemon says that the source is not journaled.
  ///
  /// - Returns: Whether to subscribe again.
  mutating func fallBack(for error: ClientError) -> Bool {
    guard isLog, topic.mode == .everyIfJournaled, topic.from == nil, !hasBegun,
      error.isOfSourceWithoutPast
    else { return false }
    self = TopicState(topic, index: index, isLog: false)
    return true
  }

  mutating func acknowledge(upTo seq: UInt64) { progress.acknowledge(upTo: seq) }

  // MARK: Incoming messages

  /// Processes the answer to the subscription.
  mutating func begin(_ answer: SubscribeAnswer, _ tell: (Update) -> Void) {
    let isFirst = !hasBegun
    hasBegun = true
    // Later ones are those of this program, which gives no event twice.
    if isFirst { delivered = answer.delivered ?? 0 }
    let isNew = progress.begin(
      epoch: answer.epoch, seq: answer.seq, after: answer.after, isWhole: answer.isWhole)
    guard topic.durable == nil, answer.after == nil || topic.from == nil && isFirst else {
      return
    }
    if isNew, topic.source != "events" {
      isIncomplete = answer.more == true
      known.show(
        answer.shown(of: topic.source), seq: answer.seq, isWhole: !isIncomplete
      ) { tell(.value($0)) }
    }
    if !isIncomplete { catchUp(answer.seq ?? answer.after, tell) }
  }

  /// Processes a notification.
  ///
  /// - Returns: The position of an event whose acknowledgement the daemon has lost; `nil` for none.
  mutating func receive(
    _ method: String, _ params: Incoming.Params, _ tell: (Update) -> Void
  ) throws(ClientError) -> UInt64? {
    switch method {
    case "next": return try next(params, tell)
    case "caught_up", "mark":
      progress.advance(to: params.seq)
      if method == "caught_up" { catchUp(params.seq, tell) }
    case "lagged":
      progress.advance(to: params.seq)
      if let missed = params.missed, missed.from <= missed.to {
        tell(.missed(topic: index, missed.from...missed.to))
      }
    case "closed": throw .closed(reason: params.reason ?? "")
    case "fail":
      throw params.error.map { ClientError($0) } ?? .notUnderstood("a failure without its error")
    default: break
    }
    return nil
  }

  private mutating func next(
    _ params: Incoming.Params, _ tell: (Update) -> Void
  ) throws(ClientError) -> UInt64? {
    if case .again(let mustAcknowledge) = progress.receive(seq: params.seq) {
      return mustAcknowledge ? params.seq : nil
    }
    if let event = params.event {
      tell(.event(seq: params.seq ?? 0, event))
      return nil
    }
    try known.change(
      params.source ?? topic.source, KnownValues.Change(params), seq: params.seq,
      skipped: params.skipped ?? 0
    ) { tell(.value($0)) }
    if params.part?.last == true, isIncomplete {
      isIncomplete = false
      catchUp(params.seq, tell)
    }
    return nil
  }

  private mutating func catchUp(_ seq: UInt64?, _ tell: (Update) -> Void) {
    guard !hasCaughtUp else { return }
    hasCaughtUp = true
    tell(.caughtUp(topic: index, seq: seq))
  }
}

extension ClientError {
  /// Whether a subscription to every change was refused because the source is not journaled.
  package var isOfSourceWithoutPast: Bool {
    guard case .refused(let error) = self, error.name == .invalidParams else { return false }
    return [.string("/mode"), .string("/source")].contains(error.data["path"])
  }
}

extension KnownValues.Change {
  fileprivate init(_ params: Incoming.Params) {
    self.init(
      gone: params.gone, state: params.state, value: params.value, error: params.error,
      changes: params.changes, part: params.part.map { ($0.value, $0.last) }, more: params.more)
  }
}

extension SubscribeAnswer {
  /// Whether the answer has the whole value of one source.
  fileprivate var isWhole: Bool { more != true && values == nil }

  /// The values by source.
  fileprivate func shown(of source: String) -> [(source: String, value: JSONText)] {
    if case .object(let object)? = values { return object.members.map { ($0.name, $0.value.text) } }
    if gone == true { return [] }
    return [(source, JSONText(state: state, value: value, error: error) ?? value ?? .null)]
  }
}
