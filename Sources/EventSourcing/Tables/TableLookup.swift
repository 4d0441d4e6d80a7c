public import JSON
public import Model

/// Reaches a state that consists of tables.
///
/// An event is applied to ``Ledger/pending`` only. The tables note the rows that it writes, and these
/// go into ``Ledger/committed`` when the event is durable.
@usableFromInline
package enum TableLookup<State: TableState>: StateLookup {
  @inlinable
  package static var needsNames: Bool { true }

  // MARK: One state

  @usableFromInline
  package static func value(of source: String, in state: State, _ names: Names) -> JSONText? {
    state.value(of: source)
  }

  @usableFromInline
  package static func has(_ source: String, in state: State, _ names: Names) -> Bool {
    state.has(source)
  }

  @usableFromInline
  package static func sources(of state: State, _ names: Names) -> [String] { state.sources }

  @usableFromInline
  package static func numbers(of state: State, _ names: Names) -> [Int] {
    var numbers: [Int] = []
    for source in state.tables.sources {
      source.forEachName(state) { numbers.append(names.add($0)) }
    }
    return numbers
  }

  @usableFromInline
  package static var dependsOnState: Bool { true }

  // The same event writes other rows in another state, and may be one that `apply` skips.
  @usableFromInline
  package static func sources(changedBy event: State.Event, at place: EventContext) -> [String]? {
    nil
  }

  @usableFromInline
  package static func apply(
    _ event: State.Event, at place: EventContext, to state: inout State, _ known: DerivedValues,
    where isWanted: (String) -> Bool
  ) -> [SourceChange] {
    state.tables.changes(of: &state, at: place.seq, known, where: isWanted) {
      $0.apply(event, at: place)
    }
  }

  // MARK: Recorded events

  @inlinable
  package static func record(
    _ event: State.Event, _ kind: String, in stream: Stream,
    _ ledger: some PendingState<State>
  ) {
    let isNew = !ledger.streamNames.isHeld(stream.number, by: .stream)
    var (place, isBare) = ledger.append(event, kind, inverse: nil, in: stream, growing: 0)
    let report = ledger.tables
    apply(event, at: place, isNew: isNew, ledger)
    if report.growth != 0 { isBare = ledger.grow(stream.number, by: report.growth) ?? isBare }
    if isBare { ledger.releaseEmpty(stream.number) }
    guard report.hasOthers else { return }
    for (other, growth) in report.others where ledger.grow(other, by: growth) == true {
      ledger.releaseEmpty(other)
    }
  }

  /// Applies an event to the pending state, and measures what it has written.
  ///
  /// - Parameter isNew: Whether the stream had no events before, or they were forgotten.
  @inlinable
  static func apply(
    _ event: State.Event, at place: EventContext, isNew: Bool, _ ledger: some PendingState<State>
  ) {
    let report = ledger.tables
    report.beginRecording(in: place.number, isNew: isNew)
    // That of the service has no row of its own.
    if isNew, !report.isNew { report.adopt(size(of: place.number, ledger)) }
    finish(event, at: place, ledger)
  }

  /// Charges a new stream for what a table has with its name.
  @usableFromInline
  static func adopt(_ table: Int, _ stream: Int, _ ledger: some PendingState<State>) {
    let source = ledger.pending.tables.sources[table]
    ledger.tables.adopt(
      source.size(ledger.pending, ledger.streamNames.text(stream)), of: table)
  }

  /// Applies an event, and reports what it has written.
  @inlinable
  static func finish(
    _ event: State.Event, at place: EventContext, _ ledger: some PendingState<State>
  ) {
    let (report, tables) = (ledger.tables, ledger.pending.tables)
    if report.isNew {
      // The steps of an event do not tell how long a list was.
      for number in tables.lists { adopt(number, place.number, ledger) }
    }
    ledger.pending.apply(event, at: place)
    for number in tables.sources.indices {
      report.begin(number, tables.taken[number])
      tables.sources[number].finish(&ledger.pending, place.seq, report)
      // A row that the event has not written.
      if report.isNew, !report.isAdopted(number), tables.sources[number].streams != nil {
        adopt(number, place.number, ledger)
      }
    }
    if !tables.derived.isEmpty { tables.checkDerivedNames(ledger.pending, at: place.seq, report) }
    if report.hasOthers {
      report.finishCharges { sizeOfService($0, besides: place.number, ledger) }
    }
  }

  @usableFromInline
  package static func revert(
    _ inverse: State.Inverse?, at place: EventContext, _ ledger: some PendingState<State>
  ) -> Bool {
    for source in ledger.pending.tables.sources { source.revert(&ledger.pending, place.seq) }
    // A table that was put in the place of another one does not know what was before.
    return !ledger.tables.isReplaced
  }

  @usableFromInline
  package static func pendingValue(of source: String, _ ledger: some PendingState<State>)
    -> JSONText?
  {
    ledger.pending.value(of: source)
  }

  /// Returns the bytes of the row with the name of a stream; for the stream of the service those of
  /// all rows without a stream of their own.
  @usableFromInline
  package static func size(of stream: Int, _ ledger: some PendingState<State>) -> Int {
    let (state, name) = (ledger.pending, ledger.streamNames.text(stream))
    guard !name.utf8.contains(UInt8(ascii: "/")) else {
      return state.size(of: ledger.stream(stream))
    }
    return unheldSize(of: state, besides: name, ledger.streamNames)
  }

  /// Returns the bytes of all rows that no other stream is charged for.
  ///
  /// - Parameters:
  ///   - stream: The stream of the service.
  ///   - event: The stream of the running event, which is new to a daemon that follows.
  @usableFromInline
  static func sizeOfService(
    _ stream: Int, besides event: Int, _ ledger: some PendingState<State>
  ) -> Int {
    let names = ledger.streamNames
    return unheldSize(of: ledger.pending, besides: names.text(stream), names, event)
  }

  /// Returns the bytes of the rows whose names are no streams, and of hidden ones.
  ///
  /// - Parameter event: A stream that counts as one, even if it has no events yet.
  private static func unheldSize(
    of state: State, besides name: String, _ names: Names, _ event: Int? = nil
  ) -> Int {
    state.tables.sources.reduce(0) { sum, source in
      sum
        + source.sizeOfAll(state) { row in
          guard row != name, let number = names.number(of: row) else { return false }
          return number == event || names.isHeld(number, by: .stream)
        }
    }
  }

  @usableFromInline
  package static func sizeWithoutStream(
    of service: String, from initial: State, _ ledger: some PendingState<State>
  ) -> Int {
    let names = ledger.streamNames
    let size = unheldSize(of: ledger.pending, besides: service, names)
    return size == unheldSize(of: initial, besides: service, names) ? 0 : size
  }

  @usableFromInline
  package static func isEmpty(_ stream: Int, _ ledger: some PendingState<State>) -> Bool {
    let (state, name) = (ledger.pending, ledger.streamNames.text(stream))
    guard !name.utf8.contains(UInt8(ascii: "/")) else {
      return !state.holds(name)
    }
    // Rows that have streams of their own are not charged to that of the service.
    let names = ledger.streamNames
    return state.tables.sources.allSatisfy { source in
      // The size of the first row that counts is enough.
      var isFound = false
      return source.isEmpty(state)
        || source.sizeOfAll(state) { row in
          guard !isFound else { return true }
          let number = names.number(of: row)
          isFound = row == name || number.map { names.isHeld($0, by: .stream) } != true
          return !isFound
        } == 0
    }
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
    ledger.pending.tables.startNoting(in: &ledger.pending)
    ledger.tables.endReplacement()
  }

  @usableFromInline
  package static func restart(_ ledger: some PendingState<State>) {
    start(ledger.committed, ledger)
  }

  @usableFromInline
  package static func reapply(
    _ event: State.Event, at place: EventContext, _ ledger: some PendingState<State>
  ) {
    apply(event, at: place, isNew: false, ledger)
  }

  @inlinable
  package static func show(
    _ event: State.Event, at place: EventContext, _ ledger: some PendingState<State>
  ) {
    let report = ledger.tables
    report.beginShowing()
    let tables = ledger.committed.tables
    let derived =
      tables.derived.isEmpty
      ? [] : tables.beginDerived(ledger.pending, ledger.committed, at: place.seq, report)
    for number in tables.sources.indices {
      tables.sources[number].show(&ledger.pending, &ledger.committed, place.seq, number, report)
    }
    if !derived.isEmpty { tables.endDerived(derived, ledger.committed, at: place.seq, report) }
    if !ledger.pending.isWhole { ledger.committed.adoptFault(of: ledger.pending, at: place.seq) }
    report.send()
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
    let isNew = !ledger.streamNames.isHeld(place.number, by: .stream)
    apply(event, at: place, isNew: isNew, ledger)
    let report = ledger.tables
    var effect = FollowedEffect()
    if report.isReplaced { effect.fault = report.replacementFault }
    effect.growth = report.growth
    effect.others = report.others
    if effect.growth <= 0, isEmpty(place.number, ledger) { effect.released.append(place.number) }
    addReleased(to: &effect, ledger)
    return effect
  }

  /// Adds the streams that hold nothing any more.
  ///
  /// One that has grown holds something. To look at that of the service takes a step for each row.
  private static func addReleased(
    to effect: inout FollowedEffect, _ ledger: some PendingState<State>
  ) {
    for (stream, growth) in effect.others where growth < 0 && isEmpty(stream, ledger) {
      effect.released.append(stream)
    }
  }

  @usableFromInline
  package static func followOther(
    _ event: State.Event, at place: EventContext, _ ledger: some PendingState<State>
  ) -> FollowedEffect {
    let report = ledger.tables
    // The stream of the event belongs to another service, which is not charged.
    report.beginRecording(in: TableReport.noStream, isNew: false)
    finish(event, at: place, ledger)
    var effect = FollowedEffect()
    effect.others = report.others
    addReleased(to: &effect, ledger)
    return effect
  }

  @inlinable
  package static func numberedValue<Holder: PendingState<State>>(
    of type: Holder.Type
  ) -> ((Holder, Int) -> JSONText?)? { nil }
}
