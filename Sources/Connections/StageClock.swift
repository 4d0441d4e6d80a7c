package import Model

/// The durations of the stages of requests.
///
/// To read the clock for each request would cost more than many requests do. So the stages of one
/// request in 64 are measured on average, and the delivery in one turn in 16. The intervals are
/// random, so that a client with a regular pattern does not distort them.
package struct StageClock {
  /// A stage that this clock measures.
  package enum Stage: String, CaseIterable {
    /// A line is parsed.
    case parse
    /// The method is found, and the rights to call it are checked.
    case dispatch
    /// The method reads its parameters, decides, records events and encodes the answer.
    case decide
    /// Answers that waited for the journal, and updates of subscriptions, are sent in a turn.
    case deliver
  }

  /// The mean number of requests, and of turns, between two measurements; powers of two.
  private static let (requestInterval, turnInterval): (UInt64, UInt64) = (64, 16)

  /// The durations of the stages of one request in nanoseconds.
  struct Durations {
    var parse: UInt64 = 0
    var dispatch: UInt64 = 0
    var decide: UInt64 = 0
  }

  /// Whether the running request is measured.
  package private(set) var isRunning = false

  /// The name of the method of the running request, if it is measured.
  private(set) var method = ""

  /// The stages of the running request so far, if it is measured.
  private(set) var durations = Durations()

  /// Whether every request is measured, for the slow log.
  var isEvery = false {
    didSet { untilRequest = 1 }
  }

  private let clock: () -> UInt64
  private var times: [Histogram]
  private var last: UInt64 = 0
  private var untilRequest = 1
  private var untilTurn = 1
  private var random: UInt64 = 0x9E37_79B9_7F4A_7C15

  /// - Parameter clock: Returns the nanoseconds of a monotonic clock that advances within a turn.
  init(clock: @escaping () -> UInt64) {
    self.clock = clock
    times = Stage.allCases.map { _ in Histogram() }
  }

  /// The measured durations of a stage.
  package subscript(stage: Stage) -> Histogram { times[stage.index] }

  /// Begins the next request; most are not measured.
  @inline(__always)
  mutating func begin() {
    untilRequest &-= 1
    if untilRequest <= 0 { start() }
  }

  /// Ends a stage of the running request, if it is measured.
  mutating func end(_ stage: Stage) {
    guard isRunning else { return }
    let now = clock()
    let time = now - last
    times[stage.index].add(time)
    last = now
    switch stage {
    case .parse: durations.parse = time
    case .dispatch: durations.dispatch = time
    case .decide: durations.decide = time
    case .deliver: break
    }
  }

  /// Ends the dispatch of the running request to a method, if it is measured.
  mutating func endDispatch(to method: String) {
    guard isRunning else { return }
    self.method = method
    end(.dispatch)
  }

  /// Ends the last stage of the running request, if it is measured.
  mutating func finish() {
    guard isRunning else { return }
    end(.decide)
    isRunning = false
  }

  /// Drops the running measurement, because the request runs again later.
  mutating func cancel() { isRunning = false }

  /// Returns the time if the delivery of this turn is measured; otherwise `nil`.
  mutating func beginDelivery() -> UInt64? {
    untilTurn &-= 1
    guard untilTurn <= 0 else { return nil }
    untilTurn = next(Self.turnInterval)
    return clock()
  }

  /// Ends a measured delivery.
  mutating func endDelivery(_ begun: UInt64) { times[Stage.deliver.index].add(clock() - begun) }

  private mutating func start() {
    untilRequest = isEvery ? 1 : next(Self.requestInterval)
    isRunning = true
    (method, durations) = ("", Durations())
    last = clock()
  }

  /// Returns a random interval with a mean.
  private mutating func next(_ mean: UInt64) -> Int {
    random ^= random << 13
    random ^= random >> 7
    random ^= random << 17
    return 1 + Int(random & (2 * mean - 1))
  }
}

extension StageClock.Stage {
  fileprivate var index: Int {
    switch self {
    case .parse: 0
    case .dispatch: 1
    case .decide: 2
    case .deliver: 3
    }
  }
}
