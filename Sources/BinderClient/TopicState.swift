internal import Facts
package import JSON
internal import Wire

/// The progress of a topic, so that it can resume on the next connection.
struct TopicState {
  let topic: Topic
  let index: Int

  /// Whether the topic reads every change, so that it resumes after a position.
  private var isLog: Bool

  /// The last delivered position; `nil` before the first answer, and for newest values.
  private(set) var position: UInt64?

  /// The journal epoch of ``position``.
  private var epoch: String?

  /// The last delivered value of each source, to find changes after a reconnection; for newest
  /// values.
  private var told: [String: JSONText] = [:]

  /// The last delivered state of each list and map.
  private var collections: [String: JSONValue] = [:]

  /// The last position that the caller acknowledged; 0 for none.
  var acknowledged: UInt64 = 0

  private var hasBegun = false
  private var hasCaughtUp = false

  init(_ topic: Topic, index: Int) {
    self.topic = topic
    self.index = index
    isLog = topic.source == "events" || topic.mode != .newest
  }

  /// The handle of the subscription.
  var handle: String { "t\(index)" }

  /// The parameters of the first or a resumed subscription.
  var parameters: JSONObject {
    var params: JSONObject = ["source": .string(topic.source), "sub": .string(handle)]
    if isLog, topic.source != "events" { params["mode"] = .string("every") }
    if let durable = topic.durable {
      params["durable"] = .string(durable.name)
      params["max_unacked"] = durable.maxUnacknowledged.map { .number(JSONNumber($0)) }
      if durable.steals { params["steal"] = .bool(true) }
      params["from"] = topic.from
    } else if let position {
      params["from"] = .object(["after": .number(JSONNumber(position))])
      params["epoch"] = epoch.map { .string($0) }
    } else {
      params["from"] = topic.from
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
  mutating func settle(for error: ClientError) -> Bool {
    guard isLog, topic.mode == .everyIfJournaled, topic.from == nil, !hasBegun,
      case .refused(let error) = error, error.name == .invalidParams,
      error.data["path"] == .string("/mode") || error.data["path"] == .string("/source")
    else { return false }
    isLog = false
    return true
  }

  // MARK: Incoming messages

  /// Processes the answer to the subscription.
  mutating func take(_ answer: SubscribeAnswer, _ tell: (Update) -> Void) {
    defer { hasBegun = true }
    if isLog {
      epoch = answer.epoch
      // Events delivered here are not delivered again, even if they were not acknowledged.
      position = max(topic.durable == nil ? 0 : position ?? 0, answer.after ?? answer.seq ?? 0)
    }
    guard topic.durable == nil, answer.after == nil || topic.from == nil && !hasBegun else {
      return
    }
    if topic.source != "events" { takeValues(answer, tell) }
    catchUp(answer.seq ?? answer.after, tell)
  }

  private mutating func takeValues(_ answer: SubscribeAnswer, _ tell: (Update) -> Void) {
    var values: [(String, JSONText)] = []
    if case .object(let object)? = answer.values {
      values = object.members.map { ($0.name, $0.value.text) }
    } else if answer.gone != true {
      let unloaded = JSONText(state: answer.state, value: answer.value, error: answer.error)
      values = [(topic.source, unloaded ?? answer.value ?? .null)]
    }
    let before = told
    collections = [:]
    for (source, text) in values where text.isCollection {
      collections[source] = text.value
    }
    func value(_ source: String, _ value: JSONText?) -> Update {
      .value(
        SourceValue(
          source: source, seq: answer.seq, value: value, skipped: 0, isPresent: !hasBegun))
    }
    for (source, text) in values where before[source] != text { tell(value(source, text)) }
    let present = Dictionary(values) { $1 }
    for source in before.keys.sorted() where present[source] == nil { tell(value(source, nil)) }
    if !isLog { told = present }
  }

  /// Processes a notification.
  mutating func take(
    _ method: String, _ params: Incoming.Params, _ tell: (Update) -> Void
  ) throws(ClientError) {
    switch method {
    case "next": try next(params, tell)
    case "caught_up", "mark":
      advance(to: params.seq)
      if method == "caught_up" { catchUp(params.seq, tell) }
    case "lagged":
      advance(to: params.seq)
      if let missed = params.missed, missed.from <= missed.to {
        tell(.missed(topic: index, missed.from...missed.to))
      }
    case "closed": throw .closed(reason: params.reason ?? "")
    case "fail":
      throw params.error.map { ClientError($0) } ?? .notUnderstood("a failure without its error")
    default: break
    }
  }

  private mutating func next(
    _ params: Incoming.Params, _ tell: (Update) -> Void
  ) throws(ClientError) {
    let isRepeat = topic.durable != nil && params.seq ?? 0 <= position ?? 0
    advance(to: params.seq)
    if isRepeat { return }
    if let event = params.event {
      tell(.event(seq: params.seq ?? 0, event))
      return
    }
    let source = params.source ?? topic.source
    if let part = params.part {
      collections[source]?.append(part.value)
      guard part.last else { return }
    }
    if params.gone == true { collections[source] = nil }
    let changed: JSONText? =
      if let changes = params.changes { try change(source, changes) } else { nil }
    // A `null` value decodes like a missing one.
    let value =
      params.gone == true
      ? nil
      : JSONText(state: params.state, value: params.value, error: params.error)
        ?? changed
        ?? (params.part == nil ? params.value ?? .null : collections[source]?.text ?? .null)
    if !isLog { told[source] = value }
    tell(
      .value(
        SourceValue(
          source: source, seq: params.seq, value: value, skipped: params.skipped ?? 0,
          isPresent: false)))
  }

  /// Returns the list or map after its steps, or the steps if its previous state is not known.
  ///
  /// - Throws: ``ClientError/notUnderstood(_:)`` for a step that does not fit.
  private mutating func change(
    _ source: String, _ changes: JSONText
  ) throws(ClientError) -> JSONText {
    do throws(CollectionChange.Fault) {
      let steps = try CollectionChange.read(changes)
      guard var known = collections[source] ?? unknown(for: steps) else { return changes }
      for step in steps { try known.apply(step) }
      collections[source] = known
      return known.text
    } catch {
      throw .notUnderstood("\(error)")
    }
  }

  /// Returns the state of a list or map before its first steps; `nil` if it is not known.
  private func unknown(for steps: [CollectionChange]) -> JSONValue? {
    // A source that did not exist before is empty.
    guard let isOfMap = steps.first?.isOfMap else { return .null }
    return topic.from != nil ? nil : isOfMap ? .object([:]) : .array([])
  }

  private mutating func advance(to seq: UInt64?) {
    guard isLog, let seq else { return }
    position = max(position ?? 0, seq)
  }

  private mutating func catchUp(_ seq: UInt64?, _ tell: (Update) -> Void) {
    guard !hasCaughtUp else { return }
    hasCaughtUp = true
    tell(.caughtUp(topic: index, seq: seq))
  }
}

extension JSONText {
  /// Whether the value is an array or an object.
  package var isCollection: Bool {
    text.utf8.first == UInt8(ascii: "[") || text.utf8.first == UInt8(ascii: "{")
  }
}

extension JSONValue {
  /// Appends a further part of a list or map that did not fit one line.
  package mutating func append(_ part: JSONValue) {
    switch (self, part) {
    case (.array(let known), .array(let more)): self = .array(known + more)
    case (.object(var known), .object(let more)):
      for member in more.members { known[member.name] = member.value }
      self = .object(known)
    default: break
    }
  }
}
