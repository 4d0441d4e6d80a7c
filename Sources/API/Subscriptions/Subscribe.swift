package import Connections
internal import EventSourcing
internal import JSON
internal import Model
internal import Signals
package import Wire

/// Durable subscriptions, which resume after the last acknowledgement; a feature offers them.
package protocol DurableReaders: AnyObject {
  /// Subscribes a client to events as the reader of a name.
  func subscribe(
    _ context: CallContext, _ subscribe: Subscribe, as reader: String, _ call: Call
  ) throws(WireError)
}

/// The parameters of `subscribe`.
package struct Subscribe: DocumentedParameters {
  let source: String
  package let sub: Handle?
  let from: JSONValue?
  let epoch: String?
  package let filter: Filter?
  package let who: Bool?
  let onGap: String?
  let durable: ReaderName?
  package let maxUnacked: UnackedCount?
  package let steal: Bool?
  package let share: Bool?
  package let inOrder: Bool?
  package let ackWait: AckWait?
  package let maxDeliveries: DeliveryCount?
  let mode: String?
  let minInterval: Interval?
  let distinct: Bool?
  let pick: PartOfValue?

  /// The subscription as it survives a restart of the daemon; `nil` if it ends with the daemon.
  var terms: JSONText?

  /// The place where the subscription goes on after a restart; `nil` for a new one.
  package var resumed: ResumedSubscription?

  private enum CodingKeys: String, CodingKey {
    case source, sub, from, epoch, filter, who
    case onGap = "on_gap"
    case durable
    case maxUnacked = "max_unacked"
    case steal, share, mode
    case inOrder = "in_order"
    case ackWait = "ack_wait_ms"
    case maxDeliveries = "max_deliveries"
    case minInterval = "min_interval_ms"
    case distinct, pick
  }

  package static let docs = [
    "source": "A source, a pattern of sources, or events.",
    "sub": "The handle: 1 to 64 of [A-Za-z0-9_.:-]; left out, the daemon gives a number.",
    "from": #"For events and mode every: "now", "start", {"after":n}, {"last":n} or {"time":"…"}."#,
    "epoch": "The epoch of the journal that `from` refers to.",
    "filter": "For events: patterns of types and streams, and conditions.",
    "who": "For events: whether to add who has recorded them; needs to read daemon/connections.",
    "on_gap": #"If the position was removed: "fail", or "continue" after the gap."#,
    "durable": "For events: the name of a durable reader; see ack.",
    "max_unacked":
      "For a durable reader: events sent and not acknowledged; left out: 1000, or 1 with share.",
    "steal": "Whether to take the reader over from its holder.",
    "share": "For a durable reader: whether several subscriptions share its events.",
    "in_order": "With share: whether an event waits until the one before it is finished or parked.",
    "ack_wait_ms": "With share: the time to acknowledge an event, 30000 when left out.",
    "max_deliveries": "With share: the deliveries after which an event is parked; left out: 5.",
    "mode": #""every" sends each change; none is skipped for a slow reader."#,
    "min_interval_ms": "Milliseconds between changes, at least; a day at most.",
    "pick": "A JSON Pointer: sends that part of the value instead of all of it.",
    "distinct": "Whether to skip a value equal to the last one sent; true when left out.",
  ]
}

extension Subscribe {
  /// The bytes charged to the user.
  ///
  /// They depend only on the parameters, so that the subscription costs the same after a restart.
  package var bytes: Int {
    let texts = source.utf8.count + (filter?.textBytes ?? 0)
    return ItemBytes.subscription + ItemBytes.copies * texts
      + ItemBytes.condition * (filter?.cost ?? 0)
      + ItemBytes.pointerByte * (pick?.pointer.text.utf8.count ?? 0)
  }

  /// Rejects parameters that are only for durable readers.
  ///
  /// - Throws: `invalid_params` if `max_unacked` or `steal` is given.
  package func refuseDurable() throws(WireError) {
    if maxUnacked != nil {
      throw .unusable("max_unacked", "max_unacked is for durable readers")
    }
    if steal != nil { throw .unusable("steal", "steal is for durable readers") }
    if share != nil { throw .unusable("share", "share is for durable readers") }
    try refuseShared()
  }

  /// Rejects parameters that are only for shared readers.
  package func refuseShared() throws(WireError) {
    if inOrder != nil { throw .unusable("in_order", "in_order needs share") }
    if ackWait != nil { throw .unusable("ack_wait_ms", "ack_wait_ms needs share") }
    if maxDeliveries != nil {
      throw .unusable("max_deliveries", "max_deliveries needs share")
    }
  }

  /// Sets the bytes charged for a subscription, and the terms that restore it after a restart.
  package func describe(_ subscription: Subscription) {
    (subscription.terms, subscription.bytes) = (terms, bytes)
  }
}

extension CallContext {
  func subscribe(
    _ subscribe: Subscribe, _ call: Call, _ readers: (any DurableReaders)?
  ) throws {
    if let epoch = subscribe.epoch, epoch != host.epoch {
      throw WireError(
        .epochMismatch, "the position belongs to another journal", ["epoch": .string(host.epoch)])
    }
    guard let pattern = Pattern(subscribe.source) else {
      throw WireError.badPattern(subscribe.source)
    }
    if subscribe.source == "events" {
      guard let reader = subscribe.durable?.text else {
        return try subscribeEvents(subscribe, call)
      }
      guard let readers else {
        throw WireError.unusable("durable", "durable readers are not offered here")
      }
      return try readers.subscribe(self, subscribe, as: reader, call)
    }
    if subscribe.durable != nil {
      throw WireError.unusable("durable", "a durable reader is one of events")
    }
    try subscribe.refuseDurable()
    if subscribe.filter != nil { throw WireError.unusable("filter", "a filter is for events") }
    if subscribe.who != nil { throw WireError.unusable("who", "who is for events") }
    switch subscribe.mode {
    case "every": return try subscribeEvery(subscribe, pattern, call)
    case nil: break
    case let mode?: throw WireError.unusable("mode", #"the mode is "every" or left out"#, mode)
    }
    if subscribe.from != nil {
      throw WireError.unusable("from", #"from is for events and mode "every""#)
    }
    if subscribe.onGap != nil {
      throw WireError.unusable("on_gap", #"on_gap is for events and mode "every""#)
    }
    if pattern.isLiteral {
      guard let sources = rights.sources(of: subscribe.source),
        sources.exists(subscribe.source)
      else { throw access.notFound(subscribe.source) }
      switch sources.kind(of: subscribe.source) {
      case .state, .loading: try subscribeState(subscribe, sources, call)
      case .list, .map: try subscribeCollection(subscribe, sources, call)
      }
    } else {
      try subscribePattern(subscribe, pattern, call)
    }
  }

  private func subscribeState(
    _ subscribe: Subscribe, _ sources: SourceProvider, _ call: Call
  ) throws(WireError) {
    let name = subscribe.source
    let connection = call.connection
    let handle = try connection.reserveHandle(subscribe.sub, subscribe.bytes)
    let kind = sources.kind(of: name)
    let picked = try sources.picking(subscribe.pick, of: name, by: catalog.parts)
    if subscribe.resumed == nil { try checkSize(picked.value(name), call) }
    let source = StateSource(
      key: name, isJournaled: sources.isJournaled(name), isLoading: kind == .loading,
      value: { sources.value(name) }, changes: sources.changes(name),
      part: watchedPart(subscribe.pick))
    let subscription = StateSubscription(
      handle, to: source, on: connection, isDistinct: subscribe.distinct ?? true,
      everyMilliseconds: subscribe.minInterval?.milliseconds ?? 0)
    subscribe.describe(subscription)
    let value = subscription.value
    call.answer { buffer in
      buffer.object {
        writeHead(subscribe, handle, kind: kind, isJournaled: sources.isJournaled(name), &$0)
        write(value, kind, &$0)
      }
    }
    connection.add(subscription, of: subscribe.source)
  }

  private func subscribePattern(
    _ subscribe: Subscribe, _ pattern: Pattern, _ call: Call
  ) throws {
    let connection = call.connection
    let providers = try providers(of: pattern, picking: subscribe.pick)
    guard !providers.isEmpty else { throw access.notFound(subscribe.source) }
    try connection.checkHandle(subscribe.sub, subscribe.bytes)
    let values =
      try subscribe.resumed == nil ? values(subscribe, pattern, in: providers, call) : nil
    let handle = try connection.reserveHandle(subscribe.sub, subscribe.bytes)
    // The subscriptions to a pattern share its changes; each finds its part by itself.
    let whole = rights.providers(of: pattern)
    let changes = Signal<SourceChange, Never> { observer in
      let bag = DisposeBag()
      for sources in whole {
        sources.collected.others(pattern).observeNext { observer.receive($0) }.dispose(in: bag)
      }
      return bag
    }
    let subscription = PatternSubscription(
      handle,
      to: PatternSource(
        key: pattern.text + rights.audience, changes: changes,
        feeds: { whole.flatMap { $0.collected.feeds(pattern) } }),
      value: { [rights] in rights.sources(of: $0)?.value($0) },
      elements: { [rights] in rights.sources(of: $0)?.collection($0) },
      part: watchedPart(subscribe.pick), on: connection, isDistinct: subscribe.distinct ?? true,
      everyMilliseconds: subscribe.minInterval?.milliseconds ?? 0)
    subscribe.describe(subscription)
    call.answerInPieces { buffer in
      buffer.tail.append("{")
      writeHead(subscribe, handle, isJournaled: true, at: values?.position, &buffer.tail)
      if let values {
        buffer.tail.key("values")
        values.move(to: &buffer)
      }
      buffer.tail.append("}")
    }
    connection.add(subscription, of: subscribe.source)
    for change in values?.missed ?? [] { subscription.receive(change) }
  }

  private func watchedPart(_ pick: PartOfValue?) -> WatchedPart? {
    pick.map { [parts = catalog.parts] pick in
      WatchedPart(
        key: pick.pointer.text, find: { parts.find(pick.pointer, in: $0) },
        watch: { parts.watch(pick.pointer) })
    }
  }

  /// Returns the present values of a pattern for a new subscription.
  func values(
    _ subscribe: Subscribe, _ pattern: Pattern, in providers: [SourceProvider], _ call: Call
  ) throws -> SubscribedValues {
    let key = "subscribe \(subscribe.source) \(subscribe.pick?.pointer.text ?? "")"
    return try inParts(call, key) {
      SubscribedValues(
        of: providers.map { $0.part(of: pattern) }, host, limit: call.room,
        changes: subscribe.mode == nil ? providers.map { $0.changesMatching(pattern) } : [])
    }
  }

  /// Appends the first members of the answer to a subscription to values.
  ///
  /// - Parameter position: The start position, from which a client can resume; `nil` for the
  ///   present.
  func writeHead(
    _ subscribe: Subscribe, _ handle: Handle, kind: SourceKind = .state, isJournaled: Bool,
    at position: UInt64? = nil, _ buffer: inout ByteBuffer
  ) {
    buffer.member("sub", handle)
    buffer.member("source", subscribe.source)
    buffer.member("kind", kind.rawValue)
    guard isJournaled else { return }
    buffer.member("epoch", host.epoch)
    buffer.member("seq", position ?? host.durable)
  }

  /// Checks that a value fits into a line.
  ///
  /// - Throws: `result_too_large` if it does not.
  func checkSize(_ value: JSONText?, _ call: Call) throws(WireError) {
    // 512 bytes are reserved for the rest of the answer.
    let size = (value?.text.utf8.count ?? 0) + 512
    let limit = call.room
    guard size <= limit else {
      throw .resultTooLarge(size, max: limit)
    }
  }

  func write(_ value: JSONText?, _ kind: SourceKind, _ buffer: inout ByteBuffer) {
    if let value, kind == .loading {
      buffer.members(of: value)
    } else if let value {
      buffer.member("value", value)
    } else {
      buffer.member("gone", true)
    }
  }
}

extension WireError {
  /// Returns the error for a parameter that is invalid or cannot be combined with the others.
  package static func unusable(_ parameter: String, _ rule: String, _ got: String = "it")
    -> WireError
  {
    WireError(
      .invalidParams, rule,
      ["path": .string("/" + parameter), "expected": .string(rule), "got": .string(got)])
  }
}
