internal import API
internal import EventSourcing
internal import JSON
internal import Model
internal import Signals
internal import Wire

/// A run of bindings over past events, without effect.
///
/// The sources have the values of the past, except those that the bindings write: they have the values
/// that the bindings would have given them. Writes of other bindings to them do not count; those of
/// clients do.
final class BindTrial: PastVisitor {
  /// The order for a trial.
  struct Order: Sendable {
    /// The bindings with their names; no name if there is one.
    let rules: [(name: String?, text: String)]

    /// The values of empty lists and maps.
    let empty: [String: JSONText]

    /// The end, in microseconds since 1970.
    let until: Int64
    let limit: Int
    let offset: @Sendable (_ seconds: Int64) -> Int64
    let zone: @Sendable (_ name: String) -> ((_ seconds: Int64) -> Int64)?

    /// The declared types of sources, which each write must fit.
    let types: [DeclaredType]
    var limits = Limits()
  }

  /// The limits of a trial.
  struct Limits: Sendable {
    /// The events that are read, and the calls of timers.
    var steps = 20_000_000
    var seconds = 60

    /// The bytes of the values that the operators hold.
    var bytes = BindTrial.bytes

    /// About the bytes of a value or a timer that waits.
    static let bytesOfEntry = 256
  }

  /// The bytes that the user is charged during a trial.
  static let bytes = 16 << 20

  private let order: Order
  private let types = SourceTypes()
  private let clock = TrialClock()
  private let begun = ContinuousClock.now
  private var rules: [TrialRule] = []

  /// The rules that get each change of a source, those that get the newest after a commit, and lists.
  private var readers: [String: [TrialRule]] = [:]

  /// The sources that bindings only write, and all that they write.
  private var onlyTargets: Set<String> = []
  private var targets: Set<String> = []

  /// The values of the trial and those of the past: `null` for removed ones.
  private var values: [String: JSONValue] = [:]
  private var truth: [String: JSONValue] = [:]

  /// The values that rules have not passed on.
  private var queue = Queue<(rule: TrialRule, source: String, value: JSONValue)>()
  private var changedLists: [TrialRule] = []

  /// The changes of one commit, and the positions of those that are being applied.
  private var commit: [PastChange] = []
  private var causes: ClosedRange<UInt64>?
  private var comparison: TrialComparison

  /// The time from which writes count, and that of the state at the start.
  private var times = (begin: Int64(0), start: Int64(0))

  /// The events that were read, the timers that have fired, and the values that rules have received.
  private var steps = (events: 0, timers: 0, values: 0)
  private var faults: (count: Int, first: String?) = (0, nil)
  private var stopped: String?

  init(_ order: Order) {
    self.order = order
    types.use(order.types)
    comparison = TrialComparison(limit: order.limit)
  }

  // MARK: Start

  func start(_ states: PastStates, at seq: UInt64, time: Int64, begin: Int64) {
    times = (begin, time)
    clock.start(at: time)
    for (name, text) in order.rules {
      guard let read = try? ReadBinding(text, JSONTransformers.all) else { continue }
      add(TrialRule(name ?? "", read, on: clock))
    }
    rank()
    for source in Set(readers.keys).union(targets) {
      values[source] = states.value(of: source)?.value
    }
    truth = values
    let kept = kept(states)
    let time = MachineTime(now: { [clock] in clock.now }, offset: order.offset, zone: order.zone)
    for rule in rules {
      let state = kept[rule.expression.description]
      rule.start(from: state, time, on: clock)
      // One with a state has been there before.
      if state == nil, let source = rule.assigned { assign(source, to: rule) }
    }
    pass()
  }

  private func add(_ rule: TrialRule) {
    rules.append(rule)
    for source in Set(rule.inputs) { readers[source, default: []].append(rule) }
    targets.formUnion(rule.targets)
    if !rule.expression.operator.goesBothWays { onlyTargets.formUnion(rule.targets) }
    rule.onWrite = { [unowned self, unowned rule] in write($0, $1, by: rule) }
    rule.onFault = { [unowned self] error in
      faults = (faults.count + 1, faults.first ?? "\(error)")
    }
  }

  /// Ranks the rules: each after those that bring values to its sources.
  private func rank() {
    onlyTargets.subtract(
      rules.filter { $0.expression.operator.goesBothWays }.flatMap(\.targets))
    var writers: [String: [TrialRule]] = [:]
    for rule in rules { for target in rule.targets { writers[target, default: []].append(rule) } }
    // The graph has no cycles, so no chain has more rules than there are.
    var (changed, rounds) = (true, 0)
    while changed, rounds < rules.count {
      (changed, rounds) = (false, rounds + 1)
      for rule in rules {
        for writer in rule.inputs.flatMap({ writers[$0] ?? [] })
        where writer !== rule && writer.rank >= rule.rank {
          (rule.rank, changed) = (writer.rank + 1, true)
        }
      }
    }
  }

  /// Returns the recorded states of operators, by expression.
  private func kept(_ states: PastStates) -> [String: [[JSONValue?]]] {
    var kept: [String: [[JSONValue?]]] = [:]
    for source in states.sources(of: "bindings") where source.hasSuffix("/state") {
      guard case .object(let object)? = states.value(of: source)?.value,
        case .string(let text)? = object["expr"],
        let operators = Automation.operators(of: object)
      else { continue }
      kept[text] = operators
    }
    return kept
  }

  private func assign(_ source: String, to rule: TrialRule) {
    if rule.isList { return evaluate(rule) }
    if let value = values[source] { queue.append((rule, source, value)) }
  }

  // MARK: Events

  func receive(_ change: PastChange) {
    if let first = commit.first, first.event.time != change.event.time { apply() }
    commit.append(change)
  }

  /// Applies the changes of a commit.
  private func apply() {
    guard let time = commit.first?.event.time else { return }
    run(upTo: time)
    let changes = commit
    commit.removeAll(keepingCapacity: true)
    guard stopped == nil else { return }
    var changed: [String] = []
    for change in changes {
      let value = (change.value ?? order.empty[change.source])?.value ?? .null
      let (source, isTarget) = (change.source, targets.contains(change.source))
      truth[source] = value
      if isTarget, let binding = replaced(change) {
        guard isCounting else { continue }
        comparison.addTruth(
          source, value, at: time, because: change.event.cause?.seq, by: binding,
          tried: values[source])
        continue
      }
      values[source] = value
      for rule in readers[source] ?? [] where rule.isEach { queue.append((rule, source, value)) }
      if !changed.contains(source) { changed.append(source) }
    }
    for source in changed { tellNewest(source, except: nil) }
    if let first = changes.first?.event.seq, let last = changes.last?.event.seq {
      causes = first...max(first, last)
    }
    pass()
    causes = nil
  }

  /// Returns the binding that has written a change, if the trial takes its place; otherwise `nil`.
  private func replaced(_ change: PastChange) -> String? {
    guard let cause = change.event.cause, let binding = cause.binding else { return nil }
    if onlyTargets.contains(change.source) { return binding }
    guard let written = try? BindExpression(binding, within: .sources) else { return binding }
    let ends: Set = [written.left, written.right]
    return rules.contains { $0.expression.operator.goesBothWays && $0.ends == ends }
      ? binding : nil
  }

  private func tellNewest(_ source: String, except writer: TrialRule?) {
    guard let value = values[source] else { return }
    for rule in readers[source] ?? [] where !rule.isEach && rule !== writer {
      if !rule.isList {
        queue.append((rule, source, value))
      } else if !changedLists.contains(where: { $0 === rule }) {
        changedLists.append(rule)
      }
    }
  }

  // MARK: Values

  /// Passes values on until nothing is left: lists last, each after the rules that write its sources.
  ///
  /// A few rules that feed each other can make any number of values of one.
  private func pass() {
    while stopped == nil {
      steps.values += 1
      if steps.values.isMultiple(of: 256) { check() }
      if let (rule, source, value) = queue.popFirst() {
        rule.receive(value, from: source)
      } else if let i = changedLists.indices.min(by: {
        changedLists[$0].rank < changedLists[$1].rank
      }) {
        evaluate(changedLists.remove(at: i))
      } else {
        return
      }
    }
    while queue.popFirst() != nil {}
    changedLists = []
  }

  private func evaluate(_ rule: TrialRule) {
    let elements = rule.expression.leftPaths.map { values[$0.text] }
    guard elements.contains(where: { $0 != nil }) else { return }
    rule.receive(.array(elements.map { $0 ?? .null }), from: rule.expression.left)
  }

  private var isCounting: Bool { clock.now >= times.begin }

  private func write(_ source: String, _ value: JSONValue, by rule: TrialRule) {
    guard values[source] != value else { return }
    let name = rule.name.isEmpty ? nil : rule.name
    if types.isOn, let mismatch = types.mismatch(of: value.text, for: source) {
      // The daemon would have refused it too, so the source keeps its value.
      if isCounting {
        comparison.addRefusal(
          source, value, at: clock.now, rule: mismatch.rule, by: name, truth: truth[source])
      }
      return
    }
    if let rule = kind(of: order.empty[source], unfitFor: value) {
      if isCounting {
        comparison.addRefusal(
          source, value, at: clock.now, rule: rule, by: name, truth: truth[source])
      }
      return
    }
    values[source] = value
    if isCounting {
      comparison.addTrial(source, value, at: clock.now, because: causes, by: name)
    }
    for reader in readers[source] ?? [] where reader.isEach && reader !== rule {
      queue.append((reader, source, value))
    }
    tellNewest(source, except: rule)
  }

  /// Returns the kind of the values of a source if a value is of another one; `nil` if it fits.
  ///
  /// - Parameter empty: The value of an empty list or map; `nil` for other sources.
  private func kind(of empty: JSONText?, unfitFor value: JSONValue) -> String? {
    switch (empty?.value, value) {
    case (nil, _), (.array, .array), (.object, .object): nil
    case (.array, _): "a list"
    default: "an object"
    }
  }

  // MARK: Time

  /// Runs the timers up to a time.
  private func run(upTo time: Int64) {
    while stopped == nil, clock.runNext(upTo: time) {
      steps.timers += 1
      pass()
      comparison.close(at: clock.now) { truth[$0] }
      if steps.timers.isMultiple(of: 256) { check() }
    }
    comparison.close(at: clock.now) { truth[$0] }
  }

  func proceed(past seq: UInt64, time: Int64, events: Int) -> Bool {
    steps.events += events
    check()
    return stopped == nil
  }

  private func check() {
    let limits = order.limits
    if steps.events + steps.timers + steps.values > limits.steps {
      stopped = "it has read \(limits.steps) events and times"
    } else if ContinuousClock.now - begun > .seconds(limits.seconds) {
      stopped = "it has taken \(limits.seconds) seconds"
    } else if rules.reduce(0, { $0 + $1.memory }) > limits.bytes {
      stopped = "its operators hold more than \(limits.bytes) bytes"
    } else if (queue.count + clock.count) * Limits.bytesOfEntry > limits.bytes {
      stopped = "its values and timers that wait take more than \(limits.bytes) bytes"
    }
  }

  func finish() -> TrialReport {
    apply()
    if stopped == nil { run(upTo: order.until) }
    comparison.close(at: nil) { truth[$0] }
    for rule in rules { rule.stop() }
    let taken = ContinuousClock.now - begun
    return TrialReport(
      from: Timestamp(microseconds: max(times.begin, times.start)).text,
      until: Timestamp(microseconds: clock.now).text, events: steps.events,
      milliseconds: Int(taken / .milliseconds(1)), counts: comparison.counts,
      rows: comparison.rows, faults: faults.count, fault: faults.first, stopped: stopped)
  }
}

extension TrialRule {
  fileprivate var ends: Set<String> { [expression.left, expression.right] }
}
