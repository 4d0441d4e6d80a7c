internal import Journal
internal import Signals

/// One compaction: snapshots as of where it ends, then step by step what is to go.
///
/// Between steps it lets others have the journal for some times as long.
final class CompactionRun {
  /// What has come of it.
  struct Outcome {
    /// The first and the last event that have gone; `nil` when there was none.
    var range: ClosedRange<UInt64>?
    var count = 0

    /// Why it has ended early; what has gone until then is gone.
    var fault: JournalFault?

    /// For how long a commit had to wait at the most, in nanoseconds.
    var longestStep: UInt64 = 0
    var steps = 0
  }

  /// How far it is: of positions.
  private(set) var done: UInt64 = 0
  private(set) var total: UInt64 = 0

  private let host: ServiceHost
  private let plan: CompactionPlan
  private let scheduler: any Scheduler
  private let onEnd: (Outcome) -> Void

  private var outcome = Outcome()
  private var ends: CompactionPlan.Ends?
  private var steps: [Removal] = []
  private var size = StepSize()

  /// What is removed now.
  private var current: Removal?
  private var hasSnapshots = false

  /// What it waits for, beside a step.
  private var pending: (any Disposable)?
  private var steppings: (any Disposable)?

  /// How many times as long as a step others have the journal after it, and at least.
  private static let pause: Double = 4
  private static let shortestPause = 0.002

  /// - Parameter onEnd: Called once.
  init(
    _ plan: CompactionPlan, _ host: ServiceHost, on scheduler: any Scheduler,
    onEnd: @escaping (Outcome) -> Void
  ) {
    (self.plan, self.host, self.scheduler, self.onEnd) = (plan, host, scheduler, onEnd)
  }

  func start() {
    steppings = host.removed.observeNext { [unowned self] in finishStep($0) }
    let plan = plan
    read({ reader throws(JournalError) in try plan.ends(reader) }) { [unowned self] ends in
      self.ends = ends
      (done, total) = (host.first - 1, ends.last)
      find()
    }
  }

  /// Reads away from the loop and goes on with the result.
  private func read<Result: Sendable>(
    _ job: @escaping @Sendable (any JournalReader) throws(JournalError) -> Result,
    then next: @escaping (Result) -> Void
  ) {
    pending = host.readingStore(.care, job).observe { [unowned self] event in
      switch event {
      case .next(let result): next(result)
      case .failed(let error): end(JournalFault(error))
      case .completed: break
      }
    }
  }

  /// Looks for what goes next.
  private func find() {
    guard let ends, done < ends.last else { return end(nil) }
    let (plan, position, count) = (plan, done, size.count)
    read({ reader throws(JournalError) in
      try plan.steps(reader, after: position, upTo: ends, of: count)
    }) { [unowned self] found in
      // Steps come with the positions up to which they go.
      (steps, done) = (found.steps.reversed(), max(found.end, position))
      guard !steps.isEmpty else { return found.end > position ? find() : end(nil) }
      hasSnapshots ? removeNext() : keepSnapshots(at: ends.snapshot)
    }
  }

  /// Keeps the states as of the end, and looks whether they read back, before anything goes.
  private func keepSnapshots(at seq: UInt64) {
    pending = host.keepSnapshots(at: seq).observe { [unowned self] event in
      switch event {
      case .next: check(at: seq)
      case .failed(let fault): end(fault)
      case .completed: break
      }
    }
  }

  private func check(at seq: UInt64) {
    let plan = plan
    read({ reader throws(JournalError) in try plan.isKept(at: seq, reader) }) {
      [unowned self] isKept in
      guard isKept else {
        return end(.unavailable(detail: "a snapshot at \(seq) does not read back"))
      }
      hasSnapshots = true
      removeNext()
    }
  }

  private func removeNext() {
    guard let step = steps.popLast() else { return find() }
    current = step
    host.remove(step)
  }

  private func finishStep(_ result: Result<RemovalReport, JournalError>) {
    guard let step = current else { return }
    current = nil
    switch result {
    case .failure(let error): end(JournalFault(error))
    case .success(let report):
      outcome.count += step.count
      outcome.steps += 1
      outcome.longestStep = max(outcome.longestStep, report.nanoseconds)
      if let first = step.runs.first?.lowerBound, let last = step.runs.last?.upperBound {
        outcome.range = (outcome.range?.lowerBound ?? first)...last
      }
      if size.adapt(to: report.nanoseconds) { (steps, done) = ([], step.last) }
      let pause = max(Self.shortestPause, Double(report.nanoseconds) * 1e-9 * Self.pause)
      pending = scheduler.schedule(after: pause) { [unowned self] in removeNext() }
    }
  }

  /// Ends it without a word.
  func stop() {
    pending?.dispose()
    steppings?.dispose()
  }

  private func end(_ fault: JournalFault?) {
    stop()
    outcome.fault = fault
    onEnd(outcome)
  }
}
