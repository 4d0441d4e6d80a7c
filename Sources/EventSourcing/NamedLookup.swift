public import JSON
public import Model

/// Reaches a state by the names of its sources.
///
/// Recorded events are applied to ``Ledger/pending``.
@usableFromInline
package enum NamedLookup<State: ServiceState>: StateLookup {
  @inlinable
  package static var needsNames: Bool { true }

  // MARK: One state

  @inlinable
  package static func value(of source: String, in state: State, _ names: Names) -> JSONText? {
    state.value(of: source)
  }

  @inlinable
  package static func has(_ source: String, in state: State, _ names: Names) -> Bool {
    state.has(source)
  }

  @usableFromInline
  package static func sources(of state: State, _ names: Names) -> [String] {
    Array(state.sources)
  }

  @usableFromInline
  package static func numbers(of state: State, _ names: Names) -> [Int] {
    state.sources.map(names.add)
  }

  @usableFromInline
  package static func sources(changedBy event: State.Event, at place: EventContext) -> [String]? {
    State.sources(changedBy: event, at: place)
  }

  // MARK: Recorded events

  @inlinable
  package static func record(
    _ event: State.Event, _ kind: String, in stream: Stream,
    _ ledger: some PendingState<State>
  ) {
    let growth = ledger.pending.growth(by: event, in: stream)
    let before = growth == nil ? ledger.pending.size(of: stream) : 0
    let inverse = ledger.pending.inverse(of: event, in: stream)
    var (place, isBare) = ledger.append(
      event, kind, inverse: inverse, in: stream, growing: growth ?? 0)
    ledger.pending.apply(event, at: place)
    if growth == nil {
      isBare = ledger.grow(stream.number, by: ledger.pending.size(of: stream) - before) ?? isBare
    }
    if isBare { ledger.releaseEmpty(stream.number) }
  }

  @usableFromInline
  package static func revert(
    _ inverse: State.Inverse?, at place: EventContext, _ ledger: some PendingState<State>
  ) -> Bool {
    guard let inverse else { return false }
    ledger.pending.revert(inverse, at: place)
    return true
  }

  @inlinable
  package static func pendingValue(of source: String, _ ledger: some PendingState<State>)
    -> JSONText?
  {
    ledger.pending.value(of: source)
  }

  @usableFromInline
  package static func size(of stream: Int, _ ledger: some PendingState<State>) -> Int {
    ledger.pending.size(of: ledger.stream(stream))
  }

  @usableFromInline
  package static func isEmpty(_ stream: Int, _ ledger: some PendingState<State>) -> Bool {
    let stream = ledger.stream(stream)
    return ledger.pending.size(of: stream) == 0 && !ledger.pending.has(stream.name)
  }

  @usableFromInline
  package static func has(
    toRemove removal: State.Event, in stream: Int, _ ledger: some PendingState<State>
  ) -> Bool {
    ledger.pending.has(toRemove: removal, in: ledger.stream(stream))
  }

  // MARK: Durable events

  @usableFromInline
  package static func start(_ state: State, _ ledger: some PendingState<State>) {
    ledger.pending = state
    ledger.committed = state
    ledger.committed.makeUnique()
  }

  @inlinable
  package static func show(
    _ event: State.Event, at place: EventContext, _ ledger: some PendingState<State>
  ) {
    let sources = State.sources(changedBy: event, at: place)
    if sources.count == 1 {
      let wasThere = ledger.committed.has(sources[0])
      show(event, at: place, sources, ledger)
      updateName(sources[0], wasThere, ledger)
    } else {
      let wereThere = sources.map(ledger.committed.has)
      show(event, at: place, sources, ledger)
      for (source, wasThere) in zip(sources, wereThere) { updateName(source, wasThere, ledger) }
    }
  }

  @inlinable
  static func updateName(_ source: String, _ wasThere: Bool, _ ledger: some PendingState<State>) {
    let isThere = ledger.committed.has(source)
    if isThere != wasThere { ledger.updateName(source, isThere: isThere) }
  }

  @inlinable
  static func show(
    _ event: State.Event, at place: EventContext, _ sources: [String],
    _ ledger: some PendingState<State>
  ) {
    guard ledger.isWatched else { return ledger.committed.apply(event, at: place) }
    if State.isCollection { return showStep(event, at: place, ledger) }
    let watched = sources.filter { ledger.isWatched($0) }
    let before = watched.map { ledger.committed.value(of: $0) }
    ledger.committed.apply(event, at: place)
    for (source, before) in zip(watched, before) {
      let value = ledger.committed.value(of: source)
      ledger.send(
        SourceChange(source: source, seq: place.seq, value: value, before: before))
    }
  }

  /// Reports only the step, because the whole value may be long.
  @usableFromInline
  static func showStep(
    _ event: State.Event, at place: EventContext, _ ledger: some PendingState<State>
  ) {
    let changes = ledger.committed.changes(by: event, at: place).filter {
      ledger.isWatched($0.source)
    }
    let wereEmpty = changes.map {
      $0.step != nil && ledger.committed.isEmpty(collection: $0.source)
    }
    let before = changes.map { $0.step == nil ? ledger.committed.value(of: $0.source) : nil }
    ledger.committed.apply(event, at: place)
    for ((change, wasEmpty), before) in zip(zip(changes, wereEmpty), before) {
      guard let step = change.step else {
        let value = ledger.committed.value(of: change.source)
        ledger.send(
          SourceChange(source: change.source, seq: change.seq, value: value, before: before))
        continue
      }
      ledger.send(
        SourceChange(
          source: change.source, seq: change.seq, step: step, isNew: wasEmpty,
          isGone: ledger.committed.isEmpty(collection: change.source)))
    }
  }

  @usableFromInline
  package static func fault(
    of event: State.Event, at place: EventContext, _ ledger: some PendingState<State>
  ) -> String? {
    ledger.pending.fault(of: event, at: place)
  }

  @usableFromInline
  package static func follow(
    _ event: State.Event, at place: EventContext, _ ledger: some PendingState<State>
  ) -> FollowedEffect {
    let stream = place.numbered
    let growth = ledger.pending.growth(by: event, in: stream)
    let before = growth == nil ? ledger.pending.size(of: stream) : 0
    var effect = FollowedEffect()
    ledger.pending.apply(event, at: place)
    effect.growth = growth ?? ledger.pending.size(of: stream) - before
    if isEmpty(stream.number, ledger) { effect.released.append(stream.number) }
    return effect
  }

  @inlinable
  package static func numberedValue<Holder: PendingState<State>>(
    of type: Holder.Type
  ) -> ((Holder, Int) -> JSONText?)? { nil }
}
