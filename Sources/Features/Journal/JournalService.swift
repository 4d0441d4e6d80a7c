package import EventSourcing
package import JSON
internal import Journal
package import Model
package import Signals

/// The maintenance of the journal: applies the retention rules and records each compaction.
package final class JournalService {
  /// The progress of maintenance.
  package struct Progress: Codable, Equatable {
    /// `"compact"`, or `nil` when idle.
    package var work: String?

    /// The number of examined positions, and of all positions to examine.
    package var done: UInt64 = 0
    package var total: UInt64 = 0
  }

  /// The result of a compaction.
  package struct Compacted: Codable, Equatable, Sendable {
    /// The number of removed events.
    package let removed: Int

    /// The first retained position.
    package let first: UInt64

    /// The number of steps, and the duration of the longest one in milliseconds.
    ///
    /// Commits may have waited as long.
    package let steps: Int
    package let longestMilliseconds: Double

    private enum CodingKeys: String, CodingKey {
      case removed, first, steps
      case longestMilliseconds = "longest_step_ms"
    }
  }

  /// The retention rules of the configuration, applied periodically.
  package var retention: [Retention] = []

  /// The rule for streams that none of ``retention`` matches.
  package var defaultRule = Retention.byDefault

  /// Called once for each stream that the default rule will cut soon.
  package var onFilling: (JournalFigures.Filling) -> Void = { _ in }

  /// The bytes of each stream.
  private var tallies = StreamTallies()

  /// The streams that ``onFilling`` was called for.
  private var filled: Set<String> = []

  /// Called once per jump of the wall clock that was not accepted, with the microseconds by which
  /// it is ahead.
  package var onLeap: (Int64) -> Void = { _ in }

  /// Called once when the last event is in the future of the wall clock, with the event's time
  /// and the difference in microseconds.
  package var onFuture: (_ time: Int64, _ ahead: Int64) -> Void = { _, _ in }

  /// Called with the result of each compaction by the retention rules that removed events or
  /// failed.
  package var onCompaction: (Result<Compacted, JournalError>) -> Void = { _ in }

  /// Computes the statistics of the journal, off the loop.
  package var count: () -> Signal<JournalFigures, JournalError> = { .never() }

  package let ledger: Ledger<DaemonRecord>
  package let progress: PolledValue<Progress>

  private let host: ServiceHost
  private let scheduler: any Scheduler
  private var clock: ClockWatch
  private var run: CompactionRun?
  private var finished = PassthroughSubject<Result<Compacted, JournalError>, Never>()
  private var timer: (any Disposable)?

  /// The time in microseconds for which events of commands with an idempotency key are retained.
  ///
  /// It equals the lifetime of the keys.
  private static let commandAge: Int64 = 86_400_000_000

  /// The ID of this boot of the system, for ``figures()``; `nil` leaves it out.
  package var boot: String?

  /// - Parameter clocks: Reads the machine's clocks.
  package init(
    in host: ServiceHost, on scheduler: any Scheduler,
    _ clocks: @escaping () -> AgeClock.Reading
  ) {
    ledger = Ledger("daemon", in: host)
    (self.host, self.scheduler, clock) = (host, scheduler, ClockWatch(clocks))
    var measure: () -> Progress = { Progress() }
    progress = PolledValue(every: 1, on: scheduler) { measure() }
    measure = { [unowned self] in
      guard let run else { return Progress() }
      return Progress(work: "compact", done: run.done, total: run.total)
    }
  }

  /// Starts periodic maintenance.
  ///
  /// - Parameter interval: Seconds between two runs.
  package func start(every interval: Double = 600) {
    _ = believedTime()
    checkFuture()
    timer = scheduler.schedule(after: interval) { [weak self] in
      guard let self else { return }
      start(every: interval)
      applyRetention()
    }
  }

  /// Returns the journal's statistics, with the retention rules and the state of the clock.
  package func figures() -> Signal<JournalFigures, JournalError> {
    count().map { [unowned self] figures in
      var figures = figures
      figures.boot = boot
      figures.retention = retention
      figures.filling = filling
      figures.compaction = ledger.committed.lastCompaction
      let ahead = leap
      figures.clockAhead = ahead > 0 ? ahead / 1_000_000 : nil
      let behind = future
      figures.clockBehind = behind > 0 ? behind / 1_000_000 : nil
      return figures
    }
  }

  /// Stops all maintenance, including a running compaction.
  ///
  /// The next start removes the remaining events.
  package func stop() {
    timer?.dispose()
    timer = nil
    bag.dispose()
    run?.stop()
    run = nil
  }

  /// Applies the retention rules, unless a compaction is running.
  package func applyRetention() {
    let time = believedTime()
    guard run == nil, host.refusal == nil else { return }
    compact(.rules(rules, time: time), isPatient: true).observe { [unowned self] event in
      switch event {
      case .next(let compacted):
        if compacted.removed > 0 { onCompaction(.success(compacted)) }
      case .failed(let fault): onCompaction(.failure(fault))
      case .completed: break
      }
    }
    .dispose(in: bag)
  }

  private let bag = DisposeBag()

  /// Removes the events that the rules do not retain, or all events before a position.
  ///
  /// No current value is lost.
  ///
  /// - Parameter isForced: Whether to accept the wall clock, no matter how far it has jumped.
  /// - Returns: A signal with the result. If a compaction is already running, the signal emits
  ///   that run's result and starts no other.
  package func compact(
    before seq: UInt64?, isForced: Bool
  ) -> Signal<Compacted, JournalError> {
    if isForced { clock.believe(host) }
    if let seq { return compact(.before(seq)) }
    return compact(.rules(rules, time: believedTime()))
  }

  private var rules: [Retention] { retention + [defaultRule] }

  /// The streams with more than four fifths of what the default rule keeps of each.
  private var filling: [JournalFigures.Filling] {
    guard let max = defaultRule.maxStreamBytes else { return [] }
    return tallies.streams { [retention] stream in
      retention.contains { $0.streams.matches(stream) } ? nil : max / 5 * 4
    }
    .map { JournalFigures.Filling(stream: $0.key, bytes: $0.value, max: max) }
    .sorted { ($1.bytes, $0.stream) < ($0.bytes, $1.stream) }
  }

  private func compact(
    _ wish: CompactionPlan.Wish, isPatient: Bool = false
  ) -> Signal<Compacted, JournalError> {
    Signal { [self] observer in
      let observation = finished.observeNext { result in
        switch result {
        case .success(let compacted):
          observer.receive(compacted)
          observer.complete()
        case .failure(let fault): observer.fail(fault)
        }
      }
      if run == nil { begin(wish, isPatient) }
      return observation
    }
  }

  private func begin(_ wish: CompactionPlan.Wish, _ isPatient: Bool) {
    if let refusal = host.refusal { return finished.send(.failure(refusal)) }
    let plan = CompactionPlan(
      wish: wish, commandTime: host.now - Self.commandAge,
      makeProjections: host.retainedProjections,
      incomplete: host.incompleteFolds, tallies: tallies, isPatient: isPatient)
    let run = CompactionRun(plan, host, on: scheduler) { [unowned self] in finish($0) }
    self.run = run
    run.start()
  }

  private func finish(_ outcome: CompactionRun.Outcome) {
    let last = run
    // The run calls this from its own method, so it is released later.
    scheduler.schedule { withExtendedLifetime(last) {} }.dispose(in: bag)
    run = nil
    tallies = outcome.tallies ?? tallies
    for stream in filling where filled.insert(stream.stream).inserted { onFilling(stream) }
    record(outcome)
    guard host.last > host.durable else { return tell(outcome) }
    // Callers can then find the compaction in the journal.
    let recording = host.last
    merge(
      host.progress.filter { $0 >= recording }.map { _ in () }, host.rejected.map { _ in () },
      host.failed.map { _ in () }
    )
    .prefix(maxLength: 1).observeNext { [unowned self] in tell(outcome) }.dispose(in: bag)
  }

  /// Records the removed range in the journal.
  private func record(_ outcome: CompactionRun.Outcome) {
    guard let range = outcome.range, host.refusal == nil else { return }
    _ = try? host.perform(Command(method: "journal.compact", caller: host.daemon)) {
      ledger.record(
        .compacted(from: range.lowerBound, to: range.upperBound, count: outcome.count))
      return nil
    }
  }

  private func tell(_ outcome: CompactionRun.Outcome) {
    if let fault = outcome.fault { return finished.send(.failure(fault)) }
    finished.send(
      .success(
        Compacted(
          removed: outcome.count, first: host.first, steps: outcome.steps,
          longestMilliseconds: Double(outcome.longestStep / 1000) / 1000)))
  }

  // MARK: Time

  /// The microseconds by which the wall clock is ahead of the accepted time; 0 if accepted.
  package var leap: Int64 { clock.leap(host) }

  private func believedTime() -> Int64 {
    let (time, newLeap) = clock.advance(host)
    if let newLeap { onLeap(newLeap) }
    return time
  }

  /// The microseconds by which the last event is ahead of the wall clock; 0 if less than a
  /// minute.
  ///
  /// New events get the last event's time until the clock catches up.
  package var future: Int64 { clock.future(host) }

  private func checkFuture() {
    if let ahead = clock.checkFuture(host) { onFuture(host.lastTime ?? 0, ahead) }
  }
}

/// The events of the journal's own maintenance; the stream is `daemon`.
package enum DaemonEvent: ServiceEvent, Codable, Equatable {
  /// `count` events between two positions, inclusive, were removed.
  case compacted(from: UInt64, to: UInt64, count: Int)

  package static var kinds: Set<String> { ["compacted"] }
}

/// The recorded maintenance of the journal.
package struct DaemonRecord: ServiceState, Codable {
  /// The last compaction.
  package struct Compaction: Codable, Equatable, Sendable {
    package let from: UInt64
    package let to: UInt64
    package let count: Int

    /// The time in microseconds since 1970.
    package let time: Int64
  }

  package private(set) var lastCompaction: Compaction?

  /// The total number of removed events.
  package private(set) var removedCount = 0

  package init() {}

  package mutating func apply(_ event: DaemonEvent, at place: EventContext) {
    switch event {
    case .compacted(let from, let to, let count):
      lastCompaction = Compaction(from: from, to: to, count: count, time: place.time)
      removedCount &+= count
    }
  }

  package func value(of source: String) -> JSONText? { nil }

  package var sources: [String] { [] }

  package static func sources(changedBy event: DaemonEvent, at place: EventContext) -> [String] {
    []
  }
}
