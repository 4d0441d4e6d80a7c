internal import API
internal import Connections
internal import EventSourcing
internal import JSON
internal import Model
internal import Signals
internal import Wire

/// The durable readers in use, each held by one subscription, and their acknowledgements in this
/// turn.
package final class ReaderHolders {
  let service: ReadersService

  private var holders: [String: LogSubscription] = [:]

  /// The last event of each reader that was sent to a former holder, and not acknowledged by it, since
  /// the start.
  private var delivered: [String: UInt64] = [:]

  /// The shared readers that have had workers since the start.
  private var shared: [String: SharedReader] = [:]

  /// The shared reader of each worker.
  private var readers: [ObjectIdentifier: SharedReader] = [:]

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
      guard change.isGone else { return }
      let name = String(change.source.dropFirst(prefix.count))
      close(name, "removed")
      delivered[name] = nil
      shared.removeValue(forKey: name)?.close("removed")
    }
    .dispose(in: bag)
    service.ledger.happened.observeNext { [unowned self] event, place in
      guard case .retried(let seqs) = event else { return }
      shared[String(place.stream.dropFirst(prefix.count))]?.retry(seqs)
    }
    .dispose(in: bag)
    service.ledger.undone.observeNext { [unowned self] in
      for reader in shared.values { reader.goBack() }
    }
    .dispose(in: bag)
  }

  // MARK: Workers

  /// Returns the shared reader of a name.
  func shared(_ name: String, _ context: CallContext) -> SharedReader {
    if let reader = shared[name] { return reader }
    let scheduler = context.connection.context.scheduler
    let reader = SharedReader(name, service, context.host, scheduler)
    shared[name] = reader
    return reader
  }

  /// Returns the shared reader that a worker works for, if it has an event.
  func reader(of worker: WorkSubscription, with seq: UInt64) -> SharedReader? {
    readers[ObjectIdentifier(worker)].flatMap { $0.has(worker, seq) ? $0 : nil }
  }

  /// Lets a subscription work for a shared reader until it ends.
  func add(
    _ worker: WorkSubscription, to reader: SharedReader, _ terms: SharedReader.Terms,
    _ source: LogSource, where isWanted: ((LogEntry) -> Bool)?, _ key: String
  ) {
    readers[ObjectIdentifier(worker)] = reader
    worker.onEnd = { [unowned self, unowned worker] in
      readers[ObjectIdentifier(worker)]?.remove(worker)
      readers[ObjectIdentifier(worker)] = nil
    }
    reader.add(worker, terms, source, where: isWanted, key)
  }

  /// Gives a worker the events back that it had with an earlier daemon.
  func resume(_ worker: WorkSubscription, _ work: WorkSubscription.Work) {
    worker.isDraining = work.isDraining
    for event in work.events { readers[ObjectIdentifier(worker)]?.resume(event, by: worker) }
  }

  // MARK: Figures

  /// The figures of all readers, by name; at most 1000.
  package var figures: [ReaderFigures] {
    let readers = service.ledger.committed
    return readers.names.prefix(1000).map { figures(of: $0, in: readers) }
  }

  /// Returns the figures of the moment of the source `readers/NAME`; `nil` if there is no such reader, or
  /// another daemon knows them.
  func now(of source: String) -> JSONText? {
    let name = String(source.dropFirst(ReadersService.name.utf8.count + 1))
    let readers = service.ledger.committed
    return readers[name] == nil || !service.isActive ? nil : figures(of: name, in: readers).now
  }

  private func figures(of name: String, in readers: Readers) -> ReaderFigures {
    ReaderFigures(
      name, readers, shared[name], holders[name], upTo: service.lastNews,
      isActive: service.isActive)
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
      if let last = subscription.lastUnacknowledged, service.ledger.pending[name] != nil {
        delivered[name] = max(delivered[name] ?? 0, last)
      }
      if holders[name] === subscription { holders[name] = nil }
    }
  }

  /// Returns the last event after the reader's position that was sent to an earlier holder, who may have
  /// processed the events up to it; `nil` if none was sent since the start.
  func delivered(of name: String, after position: UInt64) -> UInt64? {
    let last = max(delivered[name] ?? 0, holders[name]?.lastUnacknowledged ?? 0)
    return last > position ? last : nil
  }

  /// Ends the subscription that holds a reader, with a reason.
  func close(_ name: String, _ reason: String) {
    holders.removeValue(forKey: name)?.close(reason)
  }

  // MARK: Acknowledgements

  /// Returns the position of a reader, including acknowledgements of this turn.
  func position(of name: String) -> UInt64 {
    max(acknowledged[name] ?? 0, service.ledger.pending[name] ?? 0)
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
        context.connection.decide(at: context.host.last)
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
      .filter { name, seq in ledger.pending[name].map { $0 < seq } ?? false }
    guard !new.isEmpty else { return }
    _ = try context.host.perform(Command(method: "ack", caller: context.caller)) {
      for (name, seq) in new { try service.acknowledge(name, upTo: seq) }
      return nil
    }
  }
}
