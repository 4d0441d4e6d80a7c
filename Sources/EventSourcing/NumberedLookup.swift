public import JSON
public import Model

/// Reaches a state by the numbers of its streams, each of which is a source.
///
/// Such a state may have a million sources, so it is in memory once, as ``Ledger/committed``. What its
/// recorded events add is looked up in ``Ledger/recorded``.
@usableFromInline
package enum NumberedLookup<State: NumberedState>: StateLookup {
  @inlinable
  package static var needsNames: Bool { false }

  // MARK: One state

  @inlinable
  package static func value(of source: String, in state: State, _ names: Names) -> JSONText? {
    names.number(of: source).flatMap { state.value(numbered: $0) }
  }

  @inlinable
  package static func has(_ source: String, in state: State, _ names: Names) -> Bool {
    value(of: source, in: state, names) != nil
  }

  @usableFromInline
  package static func sources(of state: State, _ names: Names) -> [String] {
    numbers(of: state, names).map(names.text)
  }

  @usableFromInline
  package static func numbers(of state: State, _ names: Names) -> [Int] {
    var numbers: [Int] = []
    state.forEachNumber { numbers.append($0) }
    return numbers
  }

  @usableFromInline
  package static func sources(changedBy event: State.Event, at place: EventContext) -> [String]? {
    [place.stream]
  }

  // MARK: Recorded events

  /// Records an event that gives the source of its stream a value.
  @inlinable
  @inline(__always)
  package static func record(
    _ event: State.Event, _ kind: String, in stream: Stream,
    _ ledger: some PendingState<State>
  ) {
    let before =
      ledger.chargedSize(of: stream.number)
      ?? size(of: pendingValue(numbered: stream.number, ledger))
    let growth = size(of: State.value(after: event)) - before
    let isBare = ledger.append(event, kind, inverse: nil, in: stream, growing: growth).isBare
    if isBare { ledger.releaseEmpty(stream.number) }
  }

  @usableFromInline
  package static func revert(
    _ inverse: State.Inverse?, at place: EventContext, _ ledger: some PendingState<State>
  ) -> Bool { true }

  @inlinable
  package static func pendingValue(of source: String, _ ledger: some PendingState<State>)
    -> JSONText?
  {
    ledger.streamNames.number(of: source).flatMap { pendingValue(numbered: $0, ledger) }
  }

  /// Returns the value of a source after all recorded events.
  @inlinable
  static func pendingValue(
    numbered number: Int, _ ledger: some PendingState<State>
  ) -> JSONText? {
    guard let seq = ledger.pendingPosition(of: number), let event = ledger.pendingEvent(at: seq)
    else {
      return ledger.committed.value(numbered: number)
    }
    return State.value(after: event)
  }

  @inlinable
  static func size(of value: JSONText?) -> Int { value?.text.utf8.count ?? 0 }

  @usableFromInline
  package static func size(of stream: Int, _ ledger: some PendingState<State>) -> Int {
    size(of: pendingValue(numbered: stream, ledger))
  }

  @usableFromInline
  package static func isEmpty(_ stream: Int, _ ledger: some PendingState<State>) -> Bool {
    pendingValue(numbered: stream, ledger) == nil
  }

  @usableFromInline
  package static func has(
    toRemove removal: State.Event, in stream: Int, _ ledger: some PendingState<State>
  ) -> Bool { !isEmpty(stream, ledger) }

  // MARK: Durable events

  @usableFromInline
  package static func start(_ state: State, _ ledger: some PendingState<State>) {
    ledger.committed = state
  }

  @inlinable
  package static func showUnseen(
    _ event: State.Event, in stream: Int, _ ledger: some PendingState<State>
  ) -> Bool {
    guard !ledger.isWatched(stream) else { return false }
    let wasThere = ledger.committed.value(numbered: stream) != nil
    let value = State.value(after: event)
    let isThere = value != nil
    ledger.committed.set(value, numbered: stream)
    if isThere != wasThere { ledger.updateName(stream, isThere: isThere) }
    return true
  }

  /// Applies an event that changes the source with the name of its stream.
  @inlinable
  package static func show(
    _ event: State.Event, at place: EventContext, _ ledger: some PendingState<State>
  ) {
    let number = place.number
    if showUnseen(event, in: number, ledger) { return }
    let before = ledger.committed.value(numbered: number)
    ledger.committed.apply(event, at: place)
    let (source, value) = (place.stream, ledger.committed.value(numbered: number))
    if (value == nil) != (before == nil) { ledger.updateName(number, isThere: value != nil) }
    ledger.send(
      SourceChange(source: source, seq: place.seq, value: value, before: before))
  }

  @usableFromInline
  package static func fault(
    of event: State.Event, at place: EventContext, _ ledger: some PendingState<State>
  ) -> String? {
    ledger.committed.fault(of: event, at: place)
  }

  @usableFromInline
  package static func follow(
    _ event: State.Event, at place: EventContext, _ ledger: some PendingState<State>
  ) -> FollowedEffect {
    let value = State.value(after: event)
    return FollowedEffect(
      growth: size(of: value) - size(of: ledger.committed.value(numbered: place.number)),
      released: value == nil ? [place.number] : [])
  }

  @inlinable
  package static func numberedValue<Holder: PendingState<State>>(
    of type: Holder.Type
  ) -> ((Holder, Int) -> JSONText?)? {
    { $0.committed.value(numbered: $1) }
  }
}
