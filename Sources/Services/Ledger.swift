package import Facts
package import JSON
internal import Journal
package import Signals

/// The state of one service, as it is decided and as it is durable, and its way into the journal.
///
/// A service holds two truths. ``newest`` is what has been decided; commands are checked against
/// it. ``shown`` is what is durable; clients see nothing else. Each event is applied to both, so
/// that neither is copied. What is taken back is undone in ``newest`` event by event where the state
/// knows how, else ``newest`` is made anew from ``shown``.
package final class Ledger<State: ServiceState> {
  /// The name of the service: the first segment of its streams and sources.
  package let service: String

  /// The state with all that was recorded.
  package private(set) var newest = State()

  /// The durable state, to be asked and not to be observed.
  ///
  /// Whoever follows it observes what it depends on: by stream (``events(in:)``), by source
  /// (``changes(of:)``) or by row (``rows(of:changedBy:)``).
  package private(set) var shown = State()

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
  private let names = SourceNames()
  private let streams = KeyedSubject<String, (event: State.Event, place: Place)>()

  /// The kinds of events and the types as which they are kept; there are few.
  private var types: [(kind: String, type: String)] = []

  /// What the journal holds, until the start is over.
  private var start: StateFold<State>?

  /// Events that this program does not know, as far as they were read.
  private var unknown = UnknownKinds()

  /// What is recorded and not durable yet.
  private var pending = Queue<Pending>()

  private struct Pending {
    let event: State.Event
    let record: Record

    /// See ``ServiceState/inverse(of:in:)``.
    let inverse: State.Event?
  }

  /// Whether its events are about readers of the journal: those are not told how far they are
  /// because of them.
  private let isAboutReaders: Bool

  /// Joins a host, before that starts.
  package init(_ service: String, in host: ServiceHost, isAboutReaders: Bool = false) {
    self.service = service
    self.isAboutReaders = isAboutReaders
    self.host = host
    start = StateFold(service: service)
    number = host.add(link)
  }

  // MARK: Recording

  /// Records an event: it is decided now, and shown when it is durable.
  ///
  /// For the methods of the service, within ``ServiceHost/perform(_:_:)`` and nowhere else.
  ///
  /// - Parameters:
  ///   - stream: What it happens to: the name of a source of the service, see ``SourceName``; the
  ///     service as a whole when not given. A command that records in another one is refused.
  ///   - emptied: A stream of which nothing is kept from then on, beside that one.
  package func record(
    _ event: State.Event, in stream: String? = nil, emptying emptied: String? = nil
  ) {
    let (kind, data) = event.written(coder)
    let stream = stream ?? service
    let growth = newest.growth(by: event, in: stream)
    let before = growth == nil ? newest.size(ofStream: stream) : 0
    let inverse = newest.inverse(of: event, in: stream)
    let rest = emptied.map(newest.size(ofStream:)) ?? 0
    let record = host.record(
      data, type: type(kind), in: stream, growing: growth ?? 0, by: number)
    newest.apply(event, at: Place(record))
    if growth == nil { host.grow(stream, by: newest.size(ofStream: stream) - before) }
    if let emptied { host.grow(emptied, by: -rest) }
    pending.append(Pending(event: event, record: record, inverse: inverse))
  }

  private func type(_ kind: String) -> String {
    if let known = types.first(where: { $0.kind == kind }) { return known.type }
    let type = EventType.text("\(service).\(kind)", form: forms.present(kind))
    types.append((kind, type))
    return type
  }

  // MARK: Watching

  /// The durable value of a source, by its whole name; `nil` when it has none.
  package func value(of source: String) -> JSONText? { shown.value(of: source) }

  /// What a list or a map holds durably.
  package func collection(of source: String) -> SourceCollection? {
    shown.collection(of: source)
  }

  /// Calls `body` with the names of sources that have a durable value and that a pattern means, until
  /// it returns `false`; see ``NameIndex/search(_:without:_:)``.
  package func search(
    _ pattern: Pattern, without excluded: [Pattern] = [], _ body: (String) -> Bool
  ) throws(NameIndex.TooVain) {
    try names.search(pattern, without: excluded, body)
  }

  /// Calls `body` with the names of sources that have a durable value and begin so, until it returns
  /// `false`.
  package func search(withPrefix prefix: String, _ body: (String) -> Bool) {
    names.search(withPrefix: prefix, body)
  }

  /// Names of sources that stand near a name in the order, `count` before and behind it at most.
  package func neighbours(of source: String, count: Int) -> [String] {
    names.neighbours(of: source, count: count)
  }

  /// Every change of a source from now on, each once.
  package func changes(of source: String) -> Signal<SourceChange, Never> {
    watchers.changes(of: source)
  }

  /// Each event of a stream that is durable, after ``shown`` has it.
  ///
  /// An event of another stream costs its observers nothing.
  package func events(in stream: String) -> SafeSignal<(event: State.Event, place: Place)> {
    streams.elements(of: stream)
  }

  /// The durable value of a source, now and after each change; `nil` when it has none.
  package func values(of source: String) -> Signal<JSONText?, Never> {
    Signal { [self] observer in
      observer.receive(value(of: source))
      return changes(of: source).observeNext { observer.receive($0.value) }
    }
  }

  /// Every change of the sources that a pattern means, from now on, in order.
  package func changes(matching pattern: Pattern) -> Signal<SourceChange, Never> {
    watchers.changes(matching: pattern)
  }
}

extension Ledger {
  /// What the host does with this ledger.
  ///
  /// Closures and no protocol: made here, where the compiler knows the type of the state, they run
  /// code for that type; through a protocol they would run code for any type, at twice the cost.
  private var link: LedgerLink {
    LedgerLink(
      service: service, isAboutReaders: isAboutReaders,
      snapshotForm: StateFold<State>(service: service).snapshotForm,
      start: { [self] in start?.start(from: $0) ?? false },
      replay: { [self] record in
        guard let start else { return nil }
        return start.replay(record)
      },
      finishReplay: { [self] in finishReplay() },
      size: { [self] in newest.size(ofStream: $0) },
      commit: { [self] in commit($0) },
      discard: { [self] in discard(after: $0) },
      changes: { [self] in changes(matching: $0) },
      snapshot: { [self] in StateFold.snapshot(of: shown, service, at: $0, coder) },
      unknown: { [self] in start?.unknown ?? unknown },
      makeFold: { [service] in StateFold<State>(service: service) })
  }

  private func finishReplay() {
    guard let start else { return }
    var state = start.state
    unknown = start.unknown
    self.start = nil
    newest = state
    state.unshare()
    shown = state
    names.start(
      { [unowned self] in AnySequence(shown.sources) },
      count: shown.sources.underestimatedCount, host)
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
    if !streams.isEmpty { streams.send((event, place), to: place.stream) }
    if happened.hasObservers { happened.send((event, place)) }
  }

  @inline(__always)
  private func show(_ event: State.Event, at place: Place) {
    let sources = State.sources(changedBy: event, at: place)
    if sources.count == 1 {
      let wasThere = shown.has(sources[0])
      show(event, at: place, sources)
      noteName(sources[0], wasThere)
    } else {
      let wereThere = sources.map(shown.has)
      show(event, at: place, sources)
      for (source, wasThere) in zip(sources, wereThere) { noteName(source, wasThere) }
    }
  }

  @inline(__always)
  private func noteName(_ source: String, _ wasThere: Bool) {
    let isThere = shown.has(source)
    if isThere != wasThere { names.note(source, isThere: isThere) }
  }

  @inline(__always)
  private func show(_ event: State.Event, at place: Place, _ sources: [String]) {
    guard !watchers.isEmpty else { return shown.apply(event, at: place) }
    if State.isCollection { return showStep(event, at: place) }
    let watched = sources.filter(watchers.isWatched)
    let before = watched.map(value(of:))
    shown.apply(event, at: place)
    for (source, before) in zip(watched, before) {
      let value = value(of: source)
      watchers.send(
        SourceChange(source: source, seq: place.seq, value: value, before: before))
    }
  }

  /// Tells of the step and not of the value, which may be long.
  private func showStep(_ event: State.Event, at place: Place) {
    let changes = shown.changes(by: event, at: place).filter {
      watchers.isWatched($0.source)
    }
    let wereEmpty = changes.map {
      $0.step != nil && shown.isEmpty(collection: $0.source)
    }
    let before = changes.map { $0.step == nil ? value(of: $0.source) : nil }
    shown.apply(event, at: place)
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
          isGone: shown.isEmpty(collection: change.source)))
    }
  }

  private func discard(after seq: UInt64) {
    var isUndone = true
    while let last = pending.last, last.record.seq > seq {
      _ = pending.popLast()
      if isUndone, let inverse = last.inverse {
        newest.apply(inverse, at: Place(last.record))
      } else {
        isUndone = false
      }
    }
    if !isUndone {
      newest = shown
      for pending in pending.elements { newest.apply(pending.event, at: Place(pending.record)) }
    }
    undone.send()
  }
}

/// A ledger as its host sees and holds it.
final class LedgerLink {
  let service: String

  /// Whether its events are about readers of the journal.
  let isAboutReaders: Bool

  /// See ``Fold/snapshotForm``.
  let snapshotForm: Int

  /// Takes over a snapshot and returns whether it reads back.
  let start: (Snapshot) -> Bool

  /// Applies a record from before this start; returns why the start must not go on.
  let replay: (Record) -> JournalError?

  /// All records of before this start were applied.
  let finishReplay: () -> Void

  /// See ``ServiceState/size(ofStream:)``.
  let size: (String) -> Int

  /// A record is durable.
  let commit: (Record) -> Void

  /// All records after a position are lost.
  let discard: (UInt64) -> Void

  /// See ``Ledger/changes(matching:)``.
  let changes: (Pattern) -> Signal<SourceChange, Never>

  /// The durable state as a snapshot as of a position.
  let snapshot: (UInt64) -> Snapshot

  /// Events of the service that this program does not know.
  let unknown: () -> UnknownKinds

  /// Makes an empty fold of the service's state, on any thread.
  let makeFold: @Sendable () -> any Fold

  init(
    service: String, isAboutReaders: Bool, snapshotForm: Int,
    start: @escaping (Snapshot) -> Bool, replay: @escaping (Record) -> JournalError?,
    finishReplay: @escaping () -> Void, size: @escaping (String) -> Int,
    commit: @escaping (Record) -> Void,
    discard: @escaping (UInt64) -> Void,
    changes: @escaping (Pattern) -> Signal<SourceChange, Never>,
    snapshot: @escaping (UInt64) -> Snapshot, unknown: @escaping () -> UnknownKinds,
    makeFold: @escaping @Sendable () -> any Fold
  ) {
    self.service = service
    self.isAboutReaders = isAboutReaders
    self.snapshotForm = snapshotForm
    self.start = start
    self.replay = replay
    self.finishReplay = finishReplay
    self.size = size
    self.commit = commit
    self.discard = discard
    self.changes = changes
    self.snapshot = snapshot
    self.unknown = unknown
    self.makeFold = makeFold
  }
}
