internal import EventSourcing
internal import Journal
internal import Model
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

    /// The bytes of each stream, as they are after the run; `nil` if it did not count them.
    var tallies: StreamTallies?
  }

  /// The progress, in positions.
  private(set) var done: UInt64 = 0
  private(set) var total: UInt64 = 0

  private let host: ServiceHost
  private var plan: CompactionPlan
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
    plan.countsStreams ? count() : findEnds()
  }

  /// Counts the events of each stream that were written since the last run, a few at a time.
  private func count() {
    let tallies = plan.tallies
    read({ reader throws(JournalError) in
      var tallies = tallies
      let begun = ContinuousClock.now
      var hasMore = true
      while hasMore, ContinuousClock.now - begun < Self.countingTime {
        hasMore = try tallies.advance(reader)
      }
      return Counted(
        tallies: tallies, hasMore: hasMore, seconds: (ContinuousClock.now - begun) / .seconds(1))
    }) { [unowned self] counted in
      plan.tallies = counted.tallies
      outcome.tallies = counted.tallies
      guard counted.hasMore else { return findEnds() }
      pending = scheduler.schedule(after: max(Self.shortestPause, counted.seconds * Self.pause)) {
        [unowned self] in count()
      }
    }
  }

  private struct Counted: Sendable {
    let tallies: StreamTallies
    let hasMore: Bool
    let seconds: Double
  }

  /// The time for which events are counted between two pauses.
  private static let countingTime = Duration.milliseconds(10)

  private func findEnds() {
    let plan = plan
    read({ reader throws(JournalError) in try plan.ends(reader) }) { [unowned self] ends in
      self.ends = ends
      for (stream, bytes) in ends.kept { outcome.tallies?[stream] = bytes }
      (done, total) = (host.first - 1, ends.last)
      find()
    }
  }

  /// Reads off the loop, then continues on the loop with the result.
  private func read<Result: Sendable>(
    _ job: @escaping @Sendable (any JournalReader) throws(JournalError) -> Result,
    then next: @escaping (Result) -> Void
  ) {
    pending = host.reading(.care, job).observe { [unowned self] event in
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

/// The events that a compaction removes: a set of streams, each up to a position.
struct CompactionPlan: Sendable {
  /// The requested compaction.
  enum Wish: Sendable {
    /// Remove the events that the rules do not retain; `time` is in microseconds since 1970.
    case rules([Retention], time: Int64)
    /// Remove everything before a position.
    case before(UInt64)
  }

  let wish: Wish

  /// Events of commands with an idempotency key are retained from this time on, because they hold
  /// the command's answer.
  let commandTime: Int64

  /// Makes the projections of all services that write snapshots.
  ///
  /// Events of other services are retained.
  let makeProjections: [String: @Sendable () -> any Projection]

  /// The services whose states lack events, and which fold those of others.
  ///
  /// The events that they fold are retained from their last snapshots on.
  let incomplete: [IncompleteFold]

  /// The bytes of each stream.
  var tallies: StreamTallies

  /// Whether a stream may have an eighth more than its limit before it is cut.
  ///
  /// Otherwise each run of a series would cut a little, and each needs new snapshots.
  var isPatient = false

  /// Whether a rule limits the bytes of each stream.
  var countsStreams: Bool {
    guard case .rules(let rules, _) = wish else { return false }
    return rules.contains { $0.maxStreamBytes != nil }
  }

  /// The end positions of the compaction: for each rule (0 for none), and their maximum.
  struct Ends: Sendable {
    fileprivate let byRule: [UInt64]

    /// The ends for single streams, which a rule limits each for itself.
    fileprivate var byStream: [String: UInt64] = [:]

    /// The bytes that such streams keep.
    fileprivate(set) var kept: [String: Int] = [:]

    /// The last position that may be removed of services whose events others need.
    fileprivate var byService: [String: UInt64] = [:]
    let last: UInt64

    /// The position of the snapshots.
    ///
    /// It is not before the last removed event, because earlier states can no longer be computed.
    let snapshot: UInt64
  }

  private static let chunk: UInt64 = 256

  /// Computes the end positions; the last event of the journal always stays.
  func ends(_ reader: any JournalReader) throws(JournalError) -> Ends {
    let bounds = try reader.bounds()
    guard bounds.last > bounds.first else { return Ends(byRule: [], last: 0, snapshot: 0) }
    var ends: [UInt64]
    switch wish {
    case .before(let seq): ends = [seq - min(seq, 1)]
    case .rules(let rules, let time):
      ends = try surplus(rules, reader, bounds)
      for (i, rule) in rules.enumerated() {
        guard let age = rule.maxAge else { continue }
        ends[i] = max(ends[i], try reader.position(at: time - age * 1_000_000 - 1))
      }
    }
    ends = ends.map { min($0, bounds.last - 1) }
    let (byStream, kept) = try excess(reader, bounds)
    let last = max(ends.max() ?? 0, byStream.values.max() ?? 0)
    let removed = try reader.lastRemoval(of: Removal.anyService, upTo: .max)
    return Ends(
      byRule: ends, byStream: byStream, kept: kept, byService: try held(reader), last: last,
      snapshot: max(last, removed))
  }

  /// Returns, for each service whose events an incomplete state consists of, the position of the
  /// snapshot of that state.
  private func held(_ reader: any JournalReader) throws(JournalError) -> [String: UInt64] {
    var ends: [String: UInt64] = [:]
    for fold in incomplete {
      let position = try fold.snapshot(reader)
      for service in fold.others { ends[service] = min(ends[service] ?? .max, position) }
    }
    return ends
  }

  /// Returns, for each stream with more bytes than its rule allows, its last event beyond them, and
  /// the bytes that it keeps.
  ///
  /// It goes back from the end of the journal until the limit of each such stream is reached.
  private func excess(
    _ reader: any JournalReader, _ bounds: (first: UInt64, last: UInt64)
  ) throws(JournalError) -> (ends: [String: UInt64], kept: [String: Int]) {
    guard case .rules(let rules, _) = wish else { return ([:], [:]) }
    func limit(of stream: String) -> Int? {
      rule(of: stream, rules).flatMap { rules[$0].maxStreamBytes }
    }
    var limits: [String: Int] = [:]
    for stream in tallies.streams(above: { limit(of: $0).map { isPatient ? $0 / 8 * 9 : $0 } }).keys
    {
      limits[stream] = limit(of: stream)
    }
    var (ends, kept): ([String: UInt64], [String: Int]) = ([:], [:])
    var end = min(tallies.position, bounds.last)
    while ends.count < limits.count, end >= bounds.first {
      let start = end - min(end, Self.chunk)
      let records = try reader.records(after: start, limit: Int(end - start))
      for record in records.reversed() where record.seq <= end {
        guard let limit = limits[record.stream], ends[record.stream] == nil else { continue }
        let sum = (kept[record.stream] ?? 0) + record.size
        guard sum > limit else {
          kept[record.stream] = sum
          continue
        }
        ends[record.stream] = min(record.seq, bounds.last - 1)
      }
      end = start
    }
    return (ends, kept)
  }

  /// Returns, for each rule, the last event that exceeds its limit on count or bytes.
  private func surplus(
    _ rules: [Retention], _ reader: any JournalReader, _ bounds: (first: UInt64, last: UInt64)
  ) throws(JournalError) -> [UInt64] {
    var ends = [UInt64](repeating: 0, count: rules.count)
    var kept = rules.map { _ in (count: 0, bytes: 0) }
    var open = Set(rules.indices.filter { rules[$0].maxCount != nil || rules[$0].maxBytes != nil })
    var end = bounds.last
    while !open.isEmpty, end >= bounds.first {
      let start = end - min(end, Self.chunk)
      let records = try reader.records(after: start, limit: Int(end - start))
      for record in records.reversed() where record.seq <= end {
        guard let i = rule(of: record.stream, rules), open.contains(i) else { continue }
        kept[i].count += 1
        kept[i].bytes += record.size
        guard kept[i].count > rules[i].maxCount ?? .max || kept[i].bytes > rules[i].maxBytes ?? .max
        else { continue }
        ends[i] = record.seq
        open.remove(i)
      }
      end = start
    }
    return ends
  }

  private func rule(of stream: String, _ rules: [Retention]) -> Int? {
    rules.firstIndex { $0.streams.matches(stream) }
  }

  /// Returns the next removal steps; each step examines up to `count` events.
  func steps(
    _ reader: any JournalReader, after seq: UInt64, upTo ends: Ends, of count: Int
  ) throws(JournalError) -> (steps: [Removal], end: UInt64) {
    let folds = makeProjections.mapValues { $0() }
    return try Removal.steps(reader, after: seq, upTo: ends.last, of: count) { record in
      // Events outside the known states would be lost.
      let service = record.service
      guard let fold = folds[service], fold.knows(record) else { return false }
      if let end = ends.byService[service], record.seq > end { return false }
      guard record.command == nil || record.time < commandTime else { return false }
      switch wish {
      case .before: return true
      case .rules(let rules, _):
        if let end = ends.byStream[record.stream], record.seq <= end { return true }
        return rule(of: record.stream, rules).map { record.seq <= ends.byRule[$0] } ?? false
      }
    }
  }

  /// Returns whether readable snapshots of all services exist at a position.
  func isKept(at seq: UInt64, _ reader: any JournalReader) throws(JournalError) -> Bool {
    for (service, makeProjection) in makeProjections {
      let snapshot = try reader.snapshot(of: service, upTo: seq)
      guard let snapshot, snapshot.seq == seq, makeProjection().start(from: snapshot) else {
        return false
      }
    }
    return true
  }
}

/// The number of events that a compaction step examines.
///
/// It adapts to the duration of the last steps.
///
/// A commit that arrives during a step waits until its end, 5 ms at most. The speed of the disk
/// under its current load shows only afterwards.
struct StepSize {
  private(set) var count = 64

  private static let smallest = 8

  /// The target duration of a step in nanoseconds.
  ///
  /// It is well under 5 ms, so that an outlier still fits.
  private static let limit: UInt64 = 2_000_000

  /// Adapts the size to the duration of a step, in nanoseconds.
  ///
  /// - Returns: Whether planned steps are too large and must be planned again.
  mutating func adapt(to nanoseconds: UInt64) -> Bool {
    guard nanoseconds <= Self.limit else {
      defer { count = max(Self.smallest, count / 2) }
      return count > Self.smallest
    }
    if nanoseconds < Self.limit / 4 { count = min(Removal.maxCount, count * 2) }
    return false
  }
}
