package import Connections
internal import EventSourcing
internal import JSON
internal import Model
package import Signals

/// All live bindings, with the graph that prevents cycles.
package final class LiveBindings {
  /// The bindings by number, in order of creation.
  private var bindings: [Int: LiveBinding] = [:]
  private var lastNumber = 0
  private var graph = BindingGraph()
  private var order = BindingOrder()

  /// - Parameters:
  ///   - scheduler: Schedules delayed retries; without one, lost and refused values wait for the next
  ///     commit.
  ///   - context: Shares the time of each turn between the users.
  package init(on scheduler: (any Scheduler)?, in context: ConnectionContext) {
    (self.scheduler, self.context) = (scheduler, context)
    inputs = BindingInputs(in: context)
    inputs.onFinish = { [unowned self] in if !isPassing { evaluateLists(of: $0) } }
    inputs.onInputFinish = { [unowned self] in if !isPassing { effects.check() } }
  }

  let context: ConnectionContext

  /// The sources that the bindings read.
  let inputs: BindingInputs

  private var inOrder: [LiveBinding] { inOrder { _ in true } }

  /// Returns the bindings that meet a condition, which few do, in the order in which they began.
  private func inOrder(_ isMeant: (LiveBinding) -> Bool) -> [LiveBinding] {
    bindings.values.filter(isMeant).sorted { $0.number < $1.number }
  }

  /// Returns whether a binding of a connection meets a condition.
  func isOfConnection(_ isMeant: (LiveBinding) -> Bool) -> Bool {
    let others = Set(
      (Array(kept.values) + filed.values.compactMap(\.binding)).map { ObjectIdentifier($0) })
    return bindings.values.contains { isMeant($0) && !others.contains(ObjectIdentifier($0)) }
  }

  private var persistent = PersistentBindings()

  /// The persistent bindings of the journal by name, including changes that are not durable yet.
  var kept: [String: LiveBinding] { persistent.live }

  /// The bindings of files, by name.
  var filed: [String: FiledBinding] = [:]

  /// The timers of operators, of `every` and of retries; `nil` for none.
  package var scheduler: (any Scheduler)?

  /// The calls that wait for what bindings write.
  package private(set) lazy var effects = EffectFollowing(
    inputs,
    BindingProgress(
      recorded: { [unowned self] in journal.recorded() },
      durable: { [unowned self] in durable() },
      hasChangedList: { [unowned self] isMeant in
        order.hasChanged { isMeant($0.expression) }
          || listWorks.values.contains { $0.reading.map { isMeant($0.expression) } ?? false }
      },
      isWriting: { [unowned self] in !written.isEmpty },
      waiting: { [unowned self] in waiting(for: $0) }))

  /// The clock of `every`.
  package lazy var time = MachineTime(now: { [unowned self] in now() })

  /// Stores the states of operators; `nil` before ``follow(_:_:)``.
  private(set) weak var service: BindingsService?

  /// Returns the clock of a user's operators; without a scheduler, nothing is emitted later.
  func bindClock(of user: UInt32) -> BindClock {
    BindClock(now: { [unowned self] in Double(time.now()) / 1_000_000 }) {
      [unowned self] seconds, action in
      guard let scheduler else { return SimpleDisposable(isDisposed: true) }
      let queued = SerialDisposable(otherDisposable: nil)
      let timer = scheduler.schedule(after: seconds) { [unowned self] in
        queued.otherDisposable = perform(for: user, action)
      }
      return CompositeDisposable([timer, queued])
    }
  }

  /// Performs an action in the time of a user: now if there is time, and otherwise in a later turn.
  ///
  /// - Returns: Cancels the action.
  @discardableResult
  func perform(for user: UInt32, _ action: @escaping () -> Void) -> any Disposable {
    let work = context.add(for: user, action)
    context.work()
    return work
  }

  /// Whether changes of a commit are being passed on, after which the lists are evaluated.
  private var isPassing = false
  private var isEvaluating = false

  /// The evaluations of each user's lists.
  private var listWorks: [UInt32: ListWork] = [:]

  /// The bindings whose recorded state was lost.
  private var lostStates: [Automation] = []

  /// The clock and the positions of the journal.
  private struct Journal {
    var now: () -> Int64 = { 0 }
    var durable: () -> UInt64 = { 0 }
    var recorded: () -> UInt64 = { 0 }
  }

  private var journal = Journal()

  /// Returns the time in microseconds since 1970.
  func now() -> Int64 { journal.now() }

  /// Returns the last durable position.
  func durable() -> UInt64 { journal.durable() }

  /// The values that bindings have written and that are not durable yet, in order.
  private var written = Queue<Written>()

  /// Passes lost and refused values on again.
  private lazy var retries = BindingRetries { [unowned self] in
    for binding in inOrder({ $0.due != nil }) {
      _ = context.add(for: binding.owner) { binding.retry() }
    }
    context.work()
  }

  private struct Written {
    let binding: LiveBinding
    let side: BindSide
    let seq: UInt64

    /// The number of failures of the binding before this value.
    let failureCount: Int
  }

  private let bag = DisposeBag()

  func add(_ binding: LiveBinding) {
    lastNumber += 1
    binding.number = lastNumber
    bindings[lastNumber] = binding
    graph.change(binding.expression, count: 1)
    startFlows(of: binding)
  }

  func remove(_ binding: LiveBinding) {
    guard bindings.removeValue(forKey: binding.number) != nil else { return }
    graph.change(binding.expression, count: -1, ending: binding.isEnding ? -1 : 0)
    endFlows(of: binding)
    guard let automation = binding.automation else { return }
    lostStates.removeAll { $0 === automation }
  }

  private func startFlows(of binding: LiveBinding) {
    let (expression, paths) = (binding.expression, binding.expression.leftPaths.map(\.text))
    if expression.operator.goesRight {
      binding.flows[.left] = order.add(binding, from: paths, to: [expression.right])
    }
    if expression.operator.goesLeft {
      binding.flows[.right] = order.add(binding, from: [expression.right], to: paths)
    }
  }

  private func endFlows(of binding: LiveBinding) {
    for flow in binding.flows.values { order.remove(flow) }
    binding.flows = [:]
  }

  private func set(_ binding: LiveBinding, isEnding: Bool) {
    guard binding.isEnding != isEnding else { return }
    binding.isEnding = isEnding
    guard bindings[binding.number] != nil else { return }
    graph.change(binding.expression, count: 0, ending: isEnding ? 1 : -1)
    // A new binding may close a cycle with one that is ending.
    if isEnding { endFlows(of: binding) } else { startFlows(of: binding) }
  }

  /// Ends all bindings, which breaks the reference cycles with their sources.
  package func end() {
    bag.dispose()
    retries.stop()
    for binding in inOrder { binding.dispose() }
    (persistent, filed, written) = (PersistentBindings(), [:], Queue())
    lostStates = []
  }

  // MARK: Persistent bindings

  /// Follows the commits and failures of the journal.
  func follow(_ service: BindingsService, _ host: ServiceHost) {
    service.ledger.changes(matching: .everything).observeNext { [unowned self] in decide($0.seq) }
      .dispose(in: bag)
    self.service = service
    journal = Journal(
      now: { [unowned host] in host.now }, durable: { [unowned host] in host.durable },
      recorded: { [unowned host] in host.last })
    host.progress.observeNext { [unowned self] in
      endWrites(upTo: $0)
      keepLostStates()
      passOn()
    }
    .dispose(in: bag)
    host.rejected.observeNext { [unowned self] fault in
      for binding in inOrder { binding.automation?.loseState() }
      undo()
      lose(fault)
      passOn()
    }
    .dispose(in: bag)
    host.failed.observeNext { [unowned self] _ in undo() }.dispose(in: bag)
    host.typesChanged.observeNext { [unowned self] in retryAfterTypes() }.dispose(in: bag)
  }

  // MARK: Written values

  func beginWrite(
    _ binding: LiveBinding, from side: BindSide, at events: ClosedRange<UInt64>,
    _ value: JSONValue, _ failureCount: Int
  ) {
    written.append(
      Written(
        binding: binding, side: side, seq: events.upperBound, failureCount: failureCount))
    if let flow = binding.flows[side] { order.beginWrite(flow) }
    guard effects.isActive else { return }
    effects.add(
      BindingWrite(expression: binding.expression, side: side, events: events, value: value))
  }

  /// Tells the calls that wait for effects that a value has not arrived.
  func addFailure(of binding: LiveBinding, _ text: String) {
    guard effects.isActive else { return }
    effects.add(BindingRefusal(expression: binding.expression, text: text))
  }

  /// Returns the bindings of some sources in which a value waits for its time; `nil` for all.
  private func waiting(for sources: Set<String>?) -> [BindExpression] {
    inOrder { binding in
      guard binding.automation?.isWaiting == true else { return false }
      guard let sources else { return true }
      return binding.expression.leftPaths.contains { sources.contains($0.text) }
    }
    .map(\.expression)
  }

  /// Passes the values on again that did not fit the types of before.
  ///
  /// They wait for the end of the turn, because a reload may end their bindings.
  private func retryAfterTypes() {
    for binding in inOrder({ $0.unfit != nil }) {
      _ = context.add(for: binding.owner) { binding.retryAfterTypes() }
    }
  }

  /// Schedules a retry of a value that was refused before it was written.
  func scheduleRetry() { retries.scheduleAfterRefusal(on: scheduler) }

  private func endWrites(upTo seq: UInt64) {
    while let first = written.first, first.seq <= seq {
      _ = written.popFirst()
      if let flow = first.binding.flows[first.side] { order.endWrite(flow) }
      first.binding.endWrite(first.failureCount)
      retries.succeed()
    }
    retries.tryNow()
  }

  /// Marks written values that are not durable as lost.
  private func lose(_ fault: JournalError) {
    let lost = written.filter { !$0.binding.isDisposed }
    for entry in written { entry.binding.flows[entry.side].map(order.endWrite) }
    written = Queue()
    guard !lost.isEmpty else { return }
    var seen: Set<ObjectIdentifier> = []
    for entry in lost.reversed() where seen.insert(ObjectIdentifier(entry.binding)).inserted {
      entry.binding.lose(from: entry.side, fault)
    }
    retries.scheduleAfterLoss(on: scheduler)
  }

  /// Adds a persistent binding that was created before this start.
  func restore(_ binding: LiveBinding, _ name: String) {
    persistent.restore(binding, name)
  }

  /// Adds a persistent binding that was recorded now.
  ///
  /// It passes values on at once. The events that it records follow its own event in the journal,
  /// so they are lost together with it.
  func begin(_ binding: LiveBinding, _ name: String, at seq: UInt64) {
    persistent.begin(binding, name, at: seq)
  }

  /// Marks a persistent binding whose end was recorded now.
  ///
  /// The binding stays active until its end is durable. Otherwise values would be missing if the
  /// journal refused the end.
  func end(_ name: String, at seq: UInt64) {
    guard let binding = persistent.end(name, at: seq) else { return }
    set(binding, isEnding: true)
  }

  private func decide(_ seq: UInt64) {
    for binding in persistent.decide(upTo: seq) { binding.dispose() }
  }

  /// Undoes the changes of ``kept`` that are not durable.
  private func undo() {
    while let change = persistent.undoLast() {
      switch change {
      case .begun(let binding): binding.dispose()
      case .ended(let binding): set(binding, isEnding: false)
      }
    }
  }

  // MARK: States of operators

  /// Notes that the recorded state of a binding was lost; it is recorded again after the next write.
  func addLostState(_ automation: Automation) { lostStates.append(automation) }

  private func keepLostStates() {
    guard !lostStates.isEmpty else { return }
    let lost = lostStates
    lostStates = []
    for automation in lost {
      guard let owner = automation.binding?.owner else { continue }
      _ = context.add(for: owner) { automation.keepLostState() }
    }
  }

  // MARK: Passing on

  /// Passes the changes of a commit on, as far as the time of each user allows: first to bindings of
  /// one source, then to lists.
  private func passOn() {
    isPassing = true
    context.work()
    isPassing = false
    order.countCommit()
    evaluateLists()
    context.work()
    effects.check()
  }

  /// Notes that a source of a list has changed.
  ///
  /// The list is evaluated after all changes of the commit, so that it sees the changes of a command
  /// together.
  func sourceChanged(_ automation: Automation) {
    // Its binding is ending.
    guard let binding = automation.binding, let flow = binding.flows[.left] else { return }
    order.markChanged(flow)
    if !isPassing { evaluateLists(of: binding.owner) }
  }

  private func evaluateLists() { for user in order.changedOwners { evaluateLists(of: user) } }

  private func evaluateLists(of user: UInt32) {
    let work = listWorks[user] ?? ListWork { [unowned self] in evaluate(of: user) }
    listWorks[user] = work
    context.add(work, for: user)
  }

  /// Evaluates the changed lists of a user until the user's slice is over; see ``BindingOrder``.
  ///
  /// - Returns: Whether the slice was over before the end.
  private func evaluate(of user: UInt32) -> Bool {
    guard !isEvaluating else { return true }
    isEvaluating = true
    defer { isEvaluating = false }
    order.beginEvaluation(isBehind: inputs.isUnfinished(of: user))
    let work = listWorks[user]
    while let automation = work?.reading ?? nextList(of: user) {
      work?.reading = automation.passPresent() ? automation : nil
      if context.isWorkTimeUp { return true }
    }
    listWorks[user] = nil
    if !isPassing { effects.check() }
    return false
  }

  /// Returns the next list of a user to evaluate; `nil` if there is none.
  private func nextList(of user: UInt32) -> Automation? {
    while let binding = order.next(where: { $0.owner == user }) {
      if let automation = binding.automation { return automation }
    }
    return nil
  }

  /// The bindings that all evaluations of lists have examined: their work.
  package var evaluationSteps: Int { order.steps }

  // MARK: Cycles

  /// Returns the cycle that an additional expression would close, from a source back to itself;
  /// `nil` if there is none.
  ///
  /// - Parameter isRecorded: Whether the binding is an event in the journal. If so, bindings that
  ///   are ending are ignored: if the journal refuses their end, the new binding is lost too.
  func circle(with expression: BindExpression, isRecorded: Bool) -> [String]? {
    graph.circle(with: expression, withoutEnding: isRecorded)
  }
}

/// The lists of sources of one user whose sources have changed.
private final class ListWork: SlicedWork {
  var isQueued = false

  /// The list with a long source that is read in steps; `nil` if there is none.
  var reading: Automation?
  private let evaluate: () -> Bool

  init(_ evaluate: @escaping () -> Bool) { self.evaluate = evaluate }

  func step() -> Bool { evaluate() }
}

/// The persistent bindings of the journal, and the changes of them that are not durable yet.
private struct PersistentBindings {
  enum Change {
    case begun(LiveBinding)
    case ended(LiveBinding)
  }

  /// The bindings by name, including changes that are not durable yet.
  private(set) var live: [String: LiveBinding] = [:]

  /// The changes that are not durable yet, in order.
  private var undecided = Queue<(change: Change, name: String, seq: UInt64)>()

  mutating func restore(_ binding: LiveBinding, _ name: String) { live[name] = binding }

  mutating func begin(_ binding: LiveBinding, _ name: String, at seq: UInt64) {
    live[name] = binding
    undecided.append((.begun(binding), name, seq))
  }

  /// Removes and returns a binding; `nil` if there is none.
  mutating func end(_ name: String, at seq: UInt64) -> LiveBinding? {
    guard let binding = live.removeValue(forKey: name) else { return nil }
    undecided.append((.ended(binding), name, seq))
    return binding
  }

  /// Forgets the changes that are durable, and returns the bindings that have ended.
  mutating func decide(upTo seq: UInt64) -> [LiveBinding] {
    var ended: [LiveBinding] = []
    while let first = undecided.first, first.seq <= seq {
      _ = undecided.popFirst()
      if case .ended(let binding) = first.change { ended.append(binding) }
    }
    return ended
  }

  /// Undoes the last change that is not durable, and returns it; `nil` if there is none.
  mutating func undoLast() -> Change? {
    guard let last = undecided.popLast() else { return nil }
    switch last.change {
    case .begun: live[last.name] = nil
    case .ended(let binding): live[last.name] = binding
    }
    return last.change
  }
}
