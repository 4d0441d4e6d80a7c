internal import Connections
internal import EventSourcing
internal import Facts
internal import JSON
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
    let handle = try call.connection.reserveHandle(subscribe.sub)
    let kind = sources.kind(of: name)
    let none: SourceCollection = kind == .map ? .map([:]) : .list([])
    let source = CollectionSource(
      name: name, elements: { sources.collection(name) ?? none },
      steps: sources.changes(name).compactMap(CollectionStep.init))
    let subscription = CollectionSubscription(
      handle, to: source, at: host.durable, on: call.connection,
      everyMilliseconds: subscribe.min_interval_ms?.milliseconds ?? 0)
    call.answer { buffer in
      writeHead(subscribe, handle, kind: kind, isJournaled: true, &buffer)
      subscription.writeValue(&buffer)
      buffer.append("}")
    }
    call.connection.add(subscription, of: subscribe.source)
  }
}

extension CollectionStep {
  fileprivate init?(_ change: SourceChange) {
    guard let step = change.step else { return nil }
    var buffer = ByteBuffer()
    step.write(to: &buffer)
    self.init(seq: change.seq, text: buffer.string)
  }
}

extension CollectionChange {
  /// Appends `{"op":…}`.
  func write(to buffer: inout ByteBuffer) {
    switch self {
    case .insert(let at, let value):
      buffer.append(#"{"op":"insert","at":"#)
      buffer.append(integer: at)
      write(value, to: &buffer)
    case .update(let at, let value):
      buffer.append(#"{"op":"update","at":"#)
      buffer.append(integer: at)
      write(value, to: &buffer)
    case .merge(let at, let value):
      buffer.append(#"{"op":"merge","at":"#)
      buffer.append(integer: at)
      write(value, to: &buffer)
    case .remove(let at):
      buffer.append(#"{"op":"remove","at":"#)
      buffer.append(integer: at)
    case .move(let from, let to):
      buffer.append(#"{"op":"move","from":"#)
      buffer.append(integer: from)
      buffer.append(#","to":"#)
      buffer.append(integer: to)
    case .put(let key, let value):
      buffer.append(#"{"op":"put","key":"#)
      buffer.append(quoted: key)
      write(value, to: &buffer)
    case .delete(let key):
      buffer.append(#"{"op":"del","key":"#)
      buffer.append(quoted: key)
    case .reset(let value):
      buffer.append(#"{"op":"reset""#)
      write(value, to: &buffer)
    }
    buffer.append("}")
  }

  private func write(_ value: JSONText, to buffer: inout ByteBuffer) {
    buffer.append(#","value":"#)
    buffer.append(value.text)
  }
}
