import Signals
import SignalsTestSupport
import Testing

/// An operator on a signal of numbers, for the tests of all operators.
struct Operator {
  typealias Input = Signal<Int, Broken>
  typealias Output = Signal<String, Broken>

  let name: String
  /// Whether it never ends.
  let isEndless: Bool
  let apply: (Input, VirtualTime) -> Output

  init(
    _ name: String, isEndless: Bool = false,
    _ apply: @escaping (Input, VirtualTime) -> Output
  ) {
    self.name = name
    self.isEndless = isEndless
    self.apply = apply
  }

  init<Applied: SignalProtocol>(
    _ name: String, isEndless: Bool = false, of apply: @escaping (Input) -> Applied
  ) where Applied.Error == Broken {
    self.init(name, isEndless: isEndless) { input, _ in apply(input).described() }
  }

  init<Applied: SignalProtocol>(
    _ name: String, isEndless: Bool = false, safe apply: @escaping (Input) -> Applied
  ) where Applied.Error == Never {
    self.init(name, isEndless: isEndless) { input, _ in apply(input).described().castError() }
  }

  init<Applied: SignalProtocol>(
    _ name: String, isEndless: Bool = false,
    timed apply: @escaping (Input, VirtualTime) -> Applied
  ) where Applied.Error == Broken {
    self.init(name, isEndless: isEndless) { apply($0, $1).described() }
  }
}

extension Operator {
  /// Returns the operator with a name.
  static func named(_ name: String) throws -> Operator {
    try #require(operators.first { $0.name == name })
  }
}

extension SignalProtocol {
  fileprivate func described() -> Signal<String, Error> {
    map { String(describing: $0) }
  }
}

/// Returns a signal of three numbers.
private func others() -> Signal<Int, Broken> { Signal(sequence: [7, 8, 9]) }

private func otherSafe() -> SafeSignal<Int> { others().suppressError() }

/// The names of all operators.
let operatorNames = operators.map(\.name)

/// Every operator of the module, in one form at least.
var operators: [Operator] {
  [
    // Transforming.
    Operator("map", of: { $0.map { $0 * 2 } }),
    Operator("tryMap", of: { $0.tryMap { $0 < 3 ? .success($0) : .failure(Broken()) } }),
    Operator("compactMap", of: { $0.compactMap { $0 % 2 == 0 ? $0 : nil } }),
    Operator("mapWrapped", of: { $0.map { $0 % 2 == 0 ? $0 : nil }.mapWrapped { $0 + 1 } }),
    Operator("replaceNils", of: { $0.map { $0 % 2 == 0 ? $0 : nil }.replaceNils(with: -1) }),
    Operator("ignoreNils", of: { $0.map { $0 % 2 == 0 ? $0 : nil }.ignoreNils() }),
    Operator("flatMap to array", of: { $0.flatMap { [$0, $0] } }),
    Operator("mapElement", of: { $0.map { [$0, $0] }.mapElement { $0 + 1 } }),
    Operator("flattenElements", of: { $0.map { [$0, $0] }.flattenElements() }),
    Operator("scan", of: { $0.scan(0, +) }),
    Operator("reduce", of: { $0.reduce(0, +) }),
    Operator("collect", of: { $0.collect() }),
    Operator("buffer(size:)", of: { $0.buffer(size: 2) }),
    Operator("buffer(ofSize:)", of: { $0.buffer(ofSize: 2) }),
    Operator("window", of: { $0.window(ofSize: 2).flatMapConcat { $0 } }),
    Operator("pairwise", of: { $0.pairwise() }),
    Operator("zipPrevious", of: { $0.zipPrevious() }),
    Operator("prepend element", of: { $0.prepend(0) }),
    Operator("append element", of: { $0.append(0) }),
    Operator("replaceElements", of: { $0.replaceElements(with: "x") }),
    Operator("eraseType", of: { $0.eraseType() }),
    Operator("replaceEmpty", of: { $0.filter { $0 > 100 }.replaceEmpty(with: -1) }),
    Operator("materialize", safe: { $0.materialize() }),
    Operator("dematerialize", of: { ($0.materialize().dematerialize() as Signal<Int, Broken>) }),
    Operator("mapToResult", safe: { $0.mapToResult() }),
    Operator("mapValue", safe: { $0.mapToResult().mapValue { $0 + 1 } }),
    Operator("getValues", of: { $0.mapToResult().getValues() }),
    // Flattening.
    Operator("flatMapConcat", of: { $0.flatMapConcat { Signal(sequence: [$0, -$0]) } }),
    Operator("flatMapLatest", of: { $0.flatMapLatest { Signal(sequence: [$0, -$0]) } }),
    Operator("flatMapMerge", of: { $0.flatMapMerge { Signal(sequence: [$0, -$0]) } }),
    Operator("concat", of: { $0.map { _ in others() }.concat() }),
    Operator("merge", of: { $0.map { _ in others() }.merge() }),
    Operator("switchToLatest", of: { $0.map { _ in others() }.switchToLatest() }),
    Operator("flatten", of: { $0.map { _ in others() }.flatten(.merge) }),
    // Filtering.
    Operator("filter", of: { $0.filter { $0 % 2 == 0 } }),
    Operator("flatMapFilter", of: { $0.flatMapFilter { Signal(just: $0 % 2 == 0) } }),
    Operator("first", of: { $0.first() }),
    Operator("last", of: { $0.last() }),
    Operator("output(at:)", of: { $0.output(at: 1) }),
    Operator("ignoreOutput", of: { $0.ignoreOutput() }),
    Operator("ignoreTerminal", isEndless: true, of: { $0.ignoreTerminal() }),
    Operator("dropFirst", of: { $0.dropFirst(1) }),
    Operator("dropLast", of: { $0.dropLast(1) }),
    Operator("dropFirst(for:)", timed: { $0.dropFirst(for: 2, on: $1) }),
    Operator("prefix(maxLength:)", of: { $0.prefix(maxLength: 2) }),
    Operator("prefix(while:)", of: { $0.prefix(while: { $0 < 3 }) }),
    Operator("prefix(while:inclusive:)", of: { $0.prefix(while: { $0 < 3 }, inclusive: true) }),
    Operator(
      "prefix(untilOutputFrom:)",
      timed: { input, time in
        input.prefix(untilOutputFrom: Signal<Int, Never>(just: 0, after: 2.5, queue: time))
      }),
    Operator("suffix", of: { $0.suffix(maxLength: 2) }),
    Operator("removeDuplicates", of: { $0.map { $0 / 2 }.removeDuplicates() }),
    Operator("removeDuplicates(by:)", of: { $0.removeDuplicates { $0 / 2 == $1 / 2 } }),
    Operator(
      "pausable",
      timed: { input, time in
        input.pausable(by: SafeSignal(sequence: [false, true], interval: 1.5, queue: time))
      }),
    // Combining.
    Operator("amb", of: { $0.amb(with: Signal<Int, Broken>.never()) }),
    Operator("combineLatest", of: { $0.combineLatest(with: others()) }),
    Operator("combineLatest combine", of: { $0.combineLatest(with: others(), combine: +) }),
    Operator("combineLatest free", of: { combineLatest($0, others(), $0.map { -$0 }) }),
    Operator("append signal", of: { $0.append(others()) }),
    Operator("prepend signal", of: { $0.prepend(others()) }),
    Operator("merge(with:)", of: { $0.merge(with: others()) }),
    Operator("merge free", of: { merge($0, others(), $0) }),
    Operator("amb free", of: { amb($0, Signal<Int, Broken>.never(), Signal<Int, Broken>.never()) }),
    Operator("replayLatest", of: { $0.replayLatest(when: otherSafe()) }),
    Operator("with(latestFrom:)", of: { $0.with(latestFrom: others()) }),
    Operator("zip", of: { $0.zip(with: others()) }),
    Operator("zip free", of: { zip($0, others(), $0) }),
    // Errors.
    Operator("mapError", of: { $0.mapError { $0 } }),
    Operator("flatMapError", of: { $0.flatMapError { _ in others() } }),
    Operator("replaceError", safe: { $0.replaceError(with: -1) }),
    Operator("suppressError", safe: { $0.suppressError(logging: false) }),
    Operator(
      "suppressAndFeedError",
      safe: {
        $0.suppressAndFeedError(into: PassthroughSubject<Broken, Never>(), logging: false)
      }),
    Operator("branchOutError", safe: { $0.branchOutError().1 }),
    Operator("toErrorSignal", safe: { $0.toErrorSignal() }),
    Operator("castError", of: { $0.suppressError().castError() as Signal<Int, Broken> }),
    Operator("retry", of: { $0.retry(1) }),
    Operator("retry(when:)", of: { $0.retry(when: SafeSignal<Int>.completed()) }),
    Operator("timeout", timed: { $0.timeout(after: 10, with: Broken(), on: $1) }),
    // Time.
    Operator("delay", timed: { $0.delay(interval: 0.5, on: $1) }),
    Operator("debounce", timed: { $0.debounce(for: 0.5, queue: $1) }),
    Operator("throttle", timed: { $0.throttle(for: 1.5, queue: $1) }),
    Operator("throttle first", timed: { $0.throttle(for: 1.5, queue: $1, latest: false) }),
    Operator("sample", timed: { $0.sample(interval: 1.5, on: $1) }),
    Operator("receive(on:)", timed: { $0.receive(on: $1) }),
    Operator("subscribe(on:)", timed: { $0.subscribe(on: $1) }),
    // Side effects.
    Operator("handleEvents", of: { $0.handleEvents(receiveOutput: { _ in }, receiveCancel: {}) }),
    Operator("feedActivity", of: { $0.feedActivity(into: Property(false)) }),
    Operator("feedNext", of: { $0.feedNext(into: PassthroughSubject<Int, Never>()) }),
    Operator("feedNext map", of: { $0.feedNext(into: Property("")) { "\($0)" } }),
    Operator("feedError", of: { $0.feedError(into: PassthroughSubject<Broken, Never>()) }),
    Operator("repeat", of: { $0.repeat { _ in SafeSignal<Int>.completed() } }),
    // Sharing: several observers share one run.
    Operator("share", of: { $0.share() }),
    Operator("replay", of: { $0.replay(limit: 3).refCount() }),
    Operator("publish", of: { $0.publish().refCount() }),
    Operator("multicast", of: { $0.multicast { PassthroughSubject() }.refCount() }),
    // Loading.
    Operator("toLoadingSignal", safe: { $0.toLoadingSignal() }),
    Operator("value", safe: { $0.toLoadingSignal().value() }),
    Operator("mapValue loading", safe: { $0.toLoadingSignal().mapValue { $0 + 1 } }),
    Operator("mapLoadingError", safe: { $0.toLoadingSignal().mapLoadingError { $0 } }),
    Operator("dematerializeLoadingState", of: { $0.toLoadingSignal().dematerializeLoadingState() }),
    Operator("liftValue", safe: { $0.toLoadingSignal().liftValue { $0.dropFirst(1) } }),
    Operator(
      "flatMapValue",
      safe: {
        $0.toLoadingSignal().flatMapValue { LoadingSignal<Int, Broken>.loaded($0) }
      }),
    Operator(
      "deriveObservedLoadingState",
      safe: {
        $0.toLoadingSignal().deriveObservedLoadingState()
      }),
    Operator("shareReplayValues", safe: { $0.toLoadingSignal().shareReplayValues() }),
  ]
}
