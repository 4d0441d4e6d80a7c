internal import Connections
package import EventSourcing
internal import Facts
internal import Signals
internal import Wire

/// The durable readers in use, each held by one subscription, and their acknowledgements in this
/// turn.
package final class LiveReaders {
  let service: ReadersService

  private var holders: [String: LogSubscription] = [:]

  /// The highest position that each reader has acknowledged in this turn.
  private var acknowledged: [String: UInt64] = [:]

  /// The connections whose answers wait for the events at the end of the turn, with the highest
  /// position that each has acknowledged for each reader.
  private var waiting: [(context: CallContext, positions: [String: UInt64])] = []

  private let bag = DisposeBag()

  package init(_ service: ReadersService) {
    self.service = service
    let prefix = ReadersService.name + "/"
    service.ledger.changes(matching: .everything).observeNext { [unowned self] change in
      if change.isGone { close(String(change.source.dropFirst(prefix.count)), "removed") }
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
  func close(_ name: String, _ reason: String) {
    holders.removeValue(forKey: name)?.close(reason)
  }

  // MARK: Acknowledgements

  /// Returns the position of a reader, including acknowledgements of this turn.
  func position(of name: String) -> UInt64 {
    max(acknowledged[name] ?? 0, service.ledger.newest[name] ?? 0)
  }

  /// Notes an acknowledgement up to a position.
  ///
  /// The acknowledgements of a turn are recorded at its end, for each connection one event per
  /// reader.
  func acknowledge(
    _ name: String, upTo seq: UInt64, _ context: CallContext
  ) {
    let connection = context.connection
    if waiting.isEmpty { connection.context.atTurnEnd { [self] in record() } }
    let place = waiting.firstIndex { $0.context.connection === connection } ?? waiting.count
    if place == waiting.count { waiting.append((context, [:])) }
    waiting[place].positions[name] = max(waiting[place].positions[name] ?? 0, seq)
    acknowledged[name] = max(acknowledged[name] ?? 0, seq)
  }

  private func record() {
    let waiting = waiting
    self.acknowledged = [:]
    self.waiting = []
    for (context, positions) in waiting {
      do throws(Refusal) {
        try record(positions, of: context)
        context.connection.settle(at: context.host.last)
      } catch {
        context.connection.refuseUndecided(at: context.host.last, context.access.error(error))
      }
    }
  }

  /// Records the acknowledgements of a connection: all of them or none, because their answers are
  /// replaced together.
  private func record(
    _ positions: [String: UInt64], of context: CallContext
  ) throws(Refusal) {
    let ledger = service.ledger
    let new = positions.sorted { $0.key < $1.key }
      .filter { name, seq in ledger.newest[name].map { $0 < seq } ?? false }
    guard !new.isEmpty else { return }
    _ = try context.host.perform(Command(method: "ack", caller: context.caller)) {
      for (name, seq) in new { try service.acknowledge(name, upTo: seq) }
      return nil
    }
  }
}
