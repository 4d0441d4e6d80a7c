internal import Connections
internal import EventSourcing
internal import JSON
internal import Model
internal import Signals
internal import Wire

/// Offers `get`, `set`, `wait`, `subscribe` and `unsubscribe`.
///
/// - Parameter readers: The durable readers; `nil` if there are none.
package func bindSources(_ catalog: Catalog, _ readers: (any DurableReaders)? = nil) {
  catalog.query(
    "get", "Returns the value of a source, or of all sources of a pattern.", Get.self,
    .either(Shape.present([.optional("now", .map(.any))]) + [.presentPattern]), reader: Get.read
  ) { context, call, get in
    try context.get(get, call)
  }
  bindWait(catalog)

  catalog.command(
    "set", "Sets a writable source; returns the value.", SetSource.self, writes: nil
  ) { context, set throws(NotWritable) in
    try context.set(set)
  }

  catalog.keptQuery(
    "subscribe", "Sends a source's value, then its changes; or the events of the journal.",
    Subscribe.self, .either(Shape.subscriptions),
    site: .depends(on: "durable") { reader, _ in reader != nil && reader?.text != "null" }
  ) { context, call, subscribe, text in
    var subscribe = subscribe
    subscribe.terms = text.map { HandoverSubscription.text($0, at: context.host.durable) }
    try context.subscribe(subscribe, call, readers)
  }
  bindRestoredSubscriptions(catalog, readers)

  catalog.query(
    "unsubscribe", "Ends a subscription; no frame of it follows.", Unsubscribe.self,
    .members(
      .init("sub", .handle), .init("was", .words(["active", "ended", "unknown"])),
      .init("seq", .natural)), site: .ofSubscription
  ) { context, call, unsubscribe in
    let connection = call.connection
    let subscription = connection.subscription(unsubscribe.sub)
    if let subscription { connection.remove(subscription) }
    let was = subscription == nil ? connection.fate(of: unsubscribe.sub) : "active"
    call.answer { buffer in
      buffer.object {
        $0.member("sub", unsubscribe.sub)
        $0.member("was", was)
        $0.member("seq", context.host.durable)
      }
    }
  }
}

private enum Get: DocumentedParameters {
  case source(String, pick: PartOfValue?)
  /// A source that was found by the bytes of its name.
  case found(Found)

  struct Found {
    let number: Int
    let value: JSONText
  }

  private enum CodingKeys: CodingKey {
    case source, pick
  }

  init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: CodingKeys.self)
    self = .source(
      try members.decode(String.self, forKey: .source),
      pick: try members.decodeIfPresent(PartOfValue.self, forKey: .pick))
  }

  static let docs = [
    "source": "The source, for example cells/lamp, or a pattern.",
    "pick": "A JSON Pointer: answers with that part of the value instead of all of it.",
  ]

  static func read(
    _ parameters: RequestParameters, _ line: Span<UInt8>, _ context: CallContext
  ) throws(NotPlain) -> Get {
    guard parameters.count == 1, let place = parameters.plainString("source", at: 0, in: line)
    else {
      throw NotPlain()
    }
    let name = line.extracting(place)
    guard let (number, value) = context.rights.known(name) else {
      return .source(String(validUTF8: name), pick: nil)
    }
    return .found(Found(number: number, value: value))
  }
}

struct SetSource: DocumentedParameters, SourceParameters {
  let source: String
  let value: JSONText

  static let docs = ["source": "The source, for example cells/lamp.", "value": "Its new value."]
}

private struct Unsubscribe: DocumentedParameters {
  let sub: Handle

  static let docs = ["sub": "The handle of the subscription."]
}

extension CallContext {
  fileprivate func get(_ get: Get, _ call: Call) throws {
    switch get {
    case .found(let found): answer(call, found)
    case .source(let name, let part): try present(name, part, call)
    }
  }

  private func answer(_ call: Call, _ found: Get.Found) {
    guard !PieceBuffer.isLong(found.value) else {
      return call.answerInPieces { buffer in
        writeHead(of: found, &buffer.tail)
        buffer.append(found.value)
        buffer.tail.append("}")
      }
    }
    call.answer { buffer in
      writeHead(of: found, &buffer)
      buffer.append(found.value.text)
      buffer.append(UInt8(ascii: "}"))
    }
  }

  @inline(__always)
  private func writeHead(of found: Get.Found, _ buffer: inout ByteBuffer) {
    let names = host.streamNames
    // The name of a stream needs no escapes.
    buffer.append(#"{"source":""#)
    buffer.append(names[found.number])
    buffer.append(#"","kind":"state","seq":"#)
    buffer.append(integer: host.durable)
    buffer.append(#","value":"#)
  }

  private func present(_ name: String, _ part: PartOfValue?, _ call: Call) throws {
    // A source with a value is not a pattern, so most names are never parsed.
    let sources = rights.sources(of: name)
    if part == nil, let sources, let elements = sources.collection(name),
      elements.count > CollectionText.shortCount
    {
      return try answer(call, name, elements, sources)
    }
    if let sources, let value = sources.value(name) {
      let shown =
        part == nil ? value : try sources.picking(part, of: name, by: catalog.parts).value(name)
      return answer(call, name, shown, sources, now: part == nil ? sources.now(name) : nil)
    }
    if name == "events" { return try answerEvents(call, picking: part) }
    guard let pattern = Pattern(name) else { throw WireError.badPattern(name) }
    // A list or map that was never written is empty, as in `subscribe`.
    if pattern.isLiteral, part == nil, let sources = rights.sources(of: name),
      let empty = sources.present(name)
    {
      return answer(call, name, empty, sources)
    }
    guard !pattern.isLiteral else { throw access.notFound(name) }
    let providers = try providers(of: pattern, picking: part)
    let key = "get \(name) \(part?.pointer.text ?? "")"
    let values = try inParts(call, key) {
      ValueCollection(
        of: providers.map { $0.part(of: pattern) }, host, limit: call.room,
        as: .members(dropping: 0))
    }
    call.answerInPieces { buffer in
      buffer.tail.append("{")
      buffer.tail.member("source", name)
      buffer.tail.member("kind", "state")
      buffer.tail.member("seq", values.position)
      buffer.tail.key("values")
      values.move(to: &buffer)
      buffer.tail.append("}")
    }
  }

  /// Answers a call with a long list or map, which is written in slices of the client's time.
  private func answer(
    _ call: Call, _ name: String, _ elements: SourceCollection, _ sources: SourceProvider
  ) throws {
    let written = try inParts(call, "get \(name) of elements") {
      CollectionText(of: elements, at: host.durable, limit: call.room)
    }
    call.answerInPieces { buffer in
      buffer.tail.append("{")
      buffer.tail.member("source", name)
      buffer.tail.member("kind", sources.kind(of: name).rawValue)
      buffer.tail.member("seq", sources.isJournaled(name) ? written.position : nil)
      buffer.tail.key("value")
      written.move(to: &buffer)
      buffer.tail.append("}")
    }
  }

  /// Answers a call with the value of a source, or with `gone`.
  func answer(
    _ call: Call, _ name: String, _ value: JSONText?, _ sources: SourceProvider,
    now: JSONText? = nil
  ) {
    let kind = sources.kind(of: name)
    call.answer { buffer in
      buffer.object {
        $0.member("source", name)
        $0.member("kind", kind.rawValue)
        $0.member("seq", sources.isJournaled(name) ? host.durable : nil)
        write(value, kind, &$0)
        $0.member("now", now)
      }
    }
  }

  /// Answers with the first and last position of the journal.
  ///
  /// Its events are read by `history` and `subscribe`.
  private func answerEvents(_ call: Call, picking part: PartOfValue?) throws(WireError) {
    if part != nil { throw .notPicked("events") }
    call.answer { buffer in
      buffer.object {
        $0.member("source", "events")
        $0.member("kind", "events")
        $0.member("seq", host.durable)
        $0.object("value") {
          $0.member("first", host.first)
          $0.member("last", host.durable)
        }
      }
    }
  }

  fileprivate func set(_ set: SetSource) throws(NotWritable) -> JSONText {
    guard let service = rights.service(of: set.source),
      let sources = rights.sources(of: set.source)
    else {
      throw .missing(set.source)
    }
    guard let write = service.writer else { throw .fixed(set.source) }
    guard sources.exists(set.source) || set.source.contains("/") else { throw .missing(set.source) }
    return try write(set.source, set.value)
  }
}

extension SourceProvider {
  /// Returns the sources of a pattern, to be collected.
  func part(of pattern: Pattern) -> ValueCollection.Part {
    ValueCollection.Part(
      search: { [search] place, body throws(NameIndex.TooVain) in
        try search(pattern, [], &place, body)
      },
      canGoOn: canSearchGoOn, written: written,
      changes: changesMatching(pattern).map(\.source))
  }

  /// Returns the value of a source, a long list or map as its elements; `nil` if there is none.
  private func written(_ source: String) -> ValueCollection.Value? {
    if hasCollections, let elements = collection(source),
      elements.count > CollectionText.shortCount
    {
      return .elements(elements)
    }
    return value(source).map { .text($0) }
  }
}

extension Rights {
  /// Returns the most similar source name near the given one in the sort order; `nil` if there is
  /// none.
  ///
  /// A misspelled service name is corrected first.
  func nearest(toSource source: String) -> String? {
    let parts = source.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard let first = parts.first else { return nil }
    let names = services.lazy.filter { $1 != nil }.map(\.0.name)
    guard
      let service = service(of: source)?.name ?? Wire.nearest(to: String(first), among: names),
      let sources = sources(ofService: service)
    else { return nil }
    let meant = ([service] + parts.dropFirst().map(String.init)).joined(separator: "/")
    return Wire.nearest(to: source, among: sources.neighbours(meant))
  }

  /// Returns the providers of all services that a pattern may match.
  func providers(of pattern: Pattern) -> [SourceProvider] {
    guard let first = pattern.first else {
      return services.compactMap(\.1)
    }
    return sources(ofService: first).map { [$0] } ?? []
  }
}

extension WireError {
  /// Returns the error for an invalid pattern.
  static func badPattern(_ text: String) -> WireError {
    WireError(
      .invalidParams,
      "'\(text)' is not a source name: \(Pattern.fault(in: text) ?? "it is malformed")",
      [
        "path": .string("/source"),
        "expected": .string("a name or a pattern: * is one segment, ** the rest"),
        "got": .string("'\(text)'"),
      ])
  }
}

extension Connection {
  /// Returns `ended` or `unknown` for a subscription that does not exist.
  fileprivate func fate(of handle: Handle) -> String {
    switch handle {
    case .name(let name): endedNames.contains(name) ? "ended" : "unknown"
    case .number(let number): number > 0 && number <= lastHandle ? "ended" : "unknown"
    }
  }
}

extension SourceProvider {
  /// Returns the durable value, which is `[]` or `{}` for an empty list or map; `nil` if there is
  /// none.
  func present(_ source: String) -> JSONText? {
    value(source) ?? (exists(source) ? collection(source)?.text : nil)
  }
}
