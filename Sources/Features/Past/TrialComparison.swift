internal import API
internal import JSON
internal import Wire

/// The writes of a trial beside those that were made in truth.
struct TrialComparison {
  /// Writes of one value that are so near to each other count as the same, in microseconds: a live
  /// binding writes a little later than its event, and a timer fires a little late.
  private static let tolerance: Int64 = 1_000_000

  /// Writes of one value because of one event are the same if they are this near, in microseconds: the
  /// daemon may have been busy.
  private static let delay: Int64 = 60_000_000

  /// The most writes that wait for their counterpart.
  private static let mostOpen = 10_000

  private struct Write {
    let time: Int64
    let value: JSONValue
    let row: Int?

    /// The events of which a write of the trial follows; `nil` if it follows from a time.
    var causes: ClosedRange<UInt64>?

    /// Whether the row has the value in truth.
    var isShown = false
  }

  private let limit: Int
  private(set) var rows: [TrialReport.Row] = []
  private(set) var counts = TrialReport.Counts()
  private var open: [String: (trial: [Write], truth: [Write])] = [:]
  private var openCount = 0

  /// - Parameter limit: The most rows.
  init(limit: Int) { self.limit = limit }

  /// Adds a write of the trial.
  mutating func addTrial(
    _ source: String, _ value: JSONValue, at time: Int64, because causes: ClosedRange<UInt64>?,
    by name: String?
  ) {
    counts.writes += 1
    if let match = open[source]?.truth.firstIndex(where: { $0.value == value }),
      let other = open[source]?.truth.remove(at: match)
    {
      openCount -= 1
      counts.same += 1
      return change(other.row) {
        $0.written = TrialReport.Written.both
        $0.binding = name
        $0.show(value, value)
      }
    }
    let row = addRow(source, at: time, by: name)
    change(row) { $0.show(value, nil) }
    open[source, default: ([], [])].trial.append(
      Write(time: time, value: value, row: row, causes: causes))
    openCount += 1
  }

  /// Adds a write of the trial that does not fit the type of its source.
  ///
  /// - Parameters:
  ///   - rule: The values that fit.
  ///   - truth: The value that the source has in truth.
  mutating func addRefusal(
    _ source: String, _ value: JSONValue, at time: Int64, rule: String, by name: String?,
    truth: JSONValue?
  ) {
    counts.refused += 1
    let row = addRow(source, at: time, by: name)
    change(row) {
      $0.written = TrialReport.Written.refused
      $0.rule = rule
      $0.show(value, truth)
    }
  }

  /// Adds a write that was made in truth.
  ///
  /// - Parameters:
  ///   - cause: The event of which it follows; `nil` if it is not known.
  ///   - tried: The value that the source has in the trial.
  mutating func addTruth(
    _ source: String, _ value: JSONValue, at time: Int64, because cause: UInt64?,
    by name: String?, tried: JSONValue?
  ) {
    let match = open[source]?.trial.firstIndex { write in
      write.value == value
        && (write.time >= time - Self.tolerance
          || cause.map { write.causes?.contains($0) == true } ?? false)
    }
    if let match,
      let other = open[source]?.trial.remove(at: match)
    {
      openCount -= 1
      counts.same += 1
      return change(other.row) {
        $0.written = TrialReport.Written.both
        $0.show(value, value)
      }
    }
    let row = addRow(source, at: time, by: name)
    change(row) {
      $0.written = TrialReport.Written.truth
      $0.show(tried, value)
    }
    open[source, default: ([], [])].truth.append(Write(time: time, value: value, row: row))
    openCount += 1
  }

  /// Ends the wait of writes for their counterpart.
  ///
  /// - Parameters:
  ///   - time: The present time; `nil` for the end of the trial.
  ///   - truth: Returns the value that a source has in truth.
  mutating func close(at time: Int64?, truth: (String) -> JSONValue?) {
    guard openCount > 0 else { return }
    let now = openCount > Self.mostOpen ? nil : time
    func isPast(_ write: Write, by delay: Int64) -> Bool {
      now.map { write.time < $0 - delay } ?? true
    }
    for (source, writes) in open {
      var rest = writes
      rest.trial.removeAll { isPast($0, by: $0.causes == nil ? Self.tolerance : Self.delay) }
      rest.truth.removeAll { isPast($0, by: Self.tolerance) }
      let ended = (writes.trial.count - rest.trial.count, writes.truth.count - rest.truth.count)
      counts.onlyTrial += ended.0
      counts.onlyTruth += ended.1
      openCount -= ended.0 + ended.1
      for write in writes.trial where !write.isShown && isPast(write, by: Self.tolerance) {
        change(write.row) { $0.show(write.value, truth(source)) }
      }
      for i in rest.trial.indices where isPast(rest.trial[i], by: Self.tolerance) {
        rest.trial[i].isShown = true
      }
      open[source] = rest.trial.isEmpty && rest.truth.isEmpty ? nil : rest
    }
  }

  private mutating func addRow(_ source: String, at time: Int64, by name: String?) -> Int? {
    guard rows.count < limit else {
      counts.more += 1
      return nil
    }
    rows.append(
      TrialReport.Row(
        time: Timestamp(microseconds: time).text, source: source, binding: name))
    return rows.count - 1
  }

  private mutating func change(_ row: Int?, _ body: (inout TrialReport.Row) -> Void) {
    if let row { body(&rows[row]) }
  }
}

/// The result of a trial.
struct TrialReport: Codable, Sendable {
  /// The origin of a write.
  enum Written {
    static let (trial, truth, both, refused) = ("trial", "truth", "both", "refused")
  }

  /// A write.
  struct Row: Codable, Sendable {
    let time: String
    let source: String

    /// The name of the binding in its file; the expression of the one that has written in truth.
    var binding: String?

    /// The value in the trial, and the one in truth; `nil` if there is none, or if one is long.
    private(set) var value: JSONText?
    private(set) var truth: JSONText?

    /// Whether a value is too long to be shown.
    private(set) var long: Bool?
    var written = Written.trial

    /// The values that fit the type of the source, if the value of the trial does not.
    var rule: String?

    init(time: String, source: String, binding: String?) {
      (self.time, self.source, self.binding) = (time, source, binding)
    }

    /// The longest value that is shown, in bytes.
    private static let maxShown = 256

    mutating func show(_ value: JSONValue?, _ truth: JSONValue?) {
      let isLong = [value, truth].contains { $0?.hasMoreBytes(than: Self.maxShown) == true }
      long = isLong ? true : nil
      (self.value, self.truth) = isLong ? (nil, nil) : (value?.text, truth?.text)
    }
  }

  /// The numbers of writes.
  struct Counts: Codable, Sendable {
    /// The writes of the trial.
    var writes = 0

    /// Those of them that were made in truth too.
    var same = 0
    var onlyTrial = 0
    var onlyTruth = 0

    /// The writes that do not fit the type of their source; they are not among `writes`.
    var refused = 0

    /// The writes that are not in the rows.
    var more = 0

    private enum CodingKeys: String, CodingKey {
      case writes, same, more
      case onlyTrial = "only_trial"
      case onlyTruth = "only_truth"
      case refused
    }
  }

  /// The times between which it ran.
  let from: String
  let until: String

  /// The number of events that were read.
  let events: Int
  let milliseconds: Int
  let counts: Counts
  var rows: [Row]

  /// The number of values that a transformer refused, and the first error.
  let faults: Int
  let fault: String?

  /// The limit at which it ended early; `nil` if it has reached the end.
  let stopped: String?

  /// The sources that never had a value, and that no binding of the trial writes; `nil` for none.
  var noValue: [String]?

  private enum CodingKeys: String, CodingKey {
    case from, until, events, milliseconds, counts, rows, faults, fault, stopped
    case noValue = "no_value"
  }
}
