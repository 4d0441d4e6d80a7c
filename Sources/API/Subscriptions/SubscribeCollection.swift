internal import Connections
internal import EventSourcing
internal import JSON
internal import Model
internal import Signals
internal import Wire

extension CallContext {
  /// Subscribes a client to a list or a map.
  func subscribeCollection(
    _ subscribe: Subscribe, _ sources: SourceProvider, _ call: Call
  ) throws(WireError) {
    let name = subscribe.source
    if subscribe.pick != nil { throw .notPicked(name) }
    if subscribe.distinct != nil { throw .unusable("distinct", "distinct is for state") }
    let handle = try call.connection.reserveHandle(subscribe.sub, subscribe.bytes)
    let kind = sources.kind(of: name)
    let none: SourceCollection = kind == .map ? .map([:]) : .list([])
    let source = CollectionSource(
      name: name, elements: { sources.collection(name) ?? none },
      steps: sources.changes(name).compactMap { change in
        change.step.map { CollectionStep(seq: change.seq, change: $0) }
      })
    let subscription = CollectionSubscription(
      handle, to: source, at: host.durable, on: call.connection,
      everyMilliseconds: subscribe.minInterval?.milliseconds ?? 0)
    subscribe.describe(subscription)
    call.answer { buffer in
      buffer.object {
        writeHead(subscribe, handle, kind: kind, isJournaled: true, &$0)
        subscription.writeValue(&$0)
      }
    }
    call.connection.add(subscription, of: subscribe.source)
  }
}
