/// One transformer or operator of a binding.
public enum BindStep<Value> {
  /// Converts each value.
  case transformer(Transformer<Value, Value>)
  /// Drops each value for which the function returns `false`.
  case filter((Value) throws -> Bool)
  /// An operator with a state of its own; the function creates it.
  case stage(() -> any BindStage<Value>)
}

/// The reason why an argument does not fit a transformer.
public struct BindMisuse: Error {
  /// The index of the argument.
  public let index: Int
  /// The valid arguments, for example `a low value up to the high one`.
  public let expected: String

  /// Creates the reason from the index of the argument and a description of the valid ones.
  public init(_ index: Int, _ expected: String) {
    (self.index, self.expected) = (index, expected)
  }
}

/// The time of a binding.
public struct BindClock {
  /// Calls a function once, after a number of seconds; the result cancels the call.
  public let schedule: (_ seconds: Double, _ action: @escaping () -> Void) -> any Disposable
  /// Returns the seconds since 1970.
  public let now: () -> Double

  /// Creates a clock.
  public init(
    now: @escaping () -> Double,
    schedule: @escaping (_ seconds: Double, _ action: @escaping () -> Void) -> any Disposable
  ) {
    (self.now, self.schedule) = (now, schedule)
  }
}

/// An operator of a binding with a state of its own.
public protocol BindStage<Value>: AnyObject {
  associatedtype Value

  /// Whether the state must survive a restart.
  var isDurable: Bool { get }
  /// Whether a value waits to be emitted.
  var isWaiting: Bool { get }
  /// Whether it holds values that it has received; otherwise its state is small.
  var holdsValues: Bool { get }
  /// The state; ``restore(_:)`` accepts it.
  var state: [Value?] { get }

  /// Returns the sum of the weights of the values that it holds.
  func weight(of weigh: (Value) -> Int) -> Int

  /// Restores a state of the same operator; a state that does not match is ignored.
  ///
  /// - Parameter waits: Whether a value that was waiting waits again, from the beginning.
  func restore(_ state: [Value?], waits: Bool)

  /// Called once, before the first value.
  func start(_ clock: BindClock, emit: @escaping (Value) -> Void)

  /// Takes a value, and emits now or later.
  func receive(_ value: Value) throws

  /// Cancels all scheduled calls.
  func stop()
}

extension BindStage {
  /// Operators of time pass a value on again after a restart, so they keep nothing.
  public var isDurable: Bool { false }
  /// By default nothing waits.
  public var isWaiting: Bool { false }
  /// By default it holds no values.
  public var holdsValues: Bool { false }
  /// By default those of the state, if it holds values.
  public func weight(of weigh: (Value) -> Int) -> Int {
    guard holdsValues else { return 0 }
    return state.reduce(0) { sum, value in sum + (value.map(weigh) ?? 0) }
  }
  /// Does nothing by default.
  public func stop() {}
}

/// The transformers and operators of one binding, through which values pass from left to right.
///
/// Values that operators of time emit later pass through the rest of the steps in a call from the
/// scheduler.
public final class BindPipeline<Value> {
  private enum Step {
    case transform((Value) throws -> Value)
    case filter((Value) throws -> Bool)
    case stage(any BindStage<Value>)
  }

  private var steps: [Step] = []
  private let clock: BindClock
  private var isStopped = false
  private let live = LiveNode("BindPipeline")

  /// Called with each value that has passed all steps.
  public var onOutput: (Value) -> Void = { _ in }
  /// Called with each error of a step; the value is dropped.
  public var onFault: (any Error) -> Void = { _ in }
  /// Called after each call from the scheduler.
  public var onTime: () -> Void = {}

  /// Creates a pipeline; ``start()`` starts it.
  ///
  /// - Parameter check: Throws to reject a value that a transformer returned.
  public init(
    _ steps: [BindStep<Value>], _ clock: BindClock, check: @escaping (Value) throws -> Void
  ) {
    self.clock = clock
    self.steps = steps.map { step in
      switch step {
      case .filter(let passes): return .filter(passes)
      case .stage(let make): return .stage(make())
      case .transformer(let transformer):
        guard case .now(let transform)? = transformer.forward else {
          preconditionFailure("a pipeline needs transformers that answer at once")
        }
        return .transform { value in
          let result = try transform(value)
          try check(result)
          return result
        }
      }
    }
  }

  private var stages: [any BindStage<Value>] {
    steps.compactMap { if case .stage(let stage) = $0 { stage } else { nil } }
  }

  /// Whether a step has a state that must survive a restart.
  public var isDurable: Bool { stages.contains { $0.isDurable } }

  /// Whether a value waits in a step before the first durable one.
  public var isWaitingAtFirst: Bool {
    for stage in stages {
      if stage.isDurable { return false }
      if stage.isWaiting { return true }
    }
    return false
  }

  /// Whether a value waits in a step.
  package var isWaiting: Bool { stages.contains { $0.isWaiting } }

  /// The number of operators that hold values which they have received.
  public var holderCount: Int { stages.count { $0.holdsValues } }

  /// Returns the sum of the weights of all values that operators hold.
  public func weight(of weigh: (Value) -> Int) -> Int {
    stages.reduce(0) { $0 + $1.weight(of: weigh) }
  }

  /// The states of all operators.
  public var state: [[Value?]] { stages.map { $0.state } }

  /// The states of the first durable operator and those after it.
  public var durableState: [[Value?]] {
    Array(stages.drop { !$0.isDurable }.map { $0.state })
  }

  /// Restores the states of a pipeline with the same steps; call it after ``start()``.
  ///
  /// Values that waited after the first durable operator wait again. Other waiting values are
  /// dropped: the caller passes the present value of the source on again.
  public func restore(_ state: [[Value?]]) {
    let stages = stages
    guard state.count == stages.count else { return }
    var waits = false
    for (stage, state) in zip(stages, state) {
      waits = waits || stage.isDurable
      stage.restore(state, waits: waits)
    }
  }

  /// Connects the operators.
  public func start() {
    for (i, step) in steps.enumerated() {
      guard case .stage(let stage) = step else { continue }
      let clock = BindClock(now: clock.now) { [weak self, clock] seconds, action in
        clock.schedule(seconds) {
          guard let self, !self.isStopped else { return }
          action()
          self.onTime()
        }
      }
      stage.start(clock) { [weak self] in self?.pass($0, from: i + 1) }
    }
  }

  /// Passes a value through all steps.
  public func pass(_ value: Value) { pass(value, from: 0) }

  private func pass(_ value: Value, from first: Int) {
    guard !isStopped else { return }
    do {
      var value = value
      for step in steps[first...] {
        switch step {
        case .transform(let transform): value = try transform(value)
        case .filter(let passes): guard try passes(value) else { return }
        case .stage(let stage): return try stage.receive(value)
        }
      }
      onOutput(value)
    } catch {
      onFault(error)
    }
  }

  /// Drops all waiting values and cancels all scheduled calls.
  public func stop() {
    isStopped = true
    for stage in stages { stage.stop() }
    (onOutput, onFault, onTime) = ({ _ in }, { _ in }, {})
  }
}

// MARK: Operators of time

/// The parts that operators of time have in common: at most one waiting value, and one timer.
package class TimedStage<Value>: BindStage {
  fileprivate let seconds: Double
  fileprivate var held: Value?
  fileprivate private(set) var emit: (Value) -> Void = { _ in }
  private var clock: BindClock?
  private let timer = SerialDisposable(otherDisposable: nil)

  fileprivate init(_ seconds: Double) { self.seconds = seconds }

  package var isWaiting: Bool { held != nil }
  package var holdsValues: Bool { true }
  package var state: [Value?] { [held] }

  package func start(_ clock: BindClock, emit: @escaping (Value) -> Void) {
    self.clock = clock
    self.emit = emit
  }

  package func restore(_ state: [Value?], waits: Bool) {
    if waits, let first = state.first, let value = first { try? receive(value) }
  }

  package func receive(_ value: Value) throws {}

  package func stop() {
    held = nil
    timer.dispose()
  }

  fileprivate func fire() {}

  fileprivate final func startTimer() {
    timer.otherDisposable?.dispose()
    timer.otherDisposable = clock?.schedule(seconds) { [weak self] in self?.fire() }
  }

  fileprivate final func stopTimer() {
    timer.otherDisposable?.dispose()
    timer.otherDisposable = nil
  }
}

/// Emits a value once it has not changed for a time.
///
/// An equal value does not prolong the time. If the value changes back to the last emitted one,
/// nothing is emitted.
package final class DebounceStage<Value: Equatable>: TimedStage<Value> {
  private var last: Value?

  package override init(_ seconds: Double) { super.init(seconds) }

  package override var state: [Value?] { [held, last] }

  package override func restore(_ state: [Value?], waits: Bool) {
    guard state.count == 2 else { return }
    last = state[1]
    super.restore(state, waits: waits)
  }

  package override func receive(_ value: Value) {
    if value == held { return }
    if value == last {
      held = nil
      return stopTimer()
    }
    held = value
    startTimer()
  }

  fileprivate override func fire() {
    guard let value = held else { return }
    (held, last) = (nil, value)
    emit(value)
  }
}

/// Emits the newest value at most once per interval, at its end.
package final class SampleStage<Value>: TimedStage<Value> {
  package override init(_ seconds: Double) { super.init(seconds) }

  package override func receive(_ value: Value) {
    if held == nil { startTimer() }
    held = value
  }

  fileprivate override func fire() {
    guard let value = held else { return }
    held = nil
    emit(value)
  }
}

/// Emits at most one value per interval: the first at once, then the newest at its end.
package final class ThrottleStage<Value>: TimedStage<Value> {
  private var isClosed = false

  package override init(_ seconds: Double) { super.init(seconds) }

  /// A value that waited waits again: the stages after this one are not restored yet.
  package override func restore(_ state: [Value?], waits: Bool) {
    guard waits, let first = state.first, let value = first else { return }
    (isClosed, held) = (true, value)
    startTimer()
  }

  package override func receive(_ value: Value) {
    if isClosed { return held = value }
    open(with: value)
  }

  private func open(with value: Value) {
    isClosed = true
    startTimer()
    emit(value)
  }

  fileprivate override func fire() {
    isClosed = false
    guard let value = held else { return }
    held = nil
    open(with: value)
  }
}

/// Emits each value after a time.
///
/// A bounded number of values waits. If there are too many, a new value replaces the last one.
package final class DelayStage<Value>: BindStage {
  private let seconds: Double
  private let most: (count: Int, weight: Int)
  private let weigh: (Value) -> Int
  private var waiting = Queue<Value>()
  private var weight = 0
  private var clock: BindClock?
  private var emit: (Value) -> Void = { _ in }
  private var timers = CompositeDisposable()

  /// - Parameters:
  ///   - most: The number and the total weight of the values that may wait.
  ///   - weigh: Returns the weight of a value, for example in bytes.
  package init(
    _ seconds: Double, most: (count: Int, weight: Int), weigh: @escaping (Value) -> Int
  ) {
    (self.seconds, self.most, self.weigh) = (seconds, most, weigh)
  }

  package var isWaiting: Bool { !waiting.isEmpty }
  package var holdsValues: Bool { true }

  package func weight(of weigh: (Value) -> Int) -> Int {
    waiting.reduce(0) { $0 + weigh($1) }
  }

  /// The number of waiting values.
  package var count: Int { waiting.count }

  package var state: [Value?] { [waiting.last] }

  package func restore(_ state: [Value?], waits: Bool) {
    if waits, let first = state.first, let value = first { receive(value) }
  }

  package func start(_ clock: BindClock, emit: @escaping (Value) -> Void) {
    self.clock = clock
    self.emit = emit
  }

  package func receive(_ value: Value) {
    let added = weigh(value)
    if !waiting.isEmpty, waiting.count >= most.count || weight + added > most.weight {
      if let last = waiting.popLast() { weight -= weigh(last) }
    } else if let timer = clock?.schedule(seconds, { [weak self] in self?.fire() }) {
      timers.add(disposable: timer)
    }
    waiting.append(value)
    weight += added
  }

  private func fire() {
    guard let value = waiting.popFirst() else { return }
    weight -= weigh(value)
    emit(value)
  }

  package func stop() {
    waiting = Queue()
    timers.dispose()
  }
}

/// Drops a value that is equal to the one before.
package final class DistinctStage<Value: Equatable>: BindStage {
  private var last: Value?
  private var emit: (Value) -> Void = { _ in }

  /// Creates the operator without a last value.
  package init() {}

  package var isDurable: Bool { true }
  package var holdsValues: Bool { true }
  package var state: [Value?] { [last] }

  package func restore(_ state: [Value?], waits: Bool) { last = state.first ?? nil }

  package func start(_ clock: BindClock, emit: @escaping (Value) -> Void) { self.emit = emit }

  package func receive(_ value: Value) {
    guard value != last else { return }
    last = value
    emit(value)
  }
}
