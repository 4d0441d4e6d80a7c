internal import Facts
internal import Journal
internal import Signals

/// A compaction run: takes snapshots at its end position, then removes events step by step.
///
/// It pauses after each step for several times the step's duration, so that others can use the
/// journal.
final class CompactionRun {
  /// The result of a run.
  struct Outcome {
    /// The range of removed positions; `nil` if nothing was removed.
    var range: ClosedRange<UInt64>?
    var count = 0

    /// The reason for an early end; events removed before stay removed.
    var fault: JournalError?

    /// The duration of the longest step in nanoseconds; commits may have waited as long.
    var longestStep: UInt64 = 0
    var steps = 0
  }

  /// The progress, in positions.
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

  /// The current removal step.
  private var current: Removal?
  private var hasSnapshots = false

  /// The pending read, snapshot or pause.
  private var pending: (any Disposable)?
  private var steppings: (any Disposable)?

  /// The pause after a step: a multiple of its duration, and the minimum in seconds.
  private static let pause: Double = 4
  private static let shortestPause = 0.002

  /// - Parameter onEnd: Called once, at the end of the run.
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

  /// Reads off the loop, then continues on the loop with the result.
  private func read<Result: Sendable>(
    _ job: @escaping @Sendable (any JournalReader) throws(JournalError) -> Result,
    then next: @escaping (Result) -> Void
  ) {
    pending = host.readingStore(.care, job).observe { [unowned self] event in
      switch event {
      case .next(let result): next(result)
      case .failed(let error): end(error)
      case .completed: break
      }
    }
  }

  /// Finds the next steps.
  private func find() {
    guard let ends, done < ends.last else { return end(nil) }
    let (plan, position, count) = (plan, done, size.count)
    read({ reader throws(JournalError) in
      try plan.steps(reader, after: position, upTo: ends, of: count)
    }) { [unowned self] found in
      // Each step carries its own end position.
      (steps, done) = (found.steps.reversed(), max(found.end, position))
      guard !steps.isEmpty else { return found.end > position ? find() : end(nil) }
      hasSnapshots ? removeNext() : keepSnapshots(at: ends.snapshot)
    }
  }

  /// Takes snapshots at the end position and checks that they are readable before any removal.
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
        return end(.unavailable(detail: "a snapshot at \(seq) cannot be read"))
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
    case .failure(let error): end(error)
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

  /// Stops the run without calling `onEnd`.
  func stop() {
    pending?.dispose()
    steppings?.dispose()
  }

  private func end(_ fault: JournalError?) {
    stop()
    outcome.fault = fault
    onEnd(outcome)
  }
}
