package import API
internal import Configuration
internal import Connections
internal import EventSourcing
internal import JSON
package import Signals
internal import Wire

/// Offers durable readers, whose positions the journal keeps.
package func bindReaders(_ catalog: Catalog, to readers: ReaderHolders) {
  let service = readers.service
  catalog.offer("Durable readers of events, and the position of each.", service.ledger)
  catalog.offerSources(
    of: service.ledger,
    [.init("readers/*", "The last acknowledged position; 'get' adds what waits now.", .any)],
    exists: { SourceName.isSource($0, of: ReadersService.name) },
    now: { readers.now(of: $0) })

  catalog.command(
    "readers.remove", "Removes a durable reader, ending its subscription; returns its position.",
    NamedReader.self, writes: ["readers.removed"]
  ) { _, reader throws(ReaderError) in
    try service.remove(reader.name)
  }

  catalog.command(
    "readers.retry", "Delivers parked events of a shared reader again; returns how many.",
    ParkedEvent.self, writes: ["readers.retried"], errors: ["not_parked"]
  ) { _, parked throws(ReaderError) in
    try service.retry(parked.name, parked.seq?.seq)
  }

  catalog.command(
    "readers.drop", "Drops parked events of a shared reader; returns how many.",
    ParkedEvent.self, writes: ["readers.dropped"], errors: ["not_parked"]
  ) { _, parked throws(ReaderError) in
    try service.drop(parked.name, parked.seq?.seq)
  }
  bindAcknowledgements(catalog, to: readers)
  catalog.restore(.work) { context, items, _ throws(CannotRestore) in
    for item in items {
      guard let handle = Handle(encoded: item.key),
        let work: WorkSubscription.Work = try? context.catalog.decoder.decode(from: item.text)
      else { throw CannotRestore(unreadable: item) }
      // A subscription that cannot be restored has ended with `fail`.
      guard let worker = context.connection.subscription(handle) as? WorkSubscription else {
        continue
      }
      readers.resume(worker, work)
    }
  }
}

private func bindAcknowledgements(_ catalog: Catalog, to readers: ReaderHolders) {
  catalog.query(
    "ack", "Acknowledges all events up to a position, or one event of a shared reader.", Ack.self,
    .members(.init("sub", .handle), .init("seq", .natural), .init("unacked", .natural)),
    kind: .command,
    site: .ofSubscription, reader: Ack.read
  ) { context, call, ack throws(WireError) in
    try context.acknowledge(ack, readers, call)
  }

  catalog.query(
    "nack", "Gives an event of a shared reader back; it is delivered again, or parked.",
    Nack.self,
    .members(
      .init("sub", .handle), .init("seq", .natural), .init("unacked", .natural),
      .optional("parked", .bool)),
    kind: .command,
    site: .ofSubscription
  ) { context, call, nack throws(WireError) in
    let (worker, reader) = try context.worker(nack.sub, nack.seq.seq, readers)
    let isParked = reader.giveBack(
      nack.seq.seq, by: worker, after: nack.delay_ms?.milliseconds ?? 0,
      reason: nack.reason ?? "given back", hasBegun: nack.begun ?? true)
    call.answer(after: context.host.last) { buffer in
      buffer.object {
        $0.writeAcknowledged(nack.sub, nack.seq.seq, worker)
        if isParked { $0.member("parked", true) }
      }
    }
  }

  catalog.query(
    "working", "Starts ack_wait_ms of an event of a shared reader again.", Ack.self,
    .members(.init("sub", .handle), .init("seq", .natural), .init("unacked", .natural)),
    kind: .command,
    site: .ofSubscription
  ) { context, call, working throws(WireError) in
    let (worker, reader) = try context.worker(working.sub, working.seq.seq, readers)
    reader.extend(working.seq.seq, by: worker)
    call.answer { buffer in
      buffer.object { $0.writeAcknowledged(working.sub, working.seq.seq, worker) }
    }
  }

  catalog.query(
    "drain", "The worker of a shared reader gets no more events, and finishes those it has.",
    Drain.self, .members(.init("sub", .handle), .init("unacked", .natural)), kind: .command,
    site: .ofSubscription
  ) { context, call, drain throws(WireError) in
    let worker = try context.worker(drain.sub)
    worker.isDraining = true
    call.answer { buffer in
      buffer.object {
        $0.member("sub", drain.sub)
        $0.member("unacked", worker.open.count)
      }
    }
  }
}

extension ReaderHolders {
  /// Offers what the readers have before them now, as a source of the daemon.
  fileprivate func offerFigures(in catalog: Catalog, on scheduler: any Scheduler) {
    catalog.offerSource(
      "daemon/readers", "What each durable reader has before it, and its workers.",
      PolledValue(every: 1, on: scheduler) { [self] in figures }, isOptional: true)
  }
}

extension Feature {
  package static func readers(_ readers: ReaderHolders, on scheduler: any Scheduler) -> Feature {
    Feature {
      bindReaders($0, to: readers)
      readers.offerFigures(in: $0, on: scheduler)
    }
  }
}

private struct ParkedEvent: DocumentedParameters, SourceParameters {
  let name: String
  let seq: Position?

  var source: String { "\(ReadersService.name)/\(name)" }

  static let docs = [
    "name": "The name of the reader.", "seq": "The position of the event; left out: all.",
  ]
}

private struct Drain: DocumentedParameters {
  let sub: Handle

  static let docs = ["sub": "The handle of the subscription."]
}

private struct Nack: DocumentedParameters {
  let sub: Handle
  let seq: Position
  let delay_ms: DeliveryDelay?
  let reason: String?
  let begun: Bool?

  static let docs = [
    "sub": "The handle of the subscription.",
    "seq": "The position of an event that was sent and not acknowledged.",
    "delay_ms": "The pause before it is delivered again, an hour at most; left out: none.",
    "reason": "Why; shown if it is parked.",
    "begun": "false: the worker has not begun, so the delivery does not count.",
  ]
}

extension ByteBuffer {
  fileprivate mutating func writeAcknowledged(
    _ sub: Handle, _ seq: UInt64, _ worker: WorkSubscription
  ) {
    member("sub", sub)
    member("seq", seq)
    member("unacked", worker.open.count)
  }
}

private struct NamedReader: DocumentedParameters, SourceParameters {
  let name: String

  var source: String { "\(ReadersService.name)/\(name)" }

  static let docs = ["name": "The name of the reader."]
}

private struct Ack: DocumentedParameters {
  let sub: Handle
  let seq: Position

  static let docs = [
    "sub": "The handle of the subscription.",
    "seq": "The position of an event, mark or caught_up that was sent, or any before it.",
  ]

  static func read(
    _ parameters: RequestParameters, _ line: Span<UInt8>, _ context: CallContext
  ) throws(NotPlain) -> Ack {
    guard parameters.count == 2, let seq = parameters.natural("seq", at: 1, in: line) else {
      throw NotPlain()
    }
    if let number = parameters.natural("sub", at: 0, in: line) {
      return Ack(sub: .number(Int(number)), seq: Position(seq))
    }
    guard let name = parameters.string("sub", at: 0, in: line), let sub = Handle(name: name) else {
      throw NotPlain()
    }
    return Ack(sub: sub, seq: Position(seq))
  }
}

extension CallContext {
  private func subscription(_ sub: Handle) throws(WireError) -> Subscription {
    if let subscription = connection.subscription(sub) { return subscription }
    let id =
      switch sub {
      case .name(let name): name
      case .number(let number): "\(number)"
      }
    throw .notFound("subscription", id, didYouMean: nil)
  }

  /// Returns the subscription of a worker, and the shared reader from which it has an event.
  fileprivate func worker(_ sub: Handle) throws(WireError) -> WorkSubscription {
    guard let worker = try subscription(sub) as? WorkSubscription else {
      throw WireError(
        JSONDecodingError(path: "/sub", expected: "a shared reader", got: "another subscription"))
    }
    return worker
  }

  fileprivate func worker(
    _ sub: Handle, _ seq: UInt64, _ readers: ReaderHolders
  ) throws(WireError) -> (WorkSubscription, SharedReader) {
    let worker = try worker(sub)
    guard let reader = readers.reader(of: worker, with: seq) else {
      // Finished, given to another worker, or never sent.
      throw .notFound("delivery", "\(seq)", didYouMean: nil)
    }
    guard role.mayWrite("readers/\(reader.name)") else {
      throw access.notWritable("readers/\(reader.name)")
    }
    return (worker, reader)
  }

  fileprivate func acknowledge(
    _ ack: Ack, _ readers: ReaderHolders, _ call: Call
  ) throws(WireError) {
    let subscription = try subscription(ack.sub)
    if subscription is WorkSubscription {
      let (worker, reader) = try worker(ack.sub, ack.seq.seq, readers)
      do throws(Refusal) {
        try reader.finish(ack.seq.seq, by: worker, command("ack"))
      } catch {
        throw access.error(error)
      }
      return call.answer(after: host.last) { buffer in
        buffer.object { $0.writeAcknowledged(ack.sub, ack.seq.seq, worker) }
      }
    }
    guard let log = subscription as? LogSubscription, let name = readers.name(of: log) else {
      throw WireError(
        JSONDecodingError(path: "/sub", expected: "a durable reader", got: "another subscription"))
    }
    // The client's role may have changed since the subscription began.
    guard role.mayWrite("readers/\(name)") else { throw access.notWritable("readers/\(name)") }
    let seq = ack.seq.seq
    guard seq <= log.lastTold else {
      throw WireError(
        JSONDecodingError(
          path: "/seq", expected: "at most \(log.lastTold), the last that was sent",
          got: "\(seq)"))
    }
    log.acknowledge(upTo: seq)
    readers.acknowledge(name, upTo: seq, self)
    call.answerAtTurnEnd { buffer in
      buffer.object {
        $0.member("sub", ack.sub)
        $0.member("seq", readers.position(of: name))
        $0.member("unacked", log.unacknowledgedCount)
      }
    }
  }
}
