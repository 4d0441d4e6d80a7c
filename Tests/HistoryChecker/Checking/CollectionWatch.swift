internal import JSON

/// A subscription to a list or a map.
///
/// The steps applied to the last value must give the current one.
struct CollectionWatch: Watch {
  private let name: String
  private let source: String
  private let isPaced: Bool
  private var seq: Int
  private var value: Value

  /// Whether all parts of the value have arrived.
  private var isWhole: Bool

  init(_ name: String, _ source: String, _ value: Value, at seq: Int, isWhole: Bool, isPaced: Bool)
  {
    (self.name, self.source, self.value, self.seq) = (name, source, value, seq)
    (self.isWhole, self.isPaced) = (isWhole, isPaced)
  }

  mutating func take(_ notice: Notice, _ timeline: Timeline) throws(Violation) {
    if let part = notice.params["part"]?.members { return try take(part, notice, timeline) }
    guard isWhole else {
      throw Violation(.steps, "\(name) received a step before the last part")
    }
    let place = try notice.position(after: seq, name)
    let steps = notice.params["changes"]?.elements ?? []
    for step in steps {
      let before = value
      guard value.apply(Step(change: step)) else {
        throw Violation(
          .steps, "\(name) received \(step) at \(place), which does not fit \(before)")
      }
    }
    if let changes = timeline.changes(of: source, after: seq, upTo: place) {
      guard steps.count + notice.skipped == changes.count else {
        throw Violation(
          .skipped,
          "\(name) received \(steps.count) steps at \(place) and \(notice.skipped) left out, of \(changes.count)"
        )
      }
    }
    seq = place
    isWhole = notice.params["more"] == nil
    try check(timeline)
  }

  private mutating func take(
    _ part: [String: JSONText], _ notice: Notice, _ timeline: Timeline
  ) throws(Violation) {
    guard !isWhole, notice.seq == seq else {
      throw Violation(
        .steps, "\(name) received a part at \(notice.seq ?? 0) that belongs to nothing")
    }
    switch (value, Value(part["value"], of: source)) {
    case (.list(let known), .list(let more)):
      guard part["at"]?.int == known.count else {
        throw Violation(.steps, "\(name) received a part that does not go on at \(known.count)")
      }
      value = .list(known + more)
    case (.map(let known), .map(let more)): value = .map(known.merging(more) { $1 })
    default: break
    }
    isWhole = part["last"]?.bool ?? false
    try check(timeline)
  }

  private func check(_ timeline: Timeline) throws(Violation) {
    guard isWhole, let expected = timeline.value(of: source, at: seq), value != expected else {
      return
    }
    throw Violation(.steps, "\(name) has \(value) at \(seq), and it is \(expected)")
  }

  func checkShown(upTo last: Int, asOf now: Int, _ timeline: Timeline) throws(Violation) {
    guard !isPaced, seq < last, let expected = timeline.value(of: source, at: last),
      expected != value
    else { return }
    throw Violation(.stale, "\(name) was shown \(value), and it is \(expected) at \(last)")
  }
}
