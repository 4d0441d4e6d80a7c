internal import Connections
internal import Facts
internal import Services
internal import Signals
internal import Wire

/// The durable readers in use, each held by one subscription, and their acknowledgements in this
/// turn.
final class LiveReaders {
  let service: ReadersService

  private var holders: [String: LogSubscription] = [:]

  /// The highest position that each reader has acknowledged in this turn, and its connection.
  private var acknowledged: [String: (seq: UInt64, by: Connection)] = [:]

  /// The connections whose answers wait for the events at the end of the turn.
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

  // MARK: Holders

  /// Whether a subscription holds the reader.
  func isHeld(_ name: String) -> Bool { holders[name] != nil }

  /// Returns the name of the reader that a subscription holds; `nil` if it holds none.
  func name(of subscription: LogSubscription) -> String? {
    holders.first { $0.value === subscription }?.key
  }

  /// Gives a reader to a subscription until it ends or another one takes the reader.
  func hold(_ name: String, _ subscription: LogSubscription) {
    close(name, "stolen")
    holders[name] = subscription
    subscription.onEnd = { [unowned self, unowned subscription] in
      if holders[name] === subscription { holders[name] = nil }
    }
  }

  /// Ends the subscription that holds a reader, with a reason.
  func close(_ name: String, _ reason: StaticString) {
    holders.removeValue(forKey: name)?.close(reason)
  }

  // MARK: Acknowledgements

  /// Returns the position of a reader, including acknowledgements of this turn.
  func position(of name: String) -> UInt64 {
    max(acknowledged[name]?.seq ?? 0, service.ledger.newest[name] ?? 0)
  }

  /// Notes an acknowledgement up to a position.
  ///
  /// The acknowledgements of a turn are recorded at its end, one event per reader.
  func acknowledge(
    _ name: String, upTo seq: UInt64, _ connection: Connection, _ interface: Interface
  ) {
    if waiting.isEmpty {
      // Retains the interface until the end of the turn: the role may get another one meanwhile.
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
