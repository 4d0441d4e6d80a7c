internal import API
internal import JSON
internal import Signals
internal import Wire

/// A binding of a trial: it has the operators of a live one, and writes into the world of the trial.
final class TrialRule {
  let name: String
  let expression: BindExpression

  /// The highest number of rules in a chain that ends with this one.
  var rank = 1
  private let transformer: Transformer<JSONValue, JSONValue>
  private let pipeline: BindPipeline<JSONValue>?
  private let schedule: Schedule?
  private var timer: ScheduleTimer?

  /// Receives what it writes: the source and the value.
  var onWrite: (String, JSONValue) -> Void = { _, _ in }

  /// Receives each error of a transformer.
  var onFault: (any Error) -> Void = { _ in }

  init(_ name: String, _ read: ReadBinding, on clock: TrialClock) {
    self.name = name
    expression = read.expression
    transformer = read.transformer
    schedule = read.schedule
    let time = BindClock(now: { [unowned clock] in Double(clock.now) / 1_000_000 }) {
      [unowned clock] in clock.schedule(after: $0, $1)
    }
    pipeline = read.steps.map { BindPipeline($0, time, check: JSONTransformers.check) }
  }

  /// The sources whose changes it gets, and whether it gets each one or the newest after a commit.
  var inputs: [String] {
    if expression.operator.goesBothWays { return [expression.left, expression.right] }
    return expression.operator.goesLeft ? [expression.right] : expression.leftPaths.map(\.text)
  }

  var targets: [String] { expression.writes }

  /// Whether its left end is a list, which it gets as a whole after a commit.
  var isList: Bool { if case .list = expression.source { true } else { false } }
  var isEach: Bool { pipeline != nil && !isList }

  /// The bytes of the values that its operators hold.
  var memory: Int { pipeline?.weight { $0.memory } ?? 0 }

  /// Starts the operators, from a recorded state if there is one.
  func start(from state: [[JSONValue?]]?, _ time: MachineTime, on clock: TrialClock) {
    if let pipeline {
      pipeline.onOutput = { [unowned self] in onWrite(expression.right, $0) }
      pipeline.onFault = { [unowned self] in onFault($0) }
      pipeline.start()
      if let state { pipeline.restore(state) }
    }
    guard let schedule else { return }
    timer = ScheduleTimer(schedule, time, on: clock) { [unowned self] seconds in
      pipeline?.pass(.string(Timestamp(microseconds: seconds * 1_000_000).text))
    }
    timer?.start(since: nil)
  }

  /// The source whose value it assigns when it starts; `nil` if there is none.
  var assigned: String? {
    guard expression.operator.assignsAtOnce, !expression.leftPaths.isEmpty else { return nil }
    return expression.operator.goesRight ? expression.left : expression.right
  }

  /// Passes on the value of a source, or of a list as a whole.
  func receive(_ value: JSONValue, from source: String) {
    if let pipeline { return pipeline.pass(value) }
    let isRight = source == expression.left && expression.operator.goesRight
    let step = isRight ? transformer.forward : transformer.reverse
    guard case .now(let transform)? = step else { return }
    do {
      onWrite(isRight ? expression.right : expression.left, try transform(value))
    } catch {
      onFault(error)
    }
  }

  func stop() {
    timer?.stop()
    pipeline?.stop()
    (onWrite, onFault) = ({ _, _ in }, { _ in })
  }
}
