internal import Connections
internal import Facts
internal import Services
internal import Signals
internal import Wire

/// The durable readers that clients hold, one each, and what they have acknowledged in this turn.
final class LiveReaders {
  let service: ReadersService

  private var holders: [String: LogSubscription] = [:]

  /// Up to where each reader has done by what came in this turn, and of whom that is.
  private var acknowledged: [String: (seq: UInt64, by: Connection)] = [:]

  /// Those whose answers wait for what is recorded at the end of the turn.
  private var waiting: [Connection] = []

  private let bag = DisposeBag()

  init(_ service: ReadersService) {
    self.service = service
    let prefix = ReadersService.name + "/"
    service.ledger.changes(matching: .everything).observeNext { [unowned self] change in
      if change.isGone { close(String(change.source.dropFirst(prefix.count)), "forgotten") }
    }
    .dispose(in: bag)
  }

  // MARK: Who holds them

  /// Whether somebody holds a reader.
  func isHeld(_ name: String) -> Bool { holders[name] != nil }

  /// The reader that a subscription holds; `nil` when it holds none, not any more either.
  func name(of subscription: LogSubscription) -> String? {
    holders.first { $0.value === subscription }?.key
  }

  /// A subscription holds a reader until it ends, or another one takes it.
  func hold(_ name: String, _ subscription: LogSubscription) {
    close(name, "stolen")
    holders[name] = subscription
    subscription.onEnd = { [unowned self, unowned subscription] in
      if holders[name] === subscription { holders[name] = nil }
    }
  }

  /// Ends the subscription that holds a reader, and says why.
  func close(_ name: String, _ reason: StaticString) {
    holders.removeValue(forKey: name)?.close(reason)
  }

  // MARK: What they have done with

  /// The position of a reader with all that it has acknowledged.
  func position(of name: String) -> UInt64 {
    max(acknowledged[name]?.seq ?? 0, service.ledger.newest[name] ?? 0)
  }

  /// Notes that a reader has done with everything up to a position: all that comes in a turn is
  /// recorded at its end as one event.
  func acknowledge(
    _ name: String, upTo seq: UInt64, _ connection: Connection, _ interface: Interface
  ) {
    if waiting.isEmpty {
      // Held until then: the role may get another interface in this turn.
      connection.hub.atTurnEnd { [self, interface] in record(interface) }
    }
    if !waiting.contains(where: { $0 === connection }) { waiting.append(connection) }
    if seq > position(of: name) { acknowledged[name] = (seq, connection) }
  }

  private func record(_ interface: Interface) {
    let (acknowledged, waiting) = (acknowledged, waiting)
    self.acknowledged = [:]
    self.waiting = []
    do throws(Refusal) {
      for (name, (seq, connection)) in acknowledged.sorted(by: { $0.key < $1.key })
      where service.ledger.newest[name] != nil {
        let peer = connection.peer
        let command = Command(method: "ack", caller: Caller(uid: peer.uid, pid: peer.pid))
        _ = try interface.host.perform(command) {
          try service.acknowledge(name, upTo: seq)
          return nil
        }
      }
      for connection in waiting { connection.settle(at: interface.host.last) }
    } catch {
      let error = interface.error(error)
      let position = interface.host.last
      for connection in waiting { connection.refuseUndecided(at: position, error) }
    }
  }
}
