public import JSON
public import Journal
public import Model
public import Signals

/// The state of one service, pending and durable, and its access to the journal.
///
/// A service has two states. ``pending`` includes all recorded events; commands are checked
/// against it. ``committed`` includes only durable events; clients see nothing else. Each event is
/// applied to both states, so neither is ever copied. A rollback applies inverse events to
/// ``pending`` if the state can provide them. Otherwise it rebuilds ``pending`` from ``committed``.
///
/// ```swift
/// guard let title = ledger.pending.titles[id] else { throw .unknown(id: id) }
/// ledger.record(.done(id: id))
/// return title
/// ```
///
/// ``ServiceState/Lookup`` says how the ledger reaches the values of the state.
///
/// The code for each event is inlinable. The compiler specializes it in the module of the state.
@usableFromInline
package final class Ledger<State: ServiceState> {
  /// The name of the service: the first segment of its streams and sources.
  @usableFromInline
  package let service: String

  /// The pending state, including all recorded events; unused by a state by number.
  @usableFromInline
  package var pending: State

  /// The durable state; it is not observable.
  ///
  /// Observe what it depends on instead: a stream (``events(in:)``), a source (``changes(of:)``)
  /// or rows (``rows(of:changedBy:)``).
  @usableFromInline
  package var committed: State

  /// Emits after recorded events were rolled back or lost and removed from ``pending``.
  package let undone = PassthroughSubject<Void, Never>()

  /// Emits each durable event, after it was applied to ``committed``.
  @usableFromInline
  package let happened = PassthroughSubject<(event: State.Event, place: EventContext), Never>()

  /// The host.
  @inlinable
  var host: ServiceHost { unsafe keeper }

  /// The host, which retains this object.
  ///
  /// Unchecked: each event needs it several times, and the check costs more than most of its work.
  @usableFromInline
  unowned(unsafe) let keeper: ServiceHost

  /// The declared types of sources, which each event is checked against.
  @usableFromInline
  let sourceTypes: SourceTypes

  /// The host's number for this ledger.
  @usableFromInline
  var number = 0
  @usableFromInline
  let coder = EventCoder()

  /// The names of all streams; see ``EventStore/names``.
  @usableFromInline
  package let streamNames: Names
  @usableFromInline
  let watchers: Watchers
  @usableFromInline
  let names: SourceNames
  @usableFromInline
  let streams = KeyedSubject<String, (event: State.Event, place: EventContext)>()

  /// The stored types of event kinds; there are only a few.
  @usableFromInline
  var types: [(kind: String, type: String)] = []

  /// Replays the journal at the start; later it reads the events of other daemons.
  @usableFromInline
  let reader: StateProjection<State>

  /// The recorded events that are not durable yet.
  @usableFromInline
  var recorded = Queue<Pending>(keeping: 2048)

  /// The inverse of each of them, if the state has names; see ``ServiceState/inverse(of:in:)``.
  @usableFromInline
  var inverses = Queue<State.Inverse?>()

  /// The effect of events on tables; made if the state has some.
  @usableFromInline
  package private(set) lazy var tables = TableReport(
    service, streamNames,
    .init(
      isAnyWatched: { [watchers] in !watchers.isEmpty }, isWatched: watchers.isWatched,
      send: watchers.send, updateName: names.update,
      refuse: { [unowned host] in host.refuse(Refusal($0)) }))

  @usableFromInline
  typealias Pending = PendingEvent<State.Event>

  /// Returns the stream with a number.
  @inlinable
  package func stream(_ number: Int) -> Stream {
    Stream(number, in: streamNames, isNamed: State.Lookup.needsNames)
  }

  @inlinable
  func place(of pending: borrowing Pending, in stream: Stream) -> EventContext {
    EventContext(
      stream, seq: pending.appended.seq,
      version: pending.appended.version, time: pending.time, user: pending.user)
  }

  /// Whether its events only record reader positions.
  ///
  /// Such events are not reported to readers as progress.
  @usableFromInline
  let isAboutReaders: Bool

  /// Returns a durable value by number; made where the type of the state is known, so that it runs
  /// specialized code.
  @usableFromInline
  let numberedValue: ((Ledger, Int) -> JSONText?)?

  /// The durable sources by the numbers of their names; `nil` if the state is not by number.
  package var numbered: NumberedSources? {
    numberedValue.map { value in NumberedSources { [self] in value(self, $0) } }
  }

  /// Registers with a host; call it before the host starts.
  ///
  /// - Parameter initial: The state before the first event.
  @inlinable
  package init(
    _ service: String, in host: ServiceHost, isAboutReaders: Bool = false,
    from initial: State = State()
  ) {
    self.service = service
    (pending, committed) = (initial, initial)
    self.isAboutReaders = isAboutReaders
    unsafe keeper = host
    sourceTypes = host.types
    streamNames = host.streamNames
    reader = StateProjection(service: service, host.streamNames, from: initial, .none)
    watchers = Watchers(streamNames, in: host)
    names = SourceNames(of: service, in: streamNames)
    numberedValue = State.Lookup.numberedValue(of: Ledger.self)
    number = register { [self] in commit() }
    followOthers(from: initial)
  }

  // MARK: Recording

  /// Records an event; it takes effect in ``pending`` now, and in ``committed`` once it is durable.
  ///
  /// Only for methods of the service, within ``ServiceHost/perform(_:_:)``.
  ///
  /// - Parameters:
  ///   - stream: The stream: the name of a source of the service, see ``SourceName``. The default
  ///     is the service's name. A command that records in any other stream is rejected.
  @inlinable
  package func record(_ event: State.Event, in stream: String? = nil) {
    record(event, in: streamNames.add(stream ?? service))
  }

  /// Records an event in the stream with a number; see ``record(_:in:)-(_,String?)``.
  @inlinable
  package func record(_ event: State.Event, in number: Int) {
    let (stream, host) = (stream(number), host)
    // First, because the answer to a command has the position of its last event.
    if host.isLeasing { recordLeasable(event, in: stream) }
    let kind = host.write { event.write(to: &$0, coder) }
    if coder.hasFault { refuseUnwritten() }
    State.Lookup.record(event, kind, in: stream, self)
    if sourceTypes.isOn { checkType(of: number) }
    if host.routes.isOn { host.route(type(kind), in: number) }
  }

  /// Lets the running command fail because an event of it cannot be stored.
  @usableFromInline
  func refuseUnwritten() {
    if let fault = coder.removeFault() { host.refuse(.service(RowFault(fault: fault))) }
  }

  /// Ends the charge for a stream if it has no state after the last recorded event.
  @usableFromInline
  package func releaseEmpty(_ stream: Int) {
    if isEmpty(stream) { host.release(stream) }
  }

  @usableFromInline
  func type(_ kind: String) -> String {
    if let known = types.first(where: { $0.kind == kind }) { return known.type }
    // Once for each kind.
    let forms = EventForms(State.Event.upcasters)
    let type = EventType.text("\(service).\(kind)", form: forms.present(kind))
    types.append((kind, type))
    return type
  }

  // MARK: Observing

  /// Returns the durable value of a source by its full name, or `nil` if it has none.
  @inlinable
  package func value(of source: String) -> JSONText? {
    State.Lookup.value(of: source, in: committed, streamNames)
  }

  /// Returns the pending value of a source by its full name, or `nil` if it has none.
  @inlinable
  package func pendingValue(of source: String) -> JSONText? {
    State.Lookup.pendingValue(of: source, self)
  }

  /// Returns whether a source has a durable value.
  @inlinable
  func has(_ source: String) -> Bool { State.Lookup.has(source, in: committed, streamNames) }

  /// Returns the durable content of a list or a map, or `nil` for other sources.
  package func collection(of source: String) -> SourceCollection? {
    committed.collection(of: source)
  }

  /// Calls `body` with the names of durable sources that match a pattern, until it returns
  /// `false`; see ``NameIndex/search(_:without:in:from:_:)``.
  package func search(
    _ pattern: Pattern, without excluded: [Pattern] = [], _ body: (String) -> Bool
  ) throws(NameIndex.TooVain) {
    var place = SearchPlace()
    try search(pattern, without: excluded, from: &place, body)
  }

  /// Calls `body` with the names of durable sources that match a pattern, from a place on.
  package func search(
    _ pattern: Pattern, without excluded: [Pattern], from place: inout SearchPlace,
    _ body: (String) -> Bool
  ) throws(NameIndex.TooVain) {
    try names.search(pattern, without: excluded, from: &place, body)
  }

  /// Calls `body` with the names of durable sources that have a prefix, until it returns `false`.
  package func search(withPrefix prefix: String, _ body: (String) -> Bool) {
    var place = SearchPlace()
    search(withPrefix: prefix, from: &place, body)
  }

  /// Calls `body` with the names of durable sources that have a prefix, from a place on.
  package func search(
    withPrefix prefix: String, from place: inout SearchPlace, _ body: (String) -> Bool
  ) {
    names.search(withPrefix: prefix, from: &place, body)
  }

  /// Whether a search that was stopped can go on later.
  package var canSearchGoOn: Bool { names.canGoOn }

  /// Returns names of sources adjacent to a name in order, at most `count` on each side.
  package func neighbours(of source: String, count: Int) -> [String] {
    names.neighbours(of: source, count: count)
  }

  /// Emits every change of a source from now on, each once.
  package func changes(of source: String) -> Signal<SourceChange, Never> {
    watchers.changes(of: source)
  }

  /// Emits each durable event of a stream, after it was applied to ``committed``.
  ///
  /// Events of other streams cost its observers nothing.
  package func events(in stream: String) -> SafeSignal<(event: State.Event, place: EventContext)> {
    streams.elements(of: stream)
  }

  /// Emits the durable value of a source, now and after each change; `nil` if it has none.
  package func values(of source: String) -> Signal<JSONText?, Never> {
    Signal { [self] observer in
      observer.receive(value(of: source))
      return changes(of: source).observeNext { observer.receive($0.value) }
    }
  }

  /// Emits every change of the sources that match a pattern, from now on, in order.
  package func changes(matching pattern: Pattern) -> Signal<SourceChange, Never> {
    watchers.changes(matching: pattern)
  }

  /// Returns the changes of the sources that match a pattern, from now on, to be collected.
  package func feed(of pattern: Pattern) -> any ChangeFeed { watchers.feed(of: pattern) }
}

extension Ledger: PendingState {
  @inlinable
  @inline(__always)
  package func append(
    _ event: State.Event, _ kind: String, inverse: State.Inverse?, in stream: Stream,
    growing bytes: Int
  ) -> (place: EventContext, isBare: Bool) {
    let host = host
    let appended = host.record(type(kind), in: stream.number, growing: bytes, by: number)
    let (time, user) = (host.running.time, host.running.user)
    recorded.append(
      Pending(event, stream: stream.number, appended: appended, time: time, user: user))
    if State.Lookup.needsNames { inverses.append(inverse) }
    let place = EventContext(
      stream, seq: appended.seq, version: appended.version, time: time, user: user)
    return (place, appended.isBare)
  }

  @inlinable
  package func pendingPosition(of stream: Int) -> UInt64? {
    let host = host
    let seq = host.lastPosition(of: stream)
    return seq > host.durable ? seq : nil
  }

  @inlinable
  package func pendingEvent(at seq: UInt64) -> State.Event? {
    guard let first = recorded.first?.appended.seq, seq >= first else { return nil }
    // The place of the event if all events since the oldest one are of this service, and the last
    // place where it can be.
    var (low, high) = (0, min(recorded.count &- 1, Int(seq &- first)))
    while low < high, recorded[high].appended.seq != seq {
      let middle = (low &+ high) / 2
      if recorded[middle].appended.seq < seq { low = middle &+ 1 } else { high = middle }
    }
    return recorded[high].appended.seq == seq ? recorded[high].event : nil
  }

  @inlinable
  package func chargedSize(of stream: Int) -> Int? { host.chargedSize(of: stream) }

  @inlinable
  package func grow(_ stream: Int, by bytes: Int) -> Bool? { host.grow(stream, by: bytes) }

  @inlinable
  package var isWatched: Bool { !watchers.isEmpty }

  @inlinable
  package func isWatched(_ source: String) -> Bool { watchers.isWatched(source) }

  @inlinable
  package func isWatched(_ number: Int) -> Bool { watchers.isWatched(number) }

  @inlinable
  package func send(_ change: SourceChange) { watchers.send(change) }

  @inlinable
  package func updateName(_ source: String, isThere: Bool) {
    names.update(source, isThere: isThere)
  }

  @inlinable
  package func updateName(_ number: Int, isThere: Bool) { names.update(number, isThere: isThere) }
}

extension Ledger {
  /// Tells the host that a part of the state was written or removed.
  @usableFromInline
  func recordLeasable(_ event: State.Event, in stream: Stream) {
    guard let removal = State.removal(after: event, in: stream) else {
      return host.recordUnleasable(stream.name)
    }
    let (kind, text) = removal.written(coder)
    let part = LeasedPart(stream: stream.name, kind: kind, data: text.text)
    host.recordLeasable(part, isRemoved: event.written(coder).kind == kind)
  }

  /// Records the event that removes a part; does nothing if the part is not there.
  private func remove(_ part: LeasedPart) {
    let data = JSONText(trusted: part.data)
    guard let number = streamNames.number(of: part.stream),
      let event = State.Event(kind: part.kind, data: data, coder)
    else { return }
    if State.Lookup.has(toRemove: event, in: number, self) { record(event, in: number) }
  }

  /// Registers with the host and returns the host's number for this ledger.
  ///
  /// - Parameter commit: Calls ``commit(_:)``; made where the type of the state is known, so that
  ///   it runs specialized code.
  @usableFromInline
  func register(commit: @escaping () -> Void) -> Int {
    host.add(link(commit))
  }

  /// Returns the host's interface to this ledger.
  ///
  /// It consists of closures instead of a protocol, so that `commit` can be specialized code.
  private func link(_ commit: @escaping () -> Void) -> AnyLedger {
    AnyLedger(
      service: service, isAboutReaders: isAboutReaders,
      snapshotForm: StateProjection<State>.snapshotForm,
      start: reader.start(from:),
      replay: reader.replay(_:in:),
      finishReplay: { [self] in finishReplay() },
      sizes: AnyLedger.Sizes(
        ofStream: { [self] in State.Lookup.size(of: $0, self) },
        withoutStream: { [self] in
          State.Lookup.sizeWithoutStream(of: service, from: reader.initial, self)
        },
        isEmpty: { [self] in isEmpty($0) }),
      commit: commit,
      apply: { [self] record, number, note throws(JournalError) in
        try apply(record, number, note)
      },
      discard: { [self] in discard(after: $0) },
      remove: { [self] in remove($0) },
      foreign: AnyLedger.Foreign(
        follow: { [self] in follow($0) }, events: { [reader] in reader.others }),
      changes: { [self] in changes(matching: $0) }, feed: { [self] in feed(of: $0) },
      snapshot: { [self] in snapshot() },
      gaps: AnyLedger.Gaps(
        unknown: { [reader] in reader.unknown }, isWhole: { [self] in committed.isWhole }),
      rows: State.Lookup.restoresRows ? rows : nil,
      makeProjection: { [service, initial = reader.initial] in
        StateProjection<State>(service: service, Names(), from: initial, .none)
      })
  }

  /// The rows of the tables, for an undo.
  private var rows: AnyLedger.Rows {
    AnyLedger.Rows(
      row: { [self] in State.Lookup.row(at: $0, in: pending) },
      named: { [self] in State.Lookup.named($0, in: pending) },
      restore: { [self] rows, stream in
        let data = coder.text(rows)
        guard let event = State.Event(kind: RestoredRows.kind, data: data, coder) else { return }
        record(event, in: stream)
      })
  }

  /// Returns whether the state keeps nothing of a stream.
  func isEmpty(_ number: Int) -> Bool { State.Lookup.isEmpty(number, self) }

  private func finishReplay() {
    State.Lookup.start(reader.removeState(), self)
    names.start(State.Lookup.numbers(of: committed, streamNames), host)
  }

  /// The names of the durable sources, in any order.
  package var sources: [String] { State.Lookup.sources(of: committed, streamNames) }

  /// Applies the oldest recorded event, which is durable now.
  @inlinable
  func commit() {
    let pending = recorded.removeFirst()
    if State.Lookup.needsNames { _ = inverses.removeFirst() }
    if streams.isEmpty, !happened.hasObservers,
      State.Lookup.showUnseen(pending.event, in: pending.stream, self)
    {
      return
    }
    let place = place(of: pending, in: stream(pending.stream))
    State.Lookup.show(pending.event, at: place, self)
    tell(pending.event, at: place)
  }

  @inlinable
  func tell(_ event: State.Event, at place: EventContext) {
    if !streams.isEmpty { streams.send((event, place), to: place.stream) }
    if happened.hasObservers { happened.send((event, place)) }
  }

  /// Returns a function that encodes the present ``committed`` as a snapshot, on any thread.
  ///
  /// - Returns: A function of the last durable position.
  private func snapshot() -> @Sendable (_ durable: UInt64) -> Snapshot {
    { [committed, service, list = streamNames.list] durable in
      StateProjection.snapshot(of: committed, service, at: durable, EventCoder(), list)
    }
  }

  /// Makes ``pending`` a copy of ``committed`` with the pending events.
  private func rebuildNewest() {
    State.Lookup.restart(self)
    for pending in recorded {
      State.Lookup.reapply(
        pending.event, at: place(of: pending, in: stream(pending.stream)), self)
    }
  }

  private func discard(after seq: UInt64) {
    var isUndone = true
    while let last = recorded.last, last.appended.seq > seq {
      _ = recorded.popLast()
      let inverse = inverses.popLast() ?? nil
      isUndone =
        isUndone
        && State.Lookup.revert(inverse, at: place(of: last, in: stream(last.stream)), self)
    }
    if !isUndone {
      rebuildNewest()
    }
    undone.send()
  }
}

/// A recorded event that is not durable yet.
///
/// Not nested in the ledger: the compiler then knows the size of its parts.
@usableFromInline
struct PendingEvent<Event> {
  @usableFromInline
  let event: Event

  /// The number of the stream.
  @usableFromInline
  let stream: Int
  @usableFromInline
  let appended: Appended
  @usableFromInline
  let time: Int64
  @usableFromInline
  let user: UInt32

  @inlinable
  init(_ event: Event, stream: Int, appended: Appended, time: Int64, user: UInt32) {
    (self.event, self.stream) = (event, stream)
    (self.appended, self.time, self.user) = (appended, time, user)
  }
}

extension Ledger {
  /// Returns a dictionary of the durable state as a list ordered by key, for views.
  ///
  /// Views share it.
  ///
  ///     var people: RowList<Int, Person> {
  ///       ledger.rows(of: \.people) { _, place in [number(of: place.stream)] }
  ///     }
  ///
  /// - Parameter keys: Returns the keys that an event adds, changes or removes.
  package func rows<Key: Comparable, Value>(
    of entries: KeyPath<State, [Key: Value]>,
    changedBy keys: @escaping (State.Event, EventContext) -> [Key]
  ) -> RowList<Key, Value> {
    RowList(
      Identity(self, entries), keys: { [self] in Array(committed[keyPath: entries].keys) },
      row: { [self] in committed[keyPath: entries][$0] },
      changes: happened.compactMap { event, place in
        let keys = keys(event, place)
        return keys.isEmpty ? nil : .rows(keys)
      })
  }
}

/// The durable sources of a state by number; see ``NumberedState``.
///
/// Their names are valid, so they need no escapes in JSON.
package final class NumberedSources {
  /// Returns the value of the source with the name of a number; `nil` if there is none.
  package let value: (_ number: Int) -> JSONText?

  init(_ value: @escaping (_ number: Int) -> JSONText?) {
    self.value = value
  }
}
