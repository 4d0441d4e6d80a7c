internal import EventSourcing
internal import JSON
internal import Signals

// The operators that need time or keep a state.

/// The limits of operators.
enum OperatorLimits {
  /// The shortest and the longest duration, in seconds.
  static let durations = 0.1...31_536_000

  /// The number and the bytes of the values that wait in one `delay`.
  static let waiting = (count: 256, weight: 262_144)

  /// The parts into which a window of time is divided.
  static let parts = 30

  /// The most values of a window that is counted in values.
  static let values = 100

  /// Returns a duration in seconds.
  static func seconds(_ arguments: [BindArgument], at index: Int) throws(BindMisuse) -> Double {
    guard let seconds = arguments[index].seconds, durations ~= seconds else {
      throw BindMisuse(index, "a duration from 100ms to 365d")
    }
    return seconds
  }

  /// Returns the window that an optional argument gives.
  static func window(
    _ arguments: [BindArgument], at index: Int
  ) throws(BindMisuse) -> Totals.Window {
    guard arguments.indices ~= index else { return .all }
    if arguments[index].seconds != nil { return .time(try seconds(arguments, at: index)) }
    guard let count = arguments[index].integer, 1...values ~= count else {
      throw BindMisuse(index, "a window of 1 to \(values) values")
    }
    return .values(count)
  }
}

extension TransformerRegistry where Value == JSONValue {
  mutating func registerTime() {
    register(
      operator: "debounce", [.duration], "passes a value on once it has not changed for so long"
    ) { arguments throws(BindMisuse) in
      let seconds = try OperatorLimits.seconds(arguments, at: 0)
      return .stage { DebounceStage<JSONValue>(seconds) }
    }
    register(
      operator: "sample", [.duration], "passes on the newest value, once per interval, at its end"
    ) { arguments throws(BindMisuse) in
      let seconds = try OperatorLimits.seconds(arguments, at: 0)
      return .stage { SampleStage<JSONValue>(seconds) }
    }
    register(
      operator: "throttle", [.duration],
      "passes on the first value at once, then the newest, once per interval"
    ) { arguments throws(BindMisuse) in
      let seconds = try OperatorLimits.seconds(arguments, at: 0)
      return .stage { ThrottleStage<JSONValue>(seconds) }
    }
    register(operator: "delay", [.duration], "passes each value on so much later") {
      arguments throws(BindMisuse) in
      let seconds = try OperatorLimits.seconds(arguments, at: 0)
      return .stage {
        DelayStage<JSONValue>(seconds, most: OperatorLimits.waiting) { $0.text.text.utf8.count }
      }
    }
  }

  mutating func registerMemory() {
    register(operator: "distinct", [], "drops a value that is equal to the one before") { _ in
      .stage { DistinctStage<JSONValue>() }
    }
    register(
      operator: "hysteresis", [.number, .number],
      "true from the high number on, false down to the low one; unchanged between them"
    ) { arguments throws(BindMisuse) in
      let range = try numberRange(arguments, from: 0)
      return .stage { HysteresisStage(range) }
    }
    register(
      operator: "count", Parameters([], optional: [.window]),
      "the number of values, or of those in the window"
    ) { arguments throws(BindMisuse) in
      let window = try OperatorLimits.window(arguments, at: 0)
      return .stage { ScanStage("count", window) }
    }
    register(
      operator: "scan", Parameters([.aggregate], optional: [.window]),
      "min, max, sum or avg of the values so far, or of those in the window"
    ) { arguments throws(BindMisuse) in
      let window = try OperatorLimits.window(arguments, at: 1)
      return .stage { ScanStage(arguments[0].word ?? "sum", window) }
    }
  }
}

/// Emits `true` from a high number on and `false` down to a low one; between them it emits its last
/// result, at first `false`.
final class HysteresisStage: BindStage {
  typealias Value = JSONValue

  private let range: NumberRange
  private var isOn = false
  private var emit: (JSONValue) -> Void = { _ in }

  init(_ range: NumberRange) { self.range = range }

  var isDurable: Bool { true }
  var state: [JSONValue?] { [.bool(isOn)] }

  func restore(_ state: [JSONValue?], waits: Bool) {
    if case .bool(let bool)?? = state.first { isOn = bool }
  }

  func start(_ clock: BindClock, emit: @escaping (JSONValue) -> Void) { self.emit = emit }

  func receive(_ value: JSONValue) throws {
    let number = try value.number("hysteresis")
    if number >= range.high { isOn = true } else if number <= range.low { isOn = false }
    emit(.bool(isOn))
  }
}

/// The count, the sum, the minimum and the maximum of numbers.
struct Totals: Equatable {
  /// The values that count.
  enum Window: Equatable {
    case all
    /// So many last values.
    case values(Int)
    /// The values of so many last seconds.
    case time(Double)
  }

  private(set) var count = 0
  private(set) var sum = JSONNumber(0)
  private(set) var low: JSONNumber?
  private(set) var high: JSONNumber?

  init() {}

  /// The totals of values without numbers.
  init(count: Int) { self.count = count }

  init(_ number: JSONNumber) { (count, sum, low, high) = (1, number, number, number) }

  /// Adds other totals.
  mutating func add(_ other: Totals, _ name: String) throws {
    // The others need no sum, which may have too many digits.
    if ["sum", "avg"].contains(name) { sum = try API.sum(of: [sum, other.sum], name) }
    count += other.count
    if let number = other.low, low.map({ number < $0 }) ?? true { low = number }
    if let number = other.high, high.map({ $0 < number }) ?? true { high = number }
  }

  /// Returns the result of an aggregate; `nil` if it has none without values.
  func result(_ name: String) throws -> JSONValue? {
    switch name {
    case "count": .number(JSONNumber(count))
    case "sum": .number(sum)
    case "min": low.map { .number($0) }
    case "max": high.map { .number($0) }
    default: count == 0 ? nil : .number(try quotient(sum, count))
    }
  }

  // MARK: State

  /// The totals as an array, which ``init(kept:)`` reads.
  var kept: JSONValue {
    .array(
      [.number(JSONNumber(count)), .number(sum)]
        + [low, high].compactMap { number in number.map { .number($0) } })
  }

  init?(kept: JSONValue?) {
    guard case .array(let parts)? = kept, parts.count == 2 || parts.count == 4 else { return nil }
    let numbers = parts.compactMap { if case .number(let number) = $0 { number } else { nil } }
    guard numbers.count == parts.count, let count = numbers[0].int64 else { return nil }
    self.count = Int(count)
    sum = numbers[1]
    if numbers.count == 4 { (low, high) = (numbers[2], numbers[3]) }
  }
}

/// Emits an aggregate of all values so far, or of those in a window.
///
/// A window of time is kept in 30 parts, so its memory is bounded, and a value leaves it up to one
/// thirtieth late. When values leave it, the new aggregate is emitted, unless there is none.
final class ScanStage: BindStage {
  typealias Value = JSONValue

  private struct Part: Equatable {
    /// The number of the part since 1970; 0 if the window is not one of time.
    let number: Int64
    var totals: Totals
  }

  private let name: String
  private let window: Totals.Window
  private var parts: [Part] = []
  private var emit: (JSONValue) -> Void = { _ in }
  private var clock: BindClock?
  private let timer = SerialDisposable(otherDisposable: nil)

  init(_ name: String, _ window: Totals.Window) { (self.name, self.window) = (name, window) }

  var isDurable: Bool { true }

  var state: [JSONValue?] {
    parts.map { .array([.number(JSONNumber($0.number)), $0.totals.kept]) }
  }

  func restore(_ state: [JSONValue?], waits: Bool) {
    var restored: [Part] = []
    for part in state {
      guard case .array(let members)? = part, members.count == 2,
        case .number(let text) = members[0], let number = text.int64,
        let totals = Totals(kept: members[1])
      else { return }
      restored.append(Part(number: number, totals: totals))
    }
    parts = restored
    startTimer()
  }

  func start(_ clock: BindClock, emit: @escaping (JSONValue) -> Void) {
    (self.clock, self.emit) = (clock, emit)
  }

  func stop() { timer.dispose() }

  func receive(_ value: JSONValue) throws {
    let totals = name == "count" ? Totals(count: 1) : Totals(try value.number("scan"))
    switch window {
    case .all:
      var all = parts.first?.totals ?? Totals()
      try all.add(totals, name)
      parts = [Part(number: 0, totals: all)]
    case .values(let most):
      parts.append(Part(number: 0, totals: totals))
      if parts.count > most { parts.removeFirst() }
    case .time:
      removeOld()
      let number = present
      if let last = parts.last, last.number >= number {
        var sum = last.totals
        try sum.add(totals, name)
        parts[parts.count - 1].totals = sum
      } else {
        parts.append(Part(number: number, totals: totals))
      }
      startTimer()
    }
    try emitResult()
  }

  private func emitResult() throws {
    var all = Totals()
    for part in parts { try all.add(part.totals, name) }
    if let result = try all.result(name) { emit(result) }
  }

  // MARK: Time

  /// The length of a part in seconds.
  private var length: Double {
    guard case .time(let seconds) = window else { return .infinity }
    return seconds / Double(OperatorLimits.parts)
  }

  /// The number of the part that the present belongs to.
  private var present: Int64 { Int64(((clock?.now() ?? 0) / length).rounded(.down)) }

  private func removeOld() {
    let oldest = present - Int64(OperatorLimits.parts)
    parts.removeAll { $0.number < oldest }
  }

  /// Schedules the removal of the oldest part.
  private func startTimer() {
    guard case .time = window, let clock, let oldest = parts.first, timer.otherDisposable == nil
    else { return }
    let end = Double(oldest.number + Int64(OperatorLimits.parts) + 1) * length
    // Not later than a window from now, whatever the clock does.
    let seconds = min(max(0.01, end - clock.now()), length * Double(OperatorLimits.parts + 1))
    timer.otherDisposable = clock.schedule(seconds) { [weak self] in self?.expire() }
  }

  private func expire() {
    timer.otherDisposable = nil
    let count = parts.count
    removeOld()
    startTimer()
    if parts.count < count { try? emitResult() }
  }
}
