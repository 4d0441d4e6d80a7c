internal import Configuration
internal import Connections
internal import EventSourcing
internal import JSON
internal import Wire

/// Offers durable readers, whose positions the journal keeps.
package func bindReaders(_ catalog: Catalog, to readers: LiveReaders) {
  let service = readers.service
  catalog.offer("Durable readers of events, and the position of each.", service.ledger)
  catalog.offerSources(
    of: service.ledger, [.init("readers/*", "The last acknowledged position.", .any)],
    exists: { SourceName.isSource($0, of: ReadersService.name) })

  catalog.command(
    "readers.remove", "Removes a durable reader, ending its subscription; returns its position.",
    NamedReader.self, writes: ["readers.removed"]
  ) { _, reader throws(ReaderError) in
    try service.remove(reader.name)
  }

  catalog.query(
    "ack", "Acknowledges all events up to a position, for a durable reader.", Ack.self,
    .members(.init("sub", .handle), .init("seq", .natural), .init("unacked", .natural)),
    kind: .command
  ) { context, call, ack throws(WireError) in
    try context.acknowledge(ack, readers, call)
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
}

extension CallContext {
  fileprivate func acknowledge(
    _ ack: Ack, _ readers: LiveReaders, _ call: Call
  ) throws(WireError) {
    guard let subscription = call.connection.subscription(ack.sub) else {
      let id =
        switch ack.sub {
        case .name(let name): name
        case .number(let number): "\(number)"
        }
      throw .notFound("subscription", id, didYouMean: nil)
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
