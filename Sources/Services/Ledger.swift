package import JSON
internal import Journal
package import Signals

/// The state of one service, as it is decided and as it is durable, and its way into the journal.
///
/// A service holds two truths. ``newest`` is what has been decided; commands are checked against
/// it. ``shown`` is what is durable; clients see nothing else. Each event is applied to both, so
/// that neither is ever copied. When a write is lost, ``newest`` is made anew from ``shown``.
package final class Ledger<State: ServiceState> {
  /// The name of the service: the first segment of its streams and sources.
  package let service: String

  /// The state with all that was recorded.
  package private(set) var newest = State()

  /// The durable state; tells of a change after each event, when somebody observes it.
  package let shown = Property(State())

  private unowned let host: ServiceHost
  private let coder = EventCoder()
  private let watchers = Watchers()
  private var types: [String: String] = [:]

  /// What the journal holds, until the start is over.
  private var start: StateFold<State>?

  /// What is recorded and not durable yet, the oldest at ``settled``.
  private var pending: [(event: State.Event, place: Place)] = []
  private var settled = 0

  /// Joins a host, before that starts.
  package init(_ service: String, in host: ServiceHost) {
    self.service = service
    self.host = host
    start = StateFold(service: service)
    host.add(self)
  }

  // MARK: Recording

  /// Records an event: it is decided now, and shown when it is durable.
  ///
  /// For the methods of the service, within ``ServiceHost/perform(_:_:)`` and nowhere else.
  ///
  /// - Parameter stream: What it happens to; the service as a whole when not given.
  package func record(_ event: State.Event, in stream: String? = nil) {
    let place = host.place(in: stream ?? service)
    newest.apply(event, at: place)
    pending.append((event, place))
    let (kind, data) = event.written(coder)
    host.record(Draft(stream: place.stream, type: type(kind), data: data.text), by: self)
  }

  private func type(_ kind: String) -> String {
    if let type = types[kind] { return type }
    let type = "\(service).\(kind)"
    types[kind] = type
    return type
  }

  // MARK: Watching

  /// The durable value of a source, by its whole name; `nil` when it has none.
  package func value(of source: String) -> JSONText? { shown.value.value(of: source) }

  /// The names of the sources that have a durable value and are wanted.
  package func sources(where isWanted: (String) -> Bool) -> [String] {
    shown.value.sources(where: isWanted)
  }

  /// Every change of a source from now on, each once.
  package func changes(of source: String) -> Signal<SourceChange, Never> {
    watchers.changes(of: source)
  }

  /// Every change of the sources that are wanted, from now on, in order.
  package func changes(
    where isWanted: @escaping (String) -> Bool
  ) -> Signal<SourceChange, Never> {
    watchers.changes(where: isWanted)
  }
}

extension Ledger: AnyLedger {
  var makeFold: @Sendable () -> any Fold {
    { [service] in StateFold<State>(service: service) }
  }

  func start(from snapshot: Snapshot?) -> UInt64 {
    start?.start(from: snapshot) ?? 0
  }

  func replay(_ record: Record) {
    start?.replay(record)
  }

  func finishReplay() {
    guard let state = start?.state else { return }
    start = nil
    newest = state
    shown.value = state
  }

  func commit(_ record: Record) {
    if settled < pending.count, pending[settled].place.seq == record.seq {
      let (event, place) = pending[settled]
      settled += 1
      if settled == pending.count {
        pending.removeAll(keepingCapacity: settled <= 4096)
        settled = 0
      }
      show(event, at: place)
    } else if let event = StateFold<State>(service: service).event(of: record) {
      // Nobody here has recorded it: another daemon on the same journal has.
      newest.apply(event, at: Place(record))
      show(event, at: Place(record))
    }
  }

  private func show(_ event: State.Event, at place: Place) {
    guard !watchers.isEmpty else { return shown.update { $0.apply(event, at: place) } }
    let watched = State.sources(changedBy: event, at: place).filter(watchers.isWatched)
    let before = watched.map(value(of:))
    shown.update { $0.apply(event, at: place) }
    for (source, before) in zip(watched, before) {
      let value = value(of: source)
      watchers.send(
        SourceChange(source: source, seq: place.seq, value: value, isRepeat: value == before))
    }
  }

  func discard(after seq: UInt64) {
    pending.removeAll { $0.place.seq > seq }
    newest = shown.value
    for (event, place) in pending[settled...] { newest.apply(event, at: place) }
  }
}

/// A ledger as its host sees it.
protocol AnyLedger: AnyObject {
  var service: String { get }

  /// Takes over a snapshot and returns its position; 0 when there is none that fits.
  func start(from snapshot: Snapshot?) -> UInt64

  /// Applies a record from before this start.
  func replay(_ record: Record)

  /// All records of before this start were applied.
  func finishReplay()

  /// A record is durable.
  func commit(_ record: Record)

  /// All records after a position are lost.
  func discard(after seq: UInt64)

  /// See ``Ledger/changes(where:)``.
  func changes(where isWanted: @escaping (String) -> Bool) -> Signal<SourceChange, Never>

  /// Makes an empty fold of the service's state, on any thread.
  var makeFold: @Sendable () -> any Fold { get }
}
