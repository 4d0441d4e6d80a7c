internal import Configuration
package import Connections
package import EventSourcing
package import JSON
internal import Model
internal import Signals
package import Wire

extension CallContext {
  func beginning(_ subscribe: Subscribe) throws(WireError) -> StartPosition {
    guard let beginning = StartPosition(subscribe.from, first: host.first) else {
      throw WireError(
        JSONDecodingError(
          path: "/from",
          expected:
            #""now", "start", {"after":n}, {"last":n} with n up to \#(StartPosition.maxLast), or {"time":"…"}"#,
          got: "another value"))
    }
    return beginning
  }

  /// Whether a subscription continues after removed events instead of failing.
  package func passesGaps(_ subscribe: Subscribe) throws(WireError) -> Bool {
    switch subscribe.onGap {
    case nil, "fail": return false
    case "continue": return true
    case let word?: throw .unusable("on_gap", #""fail" or "continue""#, word)
    }
  }

  // MARK: Events

  func subscribeEvents(_ subscribe: Subscribe, _ call: Call) throws(WireError) {
    try refuseValues(subscribe)
    try subscribe.refuseDurable()
    let filter = rights.readable(
      try subscribe.filter?.eventFilter(call.connection.limits) ?? EventFilter())
    let source = eventSource(filter, withOrigin: try showsOrigin(subscribe.who, filter))
    let passesGaps = try passesGaps(subscribe)
    try start(subscribe, call) { [self] call, handle, position in
      call.connection.addLog(
        source, where: filter.isWanted, subscribe, handle, after: position, passesGaps: passesGaps
      ) {
        call.answer { buffer in
          buffer.object { writeEvents(handle, after: position ?? host.durable, &$0) }
        }
      }
    }
  }

  /// Rejects parameters that are only for values.
  ///
  /// - Throws: `invalid_params` if one of them is given.
  package func refuseValues(_ subscribe: Subscribe) throws(WireError) {
    if let mode = subscribe.mode { throw .unusable("mode", "events have no mode", mode) }
    if subscribe.minInterval != nil {
      throw .unusable("min_interval_ms", "events have no min_interval_ms")
    }
    if subscribe.distinct != nil { throw .unusable("distinct", "distinct is for state") }
    if subscribe.pick != nil { throw .unusable("pick", "pick is for values") }
  }

  /// Appends the first members of the answer to a subscription to events.
  package func writeEvents(_ handle: Handle, after position: UInt64, _ buffer: inout ByteBuffer) {
    buffer.member("sub", handle)
    buffer.member("source", "events")
    buffer.member("kind", "events")
    buffer.member("epoch", host.epoch)
    buffer.member("first", host.first)
    buffer.member("last", host.durable)
    buffer.member("after", position)
  }

  /// Returns whether to show the origin of events to a client.
  ///
  /// - Throws: `permission_denied` if it asks, and may not see the connections of others either.
  package func showsOrigin(
    _ isAsked: Bool?, _ filter: EventFilter = EventFilter()
  ) throws(WireError) -> Bool {
    // A filter by user tells who it was.
    guard isAsked == true || filter.by != nil else { return false }
    let source = "daemon/connections"
    guard role.mayRead(source) else { throw .permissionDenied(of: role, need: "read \(source)") }
    return isAsked == true
  }

  /// Returns the events that match a filter.
  ///
  /// Live events are not filtered by data; see ``EventFilter/isWanted``.
  package func eventSource(_ filter: EventFilter, withOrigin: Bool) -> LogSource {
    var source = LogSource(
      key: "events \(withOrigin ? "who " : "")\(filter.key)\(rights.audience)",
      live: host.events(filter.withoutConditions).map { [lines = catalog.parts.eventLines] in
        lines.entry(of: $0, withOrigin: withOrigin)
      },
      position: { [host] in host.durable },
      news: { [host] in filter.without == nil ? host.durable : host.durableNews },
      first: { [host] in host.first },
      read: { [host, catalog] seq, limit in
        host.readEvents(after: seq, limit: limit, filter) { LogEntry($0, withOrigin: withOrigin) }
          .mapError { catalog.error($0) }
      })
    // The readers of all events share them.
    if filter.streams != nil || filter.types != nil {
      source.makeFeed = { [host] in
        EventLogFeed(host.eventFeed(filter.withoutConditions), withOrigin: withOrigin)
      }
    }
    return source
  }

  // MARK: Every change

  func subscribeEvery(
    _ subscribe: Subscribe, _ pattern: Pattern, _ call: Call
  ) throws {
    guard let name = pattern.first, let sources = rights.sources(ofService: name)
    else {
      throw pattern.first == nil
        ? WireError.unusable(
          "source", #"with mode "every" a pattern begins with the name of a service"#)
        : access.notFound(subscribe.source)
    }
    guard !pattern.isLiteral || sources.exists(pattern.text) else {
      throw access.notFound(subscribe.source)
    }
    guard sources.isJournaled(pattern) else {
      throw WireError.unusable("mode", #"mode "every" needs a journaled source"#)
    }
    if subscribe.minInterval != nil {
      throw WireError.unusable("min_interval_ms", #"mode "every" has no min_interval_ms"#)
    }
    if subscribe.distinct == true {
      throw WireError.unusable("distinct", #"mode "every" sends each change, equal or not"#)
    }
    let kind = pattern.isLiteral ? sources.kind(of: pattern.text) : .state
    let part = subscribe.pick?.pointer
    let picked =
      pattern.isLiteral
      ? try sources.picking(subscribe.pick, of: pattern.text, by: catalog.parts)
      : try sources.picking(subscribe.pick, in: pattern.text, by: catalog.parts)
    let source = changeSource(pattern, in: name, picking: part)
    let passesGaps = try passesGaps(subscribe)
    guard subscribe.from != nil else {
      return try subscribeEvery(subscribe, pattern, source, picked, call, passesGaps)
    }
    try start(subscribe, call) { [self] call, handle, position in
      call.connection.addLog(
        source, subscribe, handle, after: position, passesGaps: passesGaps
      ) {
        call.answer { buffer in
          let position = position ?? host.durable
          buffer.object {
            writeHead(subscribe, handle, kind: kind, isJournaled: true, at: position, &$0)
            $0.member("after", position)
          }
        }
      }
    }
  }

  /// Subscribes from now on: sends the present values, then every change.
  private func subscribeEvery(
    _ subscribe: Subscribe, _ pattern: Pattern, _ source: LogSource, _ sources: SourceProvider,
    _ call: Call, _ passesGaps: Bool
  ) throws {
    try call.connection.checkHandle(subscribe.sub, subscribe.bytes)
    let value = pattern.isLiteral ? sources.present(pattern.text) : nil
    let values = try pattern.isLiteral ? nil : values(subscribe, pattern, in: [sources], call)
    try checkSize(value, call)
    let handle = try call.connection.reserveHandle(subscribe.sub, subscribe.bytes)
    // The values may be older than the last event, if they were collected in parts.
    let position = values?.position.flatMap { $0 < host.durable ? $0 : nil }
    call.connection.addLog(
      source, subscribe, handle, after: position, passesGaps: passesGaps
    ) {
      call.answerInPieces { buffer in
        let kind = pattern.isLiteral ? sources.kind(of: pattern.text) : .state
        buffer.tail.append("{")
        writeHead(subscribe, handle, kind: kind, isJournaled: true, at: position, &buffer.tail)
        if let values {
          buffer.tail.key("values")
          values.move(to: &buffer)
        } else {
          write(value, .state, &buffer.tail)
        }
        buffer.tail.append("}")
      }
    }
    guard position != nil else { return }
    (call.connection.subscription(handle) as? LogSubscription)?.resume(
      isCaughtUp: true, unacknowledged: [])
  }

  private func changeSource(
    _ pattern: Pattern, in service: String, picking part: JSONPointer?
  ) -> LogSource {
    let isLiteral = pattern.isLiteral
    let isWanted = rights.readable(pattern)
    let live = host.changes(in: service, matching: pattern).filter { isWanted($0.source) }
    var source = LogSource(
      key: "every " + pattern.text + rights.audience, live: live.map { LogEntry($0, isLiteral) },
      position: { [host] in host.durable }, first: { [host] in host.first },
      read: { [host, catalog] seq, _ in
        host.readChanges(in: service, after: seq, where: isWanted) { change in
          LogEntry(part.map { change.picking($0.find) } ?? change, isLiteral)
        }
        .mapError { catalog.error($0) }
      })
    source.convert = part.map { part in { $0.picking(part.find, isLiteral) } }
    if !isLiteral {
      source.makeFeed = { [host] in
        ChangeLogFeed(host.changeFeed(in: service, of: pattern), where: isWanted) { host.durable }
      }
    }
    return source
  }

  // MARK: Start position

  /// Finds the start position of a subscription, then reserves its handle.
  ///
  /// - Parameter add: Answers the call and adds the subscription. Its position is `nil` for the
  ///   present.
  private func start(
    _ subscribe: Subscribe, _ call: Call, _ add: @escaping (Call, Handle, UInt64?) -> Void
  ) throws(WireError) {
    try call.connection.checkHandle(subscribe.sub, subscribe.bytes)
    try begin(subscribe, call) { call, position in
      do throws(WireError) {
        try self.rights.checkIsBound(call.connection, showing: subscribe.source)
        add(call, try call.connection.reserveHandle(subscribe.sub, subscribe.bytes), position)
      } catch {
        call.refuse(error)
      }
    }
  }

  /// Finds the start position of a subscription; in a later turn if it is given as a time.
  ///
  /// - Parameter body: Receives the position after which the subscription begins; `nil` for the
  ///   present.
  package func begin(
    _ subscribe: Subscribe, _ call: Call, _ body: @escaping (Call, UInt64?) -> Void
  ) throws(WireError) {
    switch try beginning(subscribe) {
    case .now: body(call, nil)
    case .after(let seq):
      try check(seq, mayBeGone: passesGaps(subscribe))
      body(call, seq)
    case .last(let count):
      let before = host.durable - min(host.durable, UInt64(count))
      body(call, max(host.first - 1, before))
    case .time(let time):
      let passesGaps = try passesGaps(subscribe)
      guard let call = call.later() else { return }
      host.position(at: time.microseconds - 1).answer(call, catalog) { [self] position in
        // The times of removed events are unknown.
        guard position < host.first, host.first > 1 else { return body(call, position) }
        guard passesGaps else {
          return call.refuse(.seqExpired(first: host.first, last: host.durable))
        }
        body(call, 0)
      }
    }
  }

  /// Checks that a position is retained in the journal.
  ///
  /// - Throws: `seq_future` if it is after the last one; `seq_expired` if events after it were
  ///   removed, unless `mayBeGone`.
  package func check(_ seq: UInt64, mayBeGone: Bool = false) throws(WireError) {
    if seq > host.durable { throw .seqFuture(seq, last: host.durable) }
    if !mayBeGone, seq + 1 < host.first { throw .seqExpired(first: host.first, last: host.durable) }
  }
}

extension Connection {
  /// Creates a subscription to a log, calls `answer`, and adds the subscription.
  fileprivate func addLog(
    _ source: LogSource, where isWanted: ((LogEntry) -> Bool)? = nil, _ subscribe: Subscribe,
    _ handle: Handle, after position: UInt64?, passesGaps: Bool, _ answer: () -> Void
  ) {
    let subscription = LogSubscription(
      handle, to: source, where: isWanted, after: position, on: self, passesGaps: passesGaps)
    subscribe.describe(subscription)
    answer()
    add(subscription, of: subscribe.source)
  }
}

extension EventFilter {
  /// The key shared by subscriptions to the same events; it ignores conditions on data.
  fileprivate var key: String {
    func text(_ patterns: [Pattern]?) -> String { patterns.map { "\($0.map(\.text))" } ?? "-" }
    return "\(text(types)) \(text(streams)) \(without ?? "-") \(by.map { "\($0)" } ?? "-")"
  }

  /// The key that all workers of a shared reader have in common.
  package var sharedKey: String { "\(key) \(conditions)" }

  /// Returns whether a live entry matches the conditions on data; `nil` if there are none.
  package var isWanted: ((LogEntry) -> Bool)? {
    conditions.isEmpty ? nil : { entry in holds(for: entry.data) }
  }
}
