internal import JSON
internal import Journal
internal import Model

/// A state that takes the place of the present one of a ledger, after a change of the rules by which
/// it follows from the events.
///
/// It goes on in short steps, because a state may have many rows. First the names of the new sources
/// are added, which have no value yet. Then one step exchanges the states, so that whoever reads sees
/// all of the new one. The other steps report the differences to watchers, and charge for them.
package final class StateReplacement<State: TableState> {
  private let ledger: Ledger<State>
  private var comparison: StateComparison<State>?
  private var differences: [StateDifference]
  private var stage = Stage.naming

  /// The next difference of the stage.
  private var next = 0

  /// The bytes by which the state has grown that the stream of the service is charged for.
  private var growth: Int

  /// Exchanges the rest of the service; called by the step that exchanges the states.
  package var onExchange: () -> Void = {}

  private enum Stage {
    case naming, exchange, reporting, done
  }

  /// The differences of one step.
  private static var perStep: Int { 32 }

  init(_ comparison: StateComparison<State>, in ledger: Ledger<State>) {
    (self.ledger, self.comparison) = (ledger, comparison)
    (differences, growth) = (comparison.differences, comparison.hiddenGrowth)
  }

  /// Performs the next step.
  ///
  /// - Returns: Whether a step is left.
  package func step() -> Bool {
    switch stage {
    case .naming:
      pass(to: .exchange) { if $0.isNew { ledger.updateName($0.source, isThere: true) } }
    case .exchange:
      exchange()
      stage = .reporting
    case .reporting:
      pass(to: .done, report)
      if stage == .done { finish() }
    case .done: break
    }
    return stage != .done
  }

  /// Passes over some differences, and begins the next stage after the last one.
  private func pass(to following: Stage, _ body: (StateDifference) -> Void) {
    let end = min(differences.count, next + Self.perStep)
    for i in next..<end { body(differences[i]) }
    next = end
    if next == differences.count { (stage, next) = (following, 0) }
  }

  private func exchange() {
    guard let new = comparison?.removeStates() else { return }
    comparison = nil
    let former = FormerStates(ledger.pending, ledger.committed)
    (ledger.pending, ledger.committed) = new
    ledger.tables.endReplacement()
    ledger.host.countReplacement()
    // Nobody else holds them: whoever is the last to release them pays for all their rows.
    ledger.host.free(former.remove())
    onExchange()
  }

  /// The states that are replaced.
  private final class FormerStates {
    private var states: [State]

    init(_ states: State...) { self.states = states }

    /// Removes the states, which this object does not hold any more.
    func remove() -> [State] {
      var removed: [State] = []
      swap(&removed, &states)
      return removed
    }
  }

  private func report(_ difference: StateDifference) {
    let source = difference.source
    charge(difference)
    if difference.isGone { ledger.updateName(source, isThere: false) }
    guard difference.value != difference.before else { return }
    ledger.watchers.send(
      SourceChange(
        source: source, seq: ledger.host.durable, value: difference.value,
        before: difference.before))
  }

  /// Charges the stream with the name of a source, or that of the service if there is none.
  private func charge(_ difference: StateDifference) {
    let names = ledger.streamNames
    guard let number = names.number(of: difference.source), names.isHeld(number, by: .stream),
      difference.source != ledger.service
    else { return growth += difference.growth }
    ledger.host.remeasure(number, by: difference.growth, isEmpty: difference.isEmpty)
  }

  private func finish() {
    let host = ledger.host
    if growth != 0, let number = ledger.streamNames.number(of: ledger.service) {
      let size = (host.chargedSize(of: number) ?? 0) + growth
      host.remeasure(number, by: growth, isEmpty: size <= 0)
    }
    var former: [StateDifference] = []
    swap(&former, &differences)
    host.free(former)
  }
}

/// A state and its differences from another one; made on any thread.
struct StateComparison<State: TableState>: Sendable {
  /// The state twice, with rows of their own: pending and durable; `nil` when they were removed.
  private var states: (State, State)?
  let differences: [StateDifference]

  /// The bytes by which the rows without a source have grown.
  let hiddenGrowth: Int

  init(of state: State, with before: State) {
    var pending = state
    pending.makeUnique()
    state.tables.startNoting(in: &pending)
    states = (pending, state)
    var differences: [StateDifference] = []
    func add(_ source: String) {
      let difference = StateDifference(source, of: state, with: before)
      if difference.isAny { differences.append(difference) }
    }
    for source in state.sources { add(source) }
    for source in before.sources where !state.has(source) { add(source) }
    self.differences = differences
    hiddenGrowth = Self.hiddenSize(of: state) - Self.hiddenSize(of: before)
  }

  /// Removes the states, so that nothing else holds their rows.
  mutating func removeStates() -> (pending: State, committed: State)? {
    defer { states = nil }
    return states
  }

  private static func hiddenSize(of state: State) -> Int {
    state.tables.sources.reduce(0) { sum, source in
      source.streams == nil ? sum + source.sizeOfAll(state) { _ in false } : sum
    }
  }
}

/// The difference of one source in two states.
struct StateDifference: Sendable {
  let source: String
  let value: JSONText?
  let before: JSONText?

  /// The bytes by which the rows have grown whose stream has the name of the source.
  let growth: Int

  /// Whether the new state has no rows whose stream has the name of the source.
  let isEmpty: Bool

  init(_ source: String, of state: some TableState, with former: some TableState) {
    self.source = source
    (value, before) = (state.value(of: source), former.value(of: source))
    growth = state.size(ofStream: source) - former.size(ofStream: source)
    isEmpty = !state.holds(source)
  }

  /// Whether the value or the size differs.
  var isAny: Bool { value != before || growth != 0 }

  /// Whether the source is there in the new state only.
  var isNew: Bool { before == nil && value != nil }

  /// Whether it is not there any more.
  var isGone: Bool { value == nil && before != nil }
}

extension TableState {
  /// Returns the bytes of the rows whose stream has a name.
  fileprivate func size(ofStream name: String) -> Int {
    tables.sources.reduce(0) { $0 + $1.size(self, name) }
  }
}
