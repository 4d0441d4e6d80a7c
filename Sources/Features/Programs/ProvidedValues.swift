package import EventSourcing
package import JSON
internal import Wire

/// The events of services made of programs.
///
/// The stream is `services/NAME/…` of a value, and `services/NAME` of declarations and calls.
package enum ProvidedEvent: ServiceEvent, Codable, Equatable {
  case set(value: JSONText)
  case removed

  /// A program has declared the service.
  case provided(
    doc: String, methods: JSONText, sources: JSONText?, views: JSONText? = nil, uid: UInt32)

  /// The declaration is forgotten, with the queued calls.
  case forgotten

  /// A call waits for a provider; its position is its number.
  case called(method: String, params: JSONText, uid: UInt32, pid: Int32)

  /// A provider has answered a call with a value, or with an error.
  case answered(call: UInt64, value: JSONText?, error: String?)

  /// A call is not delivered any more, because no provider has answered it in so many deliveries.
  case parked(call: UInt64, reason: String, deliveries: Int)

  /// One parked call, or all of them for `nil`, is delivered again.
  case retried(call: UInt64?)

  package static var kinds: Set<String> {
    ["set", "removed", "provided", "forgotten", "called", "answered", "parked", "retried"]
  }
}

/// The values that programs keep, and their queued calls.
package struct ProvidedValues: ServiceState, Codable {
  /// A call that waits for its answer.
  package struct Waiting: Codable, Equatable, Sendable {
    package let method: String
    package let params: JSONText
    package let uid: UInt32
    package let pid: Int32

    /// Why it is parked; `nil` if it waits.
    package fileprivate(set) var parked: Parked?
  }

  /// The reason why a call is not delivered any more.
  package struct Parked: Codable, Equatable, Sendable {
    package let reason: String
    package let deliveries: Int

    /// The time in microseconds since 1970.
    package let since: Int64
  }

  private var values: [String: JSONText] = [:]

  /// The declarations, by stream.
  private var declarations: [String: ProvidedService.Declaration] = [:]

  /// The users who have declared them, by stream, and the services of each user.
  private var declarers: [String: UInt32] = [:]
  private var declaredBy: [UInt32: Set<String>] = [:]

  /// The queued calls of each service, by position.
  private var calls: [String: [UInt64: Waiting]] = [:]

  /// The positions of the parked calls, a subset of `calls`.
  private var parked: [String: Set<UInt64>] = [:]

  /// The number of queued calls of each user.
  private var queuedBy: [UInt32: Int] = [:]

  package init() {}

  package mutating func apply(_ event: ProvidedEvent, at place: EventContext) {
    switch event {
    case .set(let value): values[place.stream] = value
    case .removed: values[place.stream] = nil
    case .provided(let doc, let methods, let sources, let views, let uid):
      declarations[place.stream] = .init(
        doc: doc, methods: methods, sources: sources, views: views)
      setDeclarer(of: place.stream, uid)
    case .forgotten:
      for call in (calls.removeValue(forKey: place.stream) ?? [:]).values {
        count(-1, of: call.uid)
      }
      (declarations[place.stream], parked[place.stream]) = (nil, nil)
      setDeclarer(of: place.stream, nil)
    case .called(let method, let params, let uid, let pid):
      calls[place.stream, default: [:]][place.seq] = Waiting(
        method: method, params: params, uid: uid, pid: pid)
      count(1, of: uid)
    case .answered(let call, _, _):
      if let answered = calls[place.stream]?.removeValue(forKey: call) {
        count(-1, of: answered.uid)
      }
      if calls[place.stream]?.isEmpty == true { calls[place.stream] = nil }
      unpark(call, in: place.stream)
    case .parked(let call, let reason, let deliveries):
      guard calls[place.stream]?[call] != nil else { return }
      calls[place.stream]?[call]?.parked = Parked(
        reason: reason, deliveries: deliveries, since: place.time)
      parked[place.stream, default: []].insert(call)
    case .retried(let call):
      for call in call.map({ [$0] }) ?? Array(parked[place.stream] ?? []) {
        calls[place.stream]?[call]?.parked = nil
        unpark(call, in: place.stream)
      }
    }
  }

  private mutating func unpark(_ call: UInt64, in stream: String) {
    parked[stream]?.remove(call)
    if parked[stream]?.isEmpty == true { parked[stream] = nil }
  }

  private mutating func count(_ change: Int, of uid: UInt32) {
    let count = (queuedBy[uid] ?? 0) + change
    queuedBy[uid] = count > 0 ? count : nil
  }

  /// Returns the number of queued calls of a user, in all services.
  func count(queuedBy uid: UInt32) -> Int { queuedBy[uid] ?? 0 }

  /// Returns the positions of the queued calls of a service that are not parked, oldest first.
  func waitingCalls(of service: String) -> [UInt64] {
    (calls["services/\(service)"] ?? [:]).filter { $0.value.parked == nil }.keys.sorted()
  }

  /// Returns the positions of the parked calls of a service, oldest first.
  func parkedCalls(of service: String) -> [UInt64] {
    (parked["services/\(service)"] ?? []).sorted()
  }

  func parkedCount(of service: String) -> Int { parked["services/\(service)"]?.count ?? 0 }

  /// Returns a queued call; `nil` if it was answered.
  package func call(_ seq: UInt64, of service: String) -> Waiting? {
    calls["services/\(service)"]?[seq]
  }

  /// The names of the declared services.
  var declared: some Collection<String> {
    declarations.keys.lazy.map { String($0.dropFirst(Programs.name.utf8.count + 1)) }
  }

  func declaration(of service: String) -> ProvidedService.Declaration? {
    declarations["services/\(service)"]
  }

  /// Returns the user who has declared a service; `nil` if there is none.
  func declarer(of service: String) -> UInt32? { declarers["services/\(service)"] }

  /// Returns the names of the services that a user has declared.
  func services(declaredBy uid: UInt32) -> [String] {
    (declaredBy[uid] ?? []).map { String($0.dropFirst(Programs.name.utf8.count + 1)) }
  }

  private mutating func setDeclarer(of stream: String, _ uid: UInt32?) {
    if let last = declarers[stream] {
      declaredBy[last]?.remove(stream)
      if declaredBy[last]?.isEmpty == true { declaredBy[last] = nil }
    }
    declarers[stream] = uid
    if let uid { declaredBy[uid, default: []].insert(stream) }
  }

  package func count(of service: String) -> Int { calls["services/\(service)"]?.count ?? 0 }

  // MARK: Leases

  package static func removal(after event: ProvidedEvent, in stream: Stream) -> ProvidedEvent? {
    switch event {
    case .set, .removed: .removed
    case .provided, .forgotten, .called, .answered, .parked, .retried: nil
    }
  }

  package func has(toRemove removal: ProvidedEvent, in stream: Stream) -> Bool { has(stream.name) }

  // MARK: Sources

  package func value(of source: String) -> JSONText? {
    if let value = values[source] { return value }
    guard let declaration = declarations[source] else { return nil }
    var text = ByteBuffer()
    text.object {
      $0.member("doc", declaration.doc)
      let parked = parked[source] ?? []
      $0.member("queued", (calls[source]?.count ?? 0) - parked.count)
      guard !parked.isEmpty else { return }
      $0.array("parked") { text in
        for seq in parked.sorted().prefix(Self.maxListed) {
          guard let call = calls[source]?[seq], let reason = call.parked else { continue }
          text.separate()
          text.object {
            $0.member("call", seq)
            $0.member("method", call.method)
            $0.member("reason", reason.reason)
            $0.member("deliveries", reason.deliveries)
            $0.member("since", Timestamp(microseconds: reason.since).text)
          }
        }
      }
      $0.member("parked_count", parked.count)
    }
    return JSONText(trusted: text.string)
  }

  /// The most parked calls that a value lists.
  private static let maxListed = 32

  package func has(_ source: String) -> Bool {
    values[source] != nil || declarations[source] != nil
  }

  package var sources: some Sequence<String> { Array(values.keys) + Array(declarations.keys) }

  package static func sources(changedBy event: ProvidedEvent, at place: EventContext) -> [String] {
    [place.stream]
  }

  // MARK: Sizes

  private static let callBytes = 256

  package func size(of stream: Stream) -> Int {
    let calls = calls[stream.name]?.values.reduce(0) { $0 + Self.size(of: $1.params) } ?? 0
    let declaration = declarations[stream.name].map { Self.size(of: $0) } ?? 0
    return calls + declaration + (values[stream.name]?.text.utf8.count ?? 0)
  }

  package func growth(by event: ProvidedEvent, in stream: Stream) -> Int? {
    let value = values[stream.name]?.text.utf8.count ?? 0
    return switch event {
    case .set(let new): new.text.utf8.count - value
    case .removed: -value
    case .provided(let doc, let methods, let sources, let views, _):
      Self.size(of: .init(doc: doc, methods: methods, sources: sources, views: views))
        - (declarations[stream.name].map { Self.size(of: $0) } ?? 0)
    case .forgotten: -size(of: stream)
    case .called(_, let params, _, _): Self.size(of: params)
    case .parked, .retried: 0
    case .answered(let call, _, _):
      -(calls[stream.name]?[call].map { Self.size(of: $0.params) } ?? 0)
    }
  }

  /// The bytes for each byte of a declaration: it is also kept in the form in which values are checked
  /// against it.
  private static let declarationByte = 16

  private static func size(of declaration: ProvidedService.Declaration) -> Int {
    let bytes =
      declaration.doc.utf8.count + declaration.methods.text.utf8.count
      + (declaration.sources?.text.utf8.count ?? 0) + (declaration.views?.text.utf8.count ?? 0)
    return declarationByte * bytes
  }

  private static func size(of params: JSONText) -> Int { callBytes + params.text.utf8.count }
}
