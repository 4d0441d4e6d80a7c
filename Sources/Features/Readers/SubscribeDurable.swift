package import API
internal import Configuration
package import Connections
internal import EventSourcing
internal import JSON
internal import Model
internal import Signals
package import Wire

extension ReaderHolders: DurableReaders {
  package func subscribe(
    _ context: CallContext, _ subscribe: Subscribe, as reader: String, _ call: Call
  ) throws(WireError) {
    try context.subscribeDurable(subscribe, reader, call, self)
  }
}

extension CallContext {
  private static let maxUnacked = 1000

  /// Subscribes a client to events as a durable reader, which resumes after its last
  /// acknowledgement.
  func subscribeDurable(
    _ subscribe: Subscribe, _ name: String, _ call: Call, _ readers: ReaderHolders
  ) throws(WireError) {
    try refuseValues(subscribe)
    _ = try showsOrigin(subscribe.who)
    guard role.mayWrite("readers/\(name)") else { throw access.notWritable("readers/\(name)") }
    let isShared = subscribe.share == true
    if !isShared { try subscribe.refuseShared() }
    if isShared, subscribe.steal != nil {
      throw .unusable("steal", "a shared reader has no holder: steal is for the others")
    }
    try checkHolder(of: name, readers, subscribe)
    try call.connection.checkHandle(subscribe.sub, subscribe.bytes)
    let ledger = readers.service.ledger
    if let position = ledger.committed[name] {
      return try attach(subscribe, name, readers, at: position, isNew: false, call)
    }
    guard ledger.pending[name] == nil else {
      return attachLater(subscribe, name, readers, isNew: false, call)
    }
    try open(subscribe, name, readers, call)
  }

  private func checkHolder(
    of name: String, _ readers: ReaderHolders, _ subscribe: Subscribe
  ) throws(WireError) {
    let newest = readers.service.ledger.pending
    if newest[name] != nil, (newest.shared(name) != nil) != (subscribe.share == true) {
      throw subscribe.share == true
        ? .unusable("share", "reader '\(name)' is not shared")
        : .unusable("share", "reader '\(name)' is shared: it needs share", "none")
    }
    guard subscribe.steal != true, readers.isHeld(name) else { return }
    throw WireError(
      .alreadyExists, "reader '\(name)' is in use",
      ["what": .string("reader"), "id": .string(name)])
  }

  /// Creates a reader at the start position that the client asks for.
  private func open(
    _ subscribe: Subscribe, _ name: String, _ readers: ReaderHolders, _ call: Call
  ) throws(WireError) {
    _ = try durableFilter(subscribe, call)
    try begin(subscribe, call) { [self] call, position in
      do throws(WireError) {
        try call.connection.checkHandle(subscribe.sub, subscribe.bytes)
      } catch {
        return call.refuse(error)
      }
      do throws(Refusal) {
        let position = position ?? host.durable
        _ = try host.perform(command("subscribe")) {
          // Another client may have created the reader meanwhile.
          if readers.service.ledger.pending[name] == nil {
            try readers.service.open(name, at: position, isShared: subscribe.share == true)
          }
          return nil
        }
        // Later requests of the client wait for this write: they may concern the reader, or take a
        // free slot.
        call.connection.recordWrite(upTo: host.last)
        attachLater(subscribe, name, readers, isNew: true, call)
      } catch {
        call.refuse(access.error(error), after: host.last)
      }
    }
  }

  /// Subscribes once the existence of the reader is durable.
  private func attachLater(
    _ subscribe: Subscribe, _ name: String, _ readers: ReaderHolders, isNew: Bool, _ call: Call
  ) {
    guard let call = call.later() else { return }
    if isNew { call.markBegun() }
    host.durability(of: host.last).answer(call, catalog) { [self] in
      do throws(WireError) {
        try rights.checkIsBound(call.connection, showing: "events")
        try checkHolder(of: name, readers, subscribe)
        guard let position = readers.service.ledger.committed[name] else {
          throw .notFound("reader", name, didYouMean: nil)
        }
        try attach(subscribe, name, readers, at: position, isNew: isNew, call)
      } catch {
        call.refuse(error)
      }
    }
  }

  private func attach(
    _ subscribe: Subscribe, _ name: String, _ readers: ReaderHolders, at position: UInt64,
    isNew: Bool, _ call: Call
  ) throws(WireError) {
    let handle = try call.connection.reserveHandle(subscribe.sub, subscribe.bytes)
    let filter = try durableFilter(subscribe, call)
    let passesGaps = try passesGaps(subscribe)
    guard subscribe.share != true else {
      return try join(subscribe, handle, name, readers, filter, at: position, isNew: isNew, call)
    }
    let begin = max(position, subscribe.resumed?.position ?? 0)
    // If there are too many to find, they are sent again.
    let unacknowledged =
      begin > position ? host.missedEvents(after: position, upTo: begin, filter) : []
    let start = unacknowledged == nil ? position : begin
    try check(start, mayBeGone: passesGaps)
    let subscription = LogSubscription(
      handle, to: eventSource(filter, withOrigin: try showsOrigin(subscribe.who)),
      where: filter.isWanted, after: start, on: call.connection, passesGaps: passesGaps,
      maxUnacknowledged: subscribe.maxUnacked?.count ?? Self.maxUnacked)
    subscribe.describe(subscription)
    if let resumed = subscribe.resumed {
      subscription.resume(
        isCaughtUp: resumed.isCaughtUp, unacknowledged: unacknowledged ?? [])
    }
    let delivered = readers.delivered(of: name, after: position)
    call.answer { buffer in
      buffer.object {
        writeEvents(handle, after: position, &$0)
        $0.member("durable", name)
        $0.member("new", isNew)
        $0.member("delivered", delivered)
      }
    }
    call.connection.add(subscription, of: "events")
    readers.hold(name, subscription)
  }

  /// Adds a worker to a shared reader.
  private func join(
    _ subscribe: Subscribe, _ handle: Handle, _ name: String, _ readers: ReaderHolders,
    _ filter: EventFilter, at position: UInt64, isNew: Bool, _ call: Call
  ) throws(WireError) {
    let withOrigin = try showsOrigin(subscribe.who)
    let reader = readers.shared(name, self)
    let inOrder = subscribe.inOrder == true
    let key = "\(withOrigin) \(inOrder) \(filter.sharedKey)\(rights.audience)"
    guard !reader.hasWorkers || reader.key == key else {
      throw WireError(
        .alreadyExists,
        "reader '\(name)' has workers with another filter, role, who or in_order",
        ["what": .string("worker"), "id": .string(name)])
    }
    let worker = WorkSubscription(
      handle, on: call.connection, max: subscribe.maxUnacked?.count ?? 1)
    subscribe.describe(worker)
    call.answer { buffer in
      buffer.object {
        writeEvents(handle, after: position, &$0)
        $0.member("durable", name)
        $0.member("new", isNew)
        $0.member("share", true)
      }
    }
    call.connection.add(worker, of: "events")
    let terms = SharedReader.Terms(
      ackWait: subscribe.ackWait?.milliseconds ?? 30_000,
      maxDeliveries: subscribe.maxDeliveries?.count ?? 5)
    let source = eventSource(filter, withOrigin: withOrigin)
    reader.inOrder = inOrder
    readers.add(worker, to: reader, terms, source, where: filter.isWanted, key)
  }

  /// Returns the filter of a durable reader.
  ///
  /// Events of readers are excluded unless the client asks for them, because each acknowledgement
  /// would cause another.
  private func durableFilter(
    _ subscribe: Subscribe, _ call: Call
  ) throws(WireError) -> EventFilter {
    var filter = try subscribe.filter?.eventFilter(call.connection.limits) ?? EventFilter()
    let isAskedFor = subscribe.filter?.names(ReadersService.name) ?? false
    if !isAskedFor { filter.without = ReadersService.name }
    _ = try showsOrigin(nil, filter)
    return rights.readable(filter)
  }
}

extension Filter {
  /// Whether a pattern of the filter begins with the name of a service.
  fileprivate func names(_ service: String) -> Bool {
    (types ?? []).contains { Pattern($0, separator: ".")?.first == service }
      || (streams ?? []).contains { Pattern($0)?.first == service }
  }
}
