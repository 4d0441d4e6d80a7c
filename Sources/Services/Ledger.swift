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

  /// Tells that something was recorded and is taken back or lost: ``newest`` is without it.
  package let undone = PassthroughSubject<Void, Never>()

  /// Each event that is durable, after ``shown`` has it: for those who follow what happens.
  package let happened = PassthroughSubject<(event: State.Event, place: Place), Never>()

  private unowned let host: ServiceHost

  /// The host's number for this ledger.
  private var number = 0
  private let coder = EventCoder()
  private let forms = EventForms(State.Event.upcasters)
  private let watchers = Watchers()

  /// The kinds of events and the types as which they are kept; there are few.
  private var types: [(kind: String, type: String)] = []

  /// What the journal holds, until the start is over.
  private var start: StateFold<State>?

  /// What is recorded and not durable yet.
  private var pending = Queue<(event: State.Event, record: Record)>()

  /// Joins a host, before that starts.
  package init(_ service: String, in host: ServiceHost) {
    self.service = service
    self.host = host
    start = StateFold(service: service)
    number = host.add(link)
  }

  // MARK: Recording

  /// Records an event: it is decided now, and shown when it is durable.
  ///
  /// For the methods of the service, within ``ServiceHost/perform(_:_:)`` and nowhere else.
  ///
  /// - Parameter stream: What it happens to; the service as a whole when not given.
  package func record(_ event: State.Event, in stream: String? = nil) {
    let (kind, data) = event.written(coder)
    let record = host.record(data, type: type(kind), in: stream ?? service, by: number)
    newest.apply(event, at: Place(record))
    pending.append((event, record))
  }

  private func type(_ kind: String) -> String {
    if let known = types.first(where: { $0.kind == kind }) { return known.type }
    let type = EventType.text("\(service).\(kind)", form: forms.present(kind))
    types.append((kind, type))
    return type
  }

  // MARK: Watching

  /// The durable value of a source, by its whole name; `nil` when it has none.
  package func value(of source: String) -> JSONText? { shown.value.value(of: source) }

  /// What a list or a map holds durably.
  package func collection(of source: String) -> SourceCollection? {
    shown.value.collection(of: source)
  }

  /// The names of sources that have a durable value and are wanted.
  ///
  /// O(n) in the sources that there are, until there are `limit` of them.
  package func sources(
    upTo limit: Int = .max, where isWanted: (String) -> Bool
  ) -> [String] {
    var names: [String] = []
    for source in shown.value.sources {
      guard names.count < limit else { break }
      if isWanted(source) { names.append(source) }
    }
    return names
  }

  /// Every change of a source from now on, each once.
  package func changes(of source: String) -> Signal<SourceChange, Never> {
    watchers.changes(of: source)
  }

  /// The durable value of a source, now and after each change; `nil` when it has none.
  package func values(of source: String) -> Signal<JSONText?, Never> {
    Signal { [self] observer in
      observer.receive(value(of: source))
      return changes(of: source).observeNext { observer.receive($0.value) }
    }
  }

  /// Every change of the sources that are wanted, from now on, in order.
  package func changes(
    where isWanted: @escaping (String) -> Bool
  ) -> Signal<SourceChange, Never> {
    watchers.changes(where: isWanted)
  }
}

extension Ledger {
  /// What the host does with this ledger.
  ///
  /// Closures and no protocol: made here, where the compiler knows the type of the state, they run
  /// code for that type; through a protocol they would run code for any type, at twice the cost.
  private var link: LedgerLink {
    LedgerLink(
      service: service,
      start: { [self] in start?.start(from: $0) ?? 0 },
      replay: { [self] record in
        guard let start else { return nil }
        return start.replay(record)
      },
      finishReplay: { [self] in finishReplay() },
      commit: { [self] in commit($0) },
      discard: { [self] in discard(after: $0) },
      changes: { [self] in changes(where: $0) },
      snapshot: { [self] in StateFold.snapshot(of: shown.value, service, at: $0, coder) },
      makeFold: { [service] in StateFold<State>(service: service) })
  }

  private func finishReplay() {
    guard var state = start?.state else { return }
    start = nil
    newest = state
    state.unshare()
    shown.value = state
  }

  @inline(__always)
  private func commit(_ record: Record) {
    if pending.first?.record.seq == record.seq, let event = pending.popFirst()?.event {
      show(event, at: Place(record))
      tell(event, at: Place(record))
    } else if let event = StateFold<State>(service: service).event(of: record) {
      // Nobody here has recorded it: another daemon on the same journal has.
      newest.apply(event, at: Place(record))
      show(event, at: Place(record))
      tell(event, at: Place(record))
    }
  }

  @inline(__always)
  private func tell(_ event: State.Event, at place: Place) {
    if happened.hasObservers { happened.send((event, place)) }
  }

  @inline(__always)
  private func show(_ event: State.Event, at place: Place) {
    guard !watchers.isEmpty else { return shown.update { $0.apply(event, at: place) } }
    if State.isCollection { return showStep(event, at: place) }
    let watched = State.sources(changedBy: event, at: place).filter(watchers.isWatched)
    let before = watched.map(value(of:))
    shown.update { $0.apply(event, at: place) }
    for (source, before) in zip(watched, before) {
      let value = value(of: source)
      watchers.send(
        SourceChange(source: source, seq: place.seq, value: value, before: before))
    }
  }

  /// Tells of the step and not of the value, which may be long.
  private func showStep(_ event: State.Event, at place: Place) {
    let changes = shown.value.changes(by: event, at: place).filter {
      watchers.isWatched($0.source)
    }
    let wereEmpty = changes.map { $0.step != nil && isEmpty($0.source) }
    let before = changes.map { $0.step == nil ? value(of: $0.source) : nil }
    shown.update { $0.apply(event, at: place) }
    for ((change, wasEmpty), before) in zip(zip(changes, wereEmpty), before) {
      guard let step = change.step else {
        let value = value(of: change.source)
        watchers.send(
          SourceChange(source: change.source, seq: change.seq, value: value, before: before))
        continue
      }
      watchers.send(
        SourceChange(
          source: change.source, seq: change.seq, step: step, isNew: wasEmpty,
          isGone: isEmpty(change.source)))
    }
  }

  /// Whether a collection holds nothing; what it holds is not copied for that, nor kept.
  private func isEmpty(_ source: String) -> Bool {
    switch shown.value.collection(of: source) {
    case .list(let elements): elements.isEmpty
    case .map(let values): values.isEmpty
    case nil: true
    }
  }

  private func discard(after seq: UInt64) {
    while let last = pending.last, last.record.seq > seq { _ = pending.popLast() }
    newest = shown.value
    for (event, record) in pending.elements { newest.apply(event, at: Place(record)) }
    undone.send()
  }
}

/// A ledger as its host sees and holds it.
final class LedgerLink {
  let service: String

  /// Takes over a snapshot and returns its position; 0 when there is none that fits.
  let start: (Snapshot?) -> UInt64

  /// Applies a record from before this start; returns why the start must not go on.
  let replay: (Record) -> JournalError?

  /// All records of before this start were applied.
  let finishReplay: () -> Void

  /// A record is durable.
  let commit: (Record) -> Void

  /// All records after a position are lost.
  let discard: (UInt64) -> Void

  /// See ``Ledger/changes(where:)``.
  let changes: (@escaping (String) -> Bool) -> Signal<SourceChange, Never>

  /// The durable state as a snapshot as of a position.
  let snapshot: (UInt64) -> Snapshot

  /// Makes an empty fold of the service's state, on any thread.
  let makeFold: @Sendable () -> any Fold

  init(
    service: String, start: @escaping (Snapshot?) -> UInt64,
    replay: @escaping (Record) -> JournalError?,
    finishReplay: @escaping () -> Void, commit: @escaping (Record) -> Void,
    discard: @escaping (UInt64) -> Void,
    changes: @escaping (@escaping (String) -> Bool) -> Signal<SourceChange, Never>,
    snapshot: @escaping (UInt64) -> Snapshot, makeFold: @escaping @Sendable () -> any Fold
  ) {
    self.service = service
    self.start = start
    self.replay = replay
    self.finishReplay = finishReplay
    self.commit = commit
    self.discard = discard
    self.changes = changes
    self.snapshot = snapshot
    self.makeFold = makeFold
  }
}
