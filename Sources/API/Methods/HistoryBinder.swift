package import Connections
internal import EventSourcing
internal import JSON
package import Model
package import Signals
internal import Wire

/// Offers `history`: past values of sources, and past events.
package func bindHistory(_ catalog: Catalog) {
  catalog.query(
    "history",
    "Returns the values of sources at a position or time, or a page of events.",
    History.self, .either(Shape.pasts), kind: .long
  ) { context, call, history in
    guard let call = call.later(isLong: true) else { return }
    do throws(WireError) {
      if history.source == "events" {
        try context.readEvents(history, call)
      } else if history.source.contains("*") {
        try context.readValues(history, call)
      } else {
        try context.readValue(history, call)
      }
    } catch {
      call.refuse(error)
    }
  }
}

private struct History: DocumentedParameters {
  let source: String
  let at: PastMoment?
  let after: Position?
  let before: Position?
  let limit: Int?
  let filter: Filter?
  let who: Bool?
  let behind: String?

  static let docs = [
    "source": "A source, a pattern, or events.",
    "at": #"For a source: {"seq":n} or {"time":"…"}."#,
    "after": "For events: those after this position, oldest first.",
    "before": "For events: the last ones before this position; without both, the last of all.",
    "limit": "For events: how many at most, 100 when left out.",
    "behind": "For a pattern: those after this name, if not all fitted into a line.",
    "filter": "For events: patterns of types and streams, and conditions.",
    "who": "For events: whether to add who has recorded them; needs to read daemon/connections.",
  ]
}

extension CallContext {
  fileprivate func readValue(_ history: History, _ call: Call) throws(WireError) {
    let source = history.source
    guard let sources = rights.sources(of: source), sources.exists(source) else {
      throw access.notFound(source)
    }
    guard sources.isJournaled(source) else {
      throw .unusable("source", "'\(source)' is not journaled: it has no history")
    }
    guard history.behind == nil else { throw .unusable("behind", "behind is for patterns") }
    let (kind, empty) = (sources.kind(of: source), sources.emptyValue(of: source))
    try position(history, call) { [self] seq in readValue(of: source, kind, empty, at: seq, call) }
  }

  /// Finds the position that a request asks for, and passes it to `found`.
  private func position(
    _ history: History, _ call: Call, _ found: @escaping (UInt64) -> Void
  ) throws(WireError) {
    guard history.after == nil, history.before == nil, history.limit == nil, history.filter == nil,
      history.who == nil
    else { throw .unusable("at", "after, before, limit, filter and who are for events") }
    guard let at = history.at else { throw PastMoment.malformed("at") }
    switch try at.place("at") {
    case .position(let seq):
      try check(seq)
      found(seq)
    case .time(let time):
      host.position(at: time).answer(call, catalog) { [host] seq in
        // Before the first retained event the state is unknown, unless the journal begins with
        // position 1.
        guard seq >= host.first || host.first == 1 else {
          return call.refuse(.seqExpired(first: host.first, last: host.durable))
        }
        found(seq)
      }
    }
  }

  /// Reads the values of a pattern.
  ///
  /// Values that do not fit into a line are left for the next call.
  fileprivate func readValues(_ history: History, _ call: Call) throws(WireError) {
    guard let pattern = Pattern(history.source) else { throw .badPattern(history.source) }
    if let service = pattern.first {
      guard let sources = rights.sources(ofService: service) else {
        throw access.notFound(history.source)
      }
      guard sources.isJournaled else {
        throw .unusable("source", "'\(service)' is not journaled: it has no history")
      }
    }
    let limit = call.room
    try position(history, call) { [self] seq in
      host.values(
        in: pattern.first, at: seq, behind: history.behind, maxBytes: limit - 512,
        where: rights.readable(pattern)
      )
      .answer(call, catalog) { past in
        call.answerInPieces { past.write(pattern.text, at: seq, to: &$0) }
      }
    }
  }

  private func readValue(
    of source: String, _ kind: SourceKind, _ empty: JSONText?, at seq: UInt64, _ call: Call
  ) {
    host.value(of: source, at: seq).answer(call, catalog) { past in
      let value = past.value ?? empty
      call.answerInPieces { buffer in
        buffer.tail.append("{")
        buffer.tail.member("source", source)
        buffer.tail.member("kind", kind.rawValue)
        buffer.tail.member("seq", seq)
        buffer.member("value", value)
        buffer.tail.member("gone", value == nil ? true : nil)
        buffer.tail.member("time", past.time.map(Timestamp.init(microseconds:)))
        buffer.tail.append("}")
      }
    }
  }

  fileprivate func readEvents(_ history: History, _ call: Call) throws(WireError) {
    guard history.at == nil else { throw .unusable("at", "a position or time is for sources") }
    guard history.after == nil || history.before == nil else {
      throw .unusable("before", "either after or before")
    }
    let limit = history.limit ?? 100
    guard 1...1000 ~= limit else {
      throw WireError(
        JSONDecodingError(path: "/limit", expected: "1 to 1000", got: "another number"))
    }
    let filter = rights.readable(
      try history.filter?.eventFilter(call.connection.limits) ?? EventFilter())
    let withOrigin = try showsOrigin(history.who, filter)
    if let after = history.after?.seq {
      // The page reports removed events. A damaged journal may hold events after the last durable
      // position.
      if host.refusal == nil { try check(after, mayBeGone: true) }
      host.readEvents(after: after, limit: limit, filter, as: { $0 }).answer(call, catalog) {
        [host] page in
        call.answerInPieces { buffer in
          page.write(
            after: page.end, isMore: page.end < host.durable, host,
            withOrigin: withOrigin, limit: call.room, to: &buffer)
        }
      }
    } else {
      if let before = history.before?.seq, before > 1, before < host.first {
        throw .seqExpired(first: host.first, last: host.durable)
      }
      host.readEvents(before: history.before?.seq, limit: limit, filter).answer(call, catalog) {
        [host] page in
        call.answerInPieces {
          page.writeLast(host, withOrigin: withOrigin, limit: call.room, to: &$0)
        }
      }
    }
  }
}

extension PastValues {
  fileprivate func write(_ pattern: String, at seq: UInt64, to buffer: inout PieceBuffer) {
    buffer.tail.append("{")
    buffer.tail.member("source", pattern)
    buffer.tail.member("seq", seq)
    buffer.tail.key("values")
    buffer.tail.append("{")
    for entry in values {
      buffer.tail.key(quoted: entry.source)
      buffer.append(entry.value)
      buffer.cutIfLong()
    }
    buffer.tail.append("}")
    buffer.tail.member("more", isMore ? true : nil)
    buffer.tail.member("time", time.map(Timestamp.init(microseconds:)))
    buffer.tail.append("}")
  }
}

extension Page<JournalEvent> {
  /// Appends the answer.
  ///
  /// Events that would make the line too long are left for the next page.
  fileprivate func write(
    after end: UInt64, isMore: Bool, _ host: ServiceHost, withOrigin: Bool, limit: Int,
    to buffer: inout PieceBuffer
  ) {
    let count = Self.fitting(entries, limit, withOrigin)
    let isWhole = count == entries.count
    write(entries.prefix(count), withOrigin, to: &buffer) {
      writeRest(
        after: isWhole ? end : entries[count - 1].seq, isMore: isMore || !isWhole, host, to: &$0)
    }
  }

  /// Appends the answer for the last events.
  ///
  /// If the line is too long, the oldest events are omitted.
  fileprivate func writeLast(
    _ host: ServiceHost, withOrigin: Bool, limit: Int, to buffer: inout PieceBuffer
  ) {
    let count = Self.fitting(entries.reversed(), limit, withOrigin)
    write(entries.suffix(count), withOrigin, to: &buffer) {
      writeRest(
        after: entries.last?.seq ?? 0, isMore: count < entries.count || end > host.first,
        host, to: &$0)
    }
  }

  /// Returns how many events fit into a line, from the first on; at least one, if there is one.
  private static func fitting(
    _ events: some Sequence<JournalEvent>, _ limit: Int, _ withOrigin: Bool
  ) -> Int {
    var item = ByteBuffer()
    var (count, size) = (0, 0)
    for event in events {
      item.removeAll()
      event.write(withOrigin, to: &item) { _ in }
      size += item.count + event.data.text.utf8.count + 3  // braces and comma
      if count > 0, size > limit - roomForRest { break }
      count += 1
    }
    return count
  }

  /// Appends events, and what `rest` writes.
  private func write(
    _ events: some Sequence<JournalEvent>, _ withOrigin: Bool, to buffer: inout PieceBuffer,
    _ rest: (inout ByteBuffer) -> Void
  ) {
    buffer.tail.append(#"{"items":["#)
    for event in events {
      buffer.tail.separate()
      buffer.tail.append("{")
      event.write(withOrigin, to: &buffer)
      buffer.tail.append("}")
      buffer.cutIfLong()
    }
    buffer.tail.append("]")
    rest(&buffer.tail)
    buffer.tail.append("}")
  }

  /// The bytes reserved for the rest of the answer.
  private static var roomForRest: Int { 512 }

  private func writeRest(
    after end: UInt64, isMore: Bool, _ host: ServiceHost, to buffer: inout ByteBuffer
  ) {
    buffer.member("after", end)
    buffer.member("more", isMore)
    buffer.member("first", host.first)
    buffer.member("last", host.durable)
  }
}

extension SignalProtocol {
  /// Answers a call with the result of a read; a failure refuses the call.
  package func answer(
    _ call: Call, _ catalog: Catalog, _ onResult: @escaping (Element) -> Void
  ) where Error == JournalError {
    let work = observe { event in
      switch event {
      case .next(let element): onResult(element)
      case .failed(let fault): call.refuse(catalog.error(fault))
      case .completed: break
      }
    }
    call.keep(work)
  }
}
