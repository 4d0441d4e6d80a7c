internal import API
internal import Connections
internal import EventSourcing
internal import JSON
internal import Model
internal import Signals
internal import Wire

/// The left end of a binding that has several sources, `every` or operators.
///
/// It passes values through the operators and emits the results. The state of operators such as
/// `count` is an event: it is recorded in the same command as the write that follows from it, or on
/// its own if nothing is written.
final class Automation {
  let expression: BindExpression
  let inputs: [SourceReading.Source]

  /// The reading of a list of sources with a long one; `nil` if none is under way.
  private var reading: SourceReading?
  private let access: Access
  private unowned let all: LiveBindings
  private let pipeline: BindPipeline<JSONValue>
  private var timer: ScheduleTimer?
  private let bag = DisposeBag()

  /// Emits the results.
  let outputs = PassthroughSubject<JSONValue, Never>()

  /// Emits the errors of transformers and operators.
  let faults = PassthroughSubject<any Error, Never>()

  /// The last result; `nil` if there was none.
  private(set) var last: JSONValue?

  /// The stream of the state; `nil` if it is not kept.
  private let key: String?

  /// Runs a function in a command of the maker of the binding.
  private let perform: (_ body: () throws -> Void) throws(Refusal) -> Void

  /// The position of the last event that was passed on.
  private var position: UInt64 = 0

  /// The position up to which no value waits in an operator of time.
  private var passedPosition: UInt64 = 0

  /// The values that have led to the last result.
  var cause: Command.Cause {
    let name = expression.causeName(of: .left)
    let binding = expression.textOfCause
    guard position > 0, !inputs.isEmpty else {
      return Command.Cause(source: name, seq: nil, binding: binding)
    }
    // A value that waits is passed on again after a restart.
    if !pipeline.isWaitingAtFirst { passedPosition = position }
    return Command.Cause(source: name, seq: passedPosition, binding: binding)
  }

  /// The position in the last recorded state.
  private(set) var keptPosition: UInt64?

  /// The durable part of the last recorded state.
  private var kept: JSONValue?

  /// Whether a value waits in an operator of time.
  var isWaiting: Bool { pipeline.isWaiting }

  /// Whether a recorded state was lost.
  private var isLost = false

  /// The bytes of the values that operators hold, and of the last result; charged to the maker.
  private var heldBytes = 0

  /// The binding that it is the left end of.
  weak var binding: LiveBinding?

  init(
    _ expression: BindExpression, _ inputs: [SourceReading.Source], _ steps: [BindStep<JSONValue>],
    _ schedule: Schedule?, by access: Access, _ all: LiveBindings, key: String?,
    perform: @escaping (_ body: () throws -> Void) throws(Refusal) -> Void
  ) {
    self.expression = expression
    self.inputs = inputs
    self.access = access
    self.all = all
    self.perform = perform
    pipeline = BindPipeline(
      steps, all.bindClock(of: access.caller.uid), check: JSONTransformers.check)
    self.key = pipeline.isDurable ? key : nil
    pipeline.onOutput = { [unowned self] value in
      last = value
      outputs.send(value)
    }
    pipeline.onFault = { [unowned self] in faults.send($0) }
    pipeline.onTime = { [unowned self] in
      keepState()
      chargeHeld()
    }
    guard let schedule, let scheduler = all.scheduler else { return }
    timer = ScheduleTimer(schedule, all.time, on: scheduler) { [unowned self] seconds in
      all.perform(for: access.caller.uid) { [weak self] in
        guard let self, binding?.isDisposed == false else { return }
        pass(.string(Timestamp(microseconds: seconds * 1_000_000).text))
      }
    }
  }

  // MARK: Values

  /// Follows the sources.
  ///
  /// - Parameter passing: Whether the present values are passed on too.
  func start(passing: Bool) {
    pipeline.start()
    restoreState()
    access.catalog.parts.watch().dispose(in: bag)
    // A long list is decoded in steps, and then passed on like a change.
    let isLong = passing && inputs.contains(where: \.isLong)
    for input in inputs { follow(input, passing: isLong && !isList) }
    timer?.start(since: passing ? nil : all.time.stop)
    guard passing else { return }
    if !isLong { _ = passPresent() } else if isList { all.sourceChanged(self) }
  }

  func stop() {
    endReading()
    bag.dispose()
    timer?.stop()
    pipeline.stop()
    all.context.charge(-heldBytes, to: access.caller.uid)
    heldBytes = 0
  }

  private var isList: Bool { !expression.isOfOnePath }

  private func follow(_ input: SourceReading.Source, passing: Bool) {
    // Operators may count: they get each value of a source, and a list its values after a commit.
    all.inputs.observe(
      input, for: access.caller.uid, isEach: !isList, passingLong: passing, access
    ) { [unowned self] input, change in
      guard !isList else { return all.sourceChanged(self) }
      position = max(position, input.position(of: change))
      pass(input.value(after: change) ?? .null)
    }
    .dispose(in: bag)
  }

  /// Passes on the present values of the sources; of sources that never had a value, nothing.
  ///
  /// Long lists and maps are read in steps; call it until no step is left.
  ///
  /// - Returns: Whether a step is left.
  func passPresent() -> Bool {
    guard !inputs.isEmpty, binding?.isDisposed == false else { return false }
    let (host, parts) = (access.host, access.catalog.parts)
    let reading = reading ?? beginReading(at: host.durable, parts)
    guard !reading.step() else { return true }
    let values = reading.values
    self.reading = nil
    defer { reading.free(in: all.context, for: access.caller.uid) }
    guard values.contains(where: { $0 != nil }) else { return false }
    pass(isList ? .array(values.map { $0 ?? .null }) : values[0] ?? .null)
    return false
  }

  private func beginReading(at position: UInt64, _ parts: PartFinder) -> SourceReading {
    self.position = max(self.position, position)
    let reading = SourceReading(inputs, at: position) { [host = access.host] source in
      source.provider.durable(source.name, host, parts)
    }
    self.reading = reading
    return reading
  }

  private func endReading() {
    reading?.free(in: all.context, for: access.caller.uid)
    reading = nil
  }

  private func pass(_ value: JSONValue) {
    // Operators may hold it in place of others, or with them, and it may be the last result.
    let (bytes, holders) = (value.memory, pipeline.holderCount)
    let added = max(holders > 0 ? bytes : 0, (holders + 1) * bytes - heldBytes)
    do throws(WireError) {
      try all.context.checkMemory(for: added, of: access.caller.uid)
    } catch {
      return faults.send(error)
    }
    pipeline.pass(value)
    keepState()
    chargeHeld()
  }

  /// Charges the maker for what is held now.
  private func chargeHeld() {
    let bytes = pipeline.weight { $0.memory } + (last?.memory ?? 0)
    all.context.charge(bytes - heldBytes, to: access.caller.uid)
    heldBytes = bytes
  }

  // MARK: State

  /// Records the state, unless it is recorded already.
  private func keepState() {
    guard key != nil, isLost || encoded(pipeline.durableState) != kept else { return }
    do throws(Refusal) {
      try perform { try recordState() }
    } catch {
      loseState()
      faults.send(error)
    }
  }

  /// Records the state within a command.
  func recordState() throws {
    guard let key else { return }
    let state = encoded(pipeline.durableState)
    guard isLost || state != kept else { return }
    // A value that waits before the first durable operator is passed on again after a restart.
    let at = pipeline.isWaitingAtFirst ? keptPosition ?? 0 : position
    let text = JSONValue.object([
      "expr": .string(expression.description), "at": .number(JSONNumber(at)),
      "operators": encoded(pipeline.state),
    ])
    try JSONTransformers.check(text)
    all.service?.keepState(text.text, key)
    (kept, keptPosition, isLost) = (state, at, false)
  }

  /// Notes that recorded events were lost or rolled back.
  func loseState() {
    guard key != nil, kept != nil, !isLost else { return }
    isLost = true
    all.addLostState(self)
  }

  /// Records a lost state again.
  func keepLostState() {
    guard isLost else { return }
    do throws(Refusal) {
      try perform { try recordState() }
    } catch {
      isLost = false
      loseState()
    }
  }

  private func restoreState() {
    guard let key, case .object(let object)? = all.service?.state(key)?.value,
      object["expr"] == .string(expression.description),
      case .number(let at)? = object["at"], let position = at.int64,
      let operators = Self.operators(of: object)
    else { return }
    pipeline.restore(operators)
    self.position = UInt64(max(0, position))
    keptPosition = self.position
    kept = encoded(pipeline.durableState)
    chargeHeld()
  }

  /// Returns the states of the operators in a recorded state; `nil` if it has none.
  static func operators(of object: JSONObject) -> [[JSONValue?]]? {
    guard case .array(let operators)? = object["operators"] else { return nil }
    return operators.map { stage in
      guard case .array(let values) = stage else { return [] }
      return values.map { if case .array(let value) = $0 { value.first } else { nil } }
    }
  }

  /// Returns states as arrays; each value is an array of its own, empty if there is none.
  private func encoded(_ states: [[JSONValue?]]) -> JSONValue {
    .array(
      states.map { state in .array(state.map { value in .array(value.map { [$0] } ?? []) }) })
  }
}
