internal import Connections
internal import EventSourcing
internal import JSON
internal import Model
internal import Wire

/// A subscription as it survives a restart.
struct HandoverSubscription {
  /// The parameters of `subscribe`.
  let parameters: JSONObject

  /// The durable position when the subscription was made: it has no change before it.
  let begun: UInt64

  init?(_ text: JSONText) {
    guard case .object(let object) = text.value, case .object(let parameters)? = object["params"],
      case .number(let begun)? = object["at"], let begun = begun.int64, begun >= 0
    else { return nil }
    (self.parameters, self.begun) = (parameters, UInt64(begun))
  }

  /// Returns a subscription as JSON.
  static func text(_ parameters: JSONText, at position: UInt64) -> JSONText {
    JSONText(members: ["at": JSONText(position), "params": parameters])
  }
}

/// The place where a restored subscription goes on.
package struct ResumedSubscription {
  /// The position up to which the client has everything; 0 if it must get the present value.
  package let position: UInt64
  package let isCaughtUp: Bool
}

/// Offers the way to restore subscriptions.
func bindRestoredSubscriptions(_ catalog: Catalog, _ readers: (any DurableReaders)?) {
  catalog.restore(.subscription) { context, items, place throws(CannotRestore) in
    for item in items {
      guard let handle = Handle(encoded: item.key), let kept = HandoverSubscription(item.text)
      else {
        throw CannotRestore(unreadable: item)
      }
      do throws(WireError) {
        try context.restoreSubscription(handle, kept, item, place, readers)
      } catch {
        context.connection.fail(subscription: handle, error)
      }
    }
  }
}

extension Handle {
  /// Reads a handle that was kept as JSON.
  package init?(encoded text: String) {
    switch JSONText(trusted: text).value {
    case .string(let name): self.init(name: name)
    case .number(let number):
      guard let number = number.int64 else { return nil }
      self = .number(Int(number))
    default: return nil
    }
  }
}

extension CallContext {
  fileprivate func restoreSubscription(
    _ handle: Handle, _ kept: HandoverSubscription, _ item: HandoverItem, _ place: HandoverSlot,
    _ readers: (any DurableReaders)?
  ) throws(WireError) {
    let cursor = place.cursor(of: item.key)
    let position = cursor?.position ?? max(place.kept.shown, kept.begun)
    var parameters = kept.parameters
    parameters["sub"] = handle.text.value
    parameters["epoch"] = nil
    parameters["steal"] = nil
    let isLog = parameters["source"] == .string("events") || parameters["mode"] != nil
    parameters["from"] =
      isLog && parameters["durable"] == nil
      ? .object(["after": .number(JSONNumber(position))]) : nil
    var subscribe: Subscribe = try decode(JSONValue.object(parameters).text, [])
    subscribe.terms = item.text
    subscribe.resumed = ResumedSubscription(
      position: position, isCaughtUp: cursor?.isCaughtUp ?? true)
    do {
      try self.subscribe(subscribe, Call(of: connection), readers)
    } catch {
      throw access.error(error)
    }
    guard let subscription = connection.subscription(handle) else {
      throw .notFound("source", subscribe.source)
    }
    try resume(subscription, subscribe, place)
  }

  private func resume(
    _ subscription: Subscription, _ subscribe: Subscribe, _ place: HandoverSlot
  ) throws(WireError) {
    guard let resumed = subscribe.resumed else { return }
    switch subscription {
    case let log as LogSubscription where subscribe.durable == nil:
      log.resume(isCaughtUp: resumed.isCaughtUp, unacknowledged: [])
    case let state as StateSubscription:
      try resume(state, subscribe, after: resumed.position, place)
    case let collection as CollectionSubscription:
      guard let changes = changes(of: subscribe.source, after: resumed.position, place) else {
        throw .seqExpired(first: host.first, last: host.durable)
      }
      collection.resume(
        after: resumed.position, missing: changes.count, last: changes.last?.seq ?? 0)
    case let pattern as PatternSubscription:
      try resume(pattern, subscribe, after: resumed.position, place)
    default: break
    }
  }

  private func resume(
    _ state: StateSubscription, _ subscribe: Subscribe, after position: UInt64,
    _ place: HandoverSlot
  ) throws(WireError) {
    let source = subscribe.source
    guard rights.sources(of: source)?.isJournaled(source) == true else { return state.sendAgain() }
    guard let changes = changes(of: source, after: position, place) else {
      throw .seqExpired(first: host.first, last: host.durable)
    }
    guard let last = changes.last else { return }
    let former = host.missedValue(of: source, at: position).value
    state.resume(
      after: position,
      with: subscribe.pick.map { former.flatMap($0.pointer.find) } ?? former,
      missing: changes.count, last: last.seq)
  }

  private func resume(
    _ pattern: PatternSubscription, _ subscribe: Subscribe, after position: UInt64,
    _ place: HandoverSlot
  ) throws(WireError) {
    guard let sources = Pattern(subscribe.source) else { return }
    let isShown = rights.readable(sources)
    var missed: [SourceChange] = []
    for (service, provider) in rights.services {
      guard let provider, sources.first == nil || sources.first == service.name else { continue }
      guard provider.isJournaled(sources) else {
        // What has changed is not known.
        let present = try names(of: sources, in: provider)
        let gone = place.restoration.formerNames.filter {
          provider.exists($0) && isShown($0) && !present.contains($0)
        }
        missed += (present + gone).map {
          SourceChange(source: $0, seq: 0, value: provider.value($0))
        }
        continue
      }
      guard let changes = place.restoration.changes(in: service.name, after: position) else {
        throw .seqExpired(first: host.first, last: host.durable)
      }
      // With a cursor, earlier changes of a source may be unsent too: each was followed by a later one.
      let isBeforeKnown = place.cursor(of: pattern.handle.text.text) == nil
      for (source, changes) in changes where isShown(source) {
        missed += whole(changes, of: source, after: isBeforeKnown ? position : nil, subscribe)
      }
    }
    for change in missed.sorted(by: { ($0.seq, $0.source) < ($1.seq, $1.source) }) {
      pattern.receive(change)
    }
  }

  /// Returns the names of the sources of a pattern that have a value.
  private func names(
    of pattern: Pattern, in provider: SourceProvider
  ) throws(WireError) -> Set<String> {
    var names: Set<String> = []
    var place = SearchPlace()
    do throws(NameIndex.TooVain) {
      try provider.search(pattern, [], &place) { name in
        if provider.value(name) != nil { names.insert(name) }
        return true
      }
    } catch {
      throw .tooExpensive("pattern", NameIndex.maxVain + 1, max: NameIndex.maxVain)
    }
    return names
  }

  /// Returns the changes of a source after a position; `nil` if they are not known.
  private func changes(
    of source: String, after position: UInt64, _ place: HandoverSlot
  ) -> [SourceChange]? {
    guard let service = rights.service(of: source)?.name else { return nil }
    guard let changes = place.restoration.changes(in: service, after: position) else { return nil }
    return changes[source] ?? []
  }

  /// Returns changes with the values before them, as the subscription would have received them.
  ///
  /// - Parameter position: The position whose value the client has; `nil` if that is not known.
  private func whole(
    _ changes: [SourceChange], of source: String, after position: UInt64?, _ subscribe: Subscribe
  ) -> [SourceChange] {
    guard changes.allSatisfy({ $0.step == nil }) else {
      return position == nil ? changes.prefix(1).map(\.fromUnknown) + changes.dropFirst() : changes
    }
    var before = position.flatMap { host.missedValue(of: source, at: $0).value }
    return changes.enumerated().map { place, change in
      defer { before = change.value }
      let whole = SourceChange(
        source: source, seq: change.seq, value: change.value, before: before)
      let shown = subscribe.pick.map { whole.picking($0.pointer.find) } ?? whole
      return place == 0 && position == nil ? shown.fromUnknown : shown
    }
  }
}
