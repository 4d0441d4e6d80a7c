internal import Connections
internal import EventSourcing
internal import JSON
internal import Signals
internal import Wire

extension Interface {
  /// Subscribes a client to a list or a map.
  func subscribeCollection(
    _ subscribe: Subscribe, _ sources: SourceProvider, _ call: Call
  ) throws(WireError) {
    let name = subscribe.source
    if subscribe.pick != nil { throw .notPicked(name) }
    if subscribe.distinct != nil { throw .unusable("distinct", "distinct is for state") }
    let handle = try call.connection.reserveHandle(subscribe.sub)
    let kind: CollectionSource.Kind = sources.kind(of: name) == .list ? .list : .map
    let source = CollectionSource(
      name: name, kind: kind, elements: { sources.collection(name)?.elements ?? .list([]) },
      steps: sources.changes(name).compactMap { change in
        change.step.map { CollectionStep(seq: change.seq, change: $0) }
      })
    let subscription = CollectionSubscription(
      handle, to: source, at: host.durable, on: call.connection,
      everyMilliseconds: subscribe.min_interval_ms?.milliseconds ?? 0)
    call.answer { buffer in
      writeHead(subscribe, handle, kind: sources.kind(of: name), isJournaled: true, &buffer)
      subscription.writeValue(&buffer)
      buffer.append("}")
    }
    call.connection.add(subscription, of: subscribe.source)
  }
}

extension SourceCollection {
  /// The elements; those of a map are sorted by key.
  fileprivate var elements: CollectionElements {
    switch self {
    case .list(let elements): .list(elements)
    case .map(let values): .map(values.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
    }
  }
}
