internal import JSON
internal import Journal
package import Signals

/// The care of the journal: what is too old or too much goes, and that is recorded.
package final class JournalService {
  /// How far the work on the journal is.
  package struct Progress: Codable, Equatable {
    /// `"compact"`, or `nil` when nothing is done.
    package var work: String?

    /// Positions that were looked through, and how many there are.
    package var done: UInt64 = 0
    package var total: UInt64 = 0
  }

  /// What a compaction has done.
  package struct Compacted: Codable, Equatable, Sendable {
    /// How many events have gone.
    package let removed: Int

    /// The first position that is kept now.
    package let first: UInt64

    /// Steps, and for how long a commit had to wait for one at the most.
    package let steps: Int
    package let longestMilliseconds: Double

    private enum CodingKeys: String, CodingKey {
      case removed, first, steps
      case longestMilliseconds = "longest_step_ms"
    }
  }

  /// What is kept; looked at now and then.
  package var retention: [RetentionRule] = []

  /// Told once that the clock of the day is not believed, with the microseconds that it is ahead.
  package var onLeap: (Int64) -> Void = { _ in }

  /// Told once that events have times which the clock of the day has not reached, with the time of the
  /// last one and by how many microseconds that is ahead.
  package var onFuture: (_ time: Int64, _ ahead: Int64) -> Void = { _, _ in }

  /// Told what has become of a compaction that the retention has asked for.
  package var onCompaction: (Result<Compacted, JournalFault>) -> Void = { _ in }

  /// Counts what the journal holds, away from the loop.
  package var count: () -> Signal<JournalFigures, JournalFault> = { .never() }

  package let ledger: Ledger<DaemonRecord>
  package let progress: Sampled<Progress>

  private let host: ServiceHost
  private let scheduler: any Scheduler
  private let clocks: () -> AgeClock.Reading
  private let caller: Caller
  private var age: AgeClock?
  private var hasLeapt = false
  private var isInFuture = false
  private var run: CompactionRun?
  private var finished = PassthroughSubject<Result<Compacted, JournalFault>, Never>()
  private var timer: (any Disposable)?

  /// For how long commands with an identity keep their events: as long as they are known.
  private static let commandAge: Int64 = 86_400_000_000

  /// - Parameters:
  ///   - clocks: What the clocks of the machine say now.
  ///   - caller: Who records what the retention does: the daemon itself.
  package init(
    in host: ServiceHost, on scheduler: any Scheduler,
    _ clocks: @escaping () -> AgeClock.Reading, as caller: Caller
  ) {
    ledger = Ledger("daemon", in: host)
    (self.host, self.scheduler, self.clocks, self.caller) = (host, scheduler, clocks, caller)
    var measure: () -> Progress = { Progress() }
    progress = Sampled(every: 1, on: scheduler) { measure() }
    measure = { [unowned self] in
      guard let run else { return Progress() }
      return Progress(work: "compact", done: run.done, total: run.total)
    }
  }

  /// Looks after the journal from now on.
  ///
  /// - Parameter interval: Seconds.
  package func start(every interval: Double = 600) {
    _ = believedTime()
    checkFuture()
    timer = scheduler.schedule(after: interval) { [weak self] in
      guard let self else { return }
      start(every: interval)
      applyRetention()
    }
  }

  /// What the journal holds, and what is known beside that.
  package func figures() -> Signal<JournalFigures, JournalFault> {
    count().map { [unowned self] figures in
      var figures = figures
      figures.retention = retention.map(JournalFigures.Rule.init)
      figures.compaction = ledger.shown.lastCompaction
      let ahead = leap
      figures.clockAhead = ahead > 0 ? ahead / 1_000_000 : nil
      let behind = future
      figures.clockBehind = behind > 0 ? behind / 1_000_000 : nil
      return figures
    }
  }

  /// Does nothing more, also of what has begun; what is not removed by then is the next start's.
  package func stop() {
    timer?.dispose()
    timer = nil
    bag.dispose()
    run?.stop()
    run = nil
  }

  /// Removes what is not kept any more, unless that is being done.
  package func applyRetention() {
    let time = believedTime()
    guard run == nil, host.refusal == nil, !retention.isEmpty else { return }
    compact(.rules(retention, time: time)).observe { [unowned self] event in
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

  /// Removes what is not kept, or all events before a position, as far as no value is lost.
  ///
  /// - Parameter isForced: Whether the clock of the day is right, however far it has leapt.
  /// - Returns: A signal of what was done, or of why it was not done wholly. While one compaction runs
  ///   another waits for that and does nothing more.
  package func compact(
    before seq: UInt64?, isForced: Bool
  ) -> Signal<Compacted, JournalFault> {
    if isForced { believeClock() }
    if let seq { return compact(.before(seq)) }
    return compact(.rules(retention, time: believedTime()))
  }

  private func compact(_ wish: CompactionPlan.Wish) -> Signal<Compacted, JournalFault> {
    Signal { [self] observer in
      let observation = finished.observeNext { result in
        switch result {
        case .success(let compacted):
          observer.receive(compacted)
          observer.complete()
        case .failure(let fault): observer.fail(fault)
        }
      }
      if run == nil { begin(wish) }
      return observation
    }
  }

  private func begin(_ wish: CompactionPlan.Wish) {
    if let refusal = host.refusal { return finished.send(.failure(refusal)) }
    let plan = CompactionPlan(
      wish: wish, commandTime: host.now - Self.commandAge, makeFolds: host.keptFolds)
    let run = CompactionRun(plan, host, on: scheduler) { [unowned self] in finish($0) }
    self.run = run
    run.start()
  }

  private func finish(_ outcome: CompactionRun.Outcome) {
    let last = run
    // It calls from within itself: it goes when that is over.
    scheduler.schedule { withExtendedLifetime(last) {} }.dispose(in: bag)
    run = nil
    record(outcome)
    guard host.last > host.durable else { return tell(outcome) }
    // Whoever has asked finds it in the journal.
    let recording = host.last
    merge(
      host.progress.filter { $0 >= recording }.map { _ in () }, host.rejected.map { _ in () },
      host.failed.map { _ in () }
    )
    .prefix(maxLength: 1).observeNext { [unowned self] in tell(outcome) }.dispose(in: bag)
  }

  /// Notes in the journal what has gone.
  private func record(_ outcome: CompactionRun.Outcome) {
    guard let range = outcome.range, host.refusal == nil else { return }
    _ = try? host.perform(Command(method: "journal.compact", caller: caller)) {
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

  /// By how many microseconds the clock of the day is ahead of what is believed.
  package var leap: Int64 {
    var clock = age ?? makeClock()
    return clock.advance(to: clocks())
  }

  private func makeClock() -> AgeClock {
    AgeClock(kept: host.note(.age), lastTime: host.lastTime, clocks())
  }

  private func believedTime() -> Int64 {
    var clock = age ?? makeClock()
    let ahead = clock.advance(to: clocks())
    age = clock
    if ahead > 0, !hasLeapt { onLeap(ahead) }
    hasLeapt = ahead > 0
    host.keep(clock.kept, as: .age)
    return clock.time
  }

  private func believeClock() {
    var clock = age ?? makeClock()
    clock.believe(clocks())
    age = clock
  }

  /// By how many microseconds the last event is ahead of the clock of the day; 0 when it is not, or by
  /// less than a minute.
  ///
  /// All events that follow have its time until the clock has reached it.
  package var future: Int64 {
    let ahead = (host.lastTime ?? 0) - clocks().wall
    return ahead > Self.maxFuture ? ahead : 0
  }

  /// A minute in microseconds.
  private static let maxFuture: Int64 = 60_000_000

  private func checkFuture() {
    let ahead = future
    if ahead > 0, !isInFuture { onFuture(host.lastTime ?? 0, ahead) }
    isInFuture = ahead > 0
  }
}
