internal import JSON

/// A subscription to a value.
///
/// Each sent value must be that of its position, and the number of skipped changes must be right.
struct StateWatch: Watch {
  private let name: String
  private let source: String
  private let isDistinct: Bool
  private let isPaced: Bool
  private var seq: Int
  private var value: Value

  init(
    _ name: String, _ source: String, _ value: Value, at seq: Int, isDistinct: Bool, isPaced: Bool
  ) {
    (self.name, self.source, self.value, self.seq) = (name, source, value, seq)
    (self.isDistinct, self.isPaced) = (isDistinct, isPaced)
  }

  mutating func take(_ notice: Notice, _ timeline: Timeline) throws(Violation) {
    let place = try notice.position(after: seq, name)
    try timeline.check(notice.params["value"], of: source, at: place, name)
    let new = Value(notice.params["value"], of: source)
    if isDistinct, new == value {
      throw Violation(.value, "\(name) is shown \(new) again at \(place)")
    }
    if let changes = timeline.changes(of: source, after: seq, upTo: place) {
      try check(notice.skipped, changes, at: place)
    }
    (seq, value) = (place, new)
  }

  private func check(
    _ skipped: Int, _ changes: [Timeline.Change], at place: Int
  ) throws(Violation) {
    guard changes.last?.seq == place else {
      throw Violation(.value, "\(name) is shown a change at \(place), where there is none")
    }
    // A change back to the last sent value is not sent, and restarts the count.
    let left = changes.count - 1
    let swallowed = changes.dropLast().indices.filter { isDistinct && changes[$0].value == value }
    guard skipped == left || swallowed.contains(where: { left - $0 - 1 == skipped }) else {
      throw Violation(
        .skipped, "\(name) was informed at \(place) that \(skipped) were left out, and \(left) were"
      )
    }
  }

  func checkShown(upTo last: Int, asOf now: Int, _ timeline: Timeline) throws(Violation) {
    guard !isPaced, seq < last, let expected = timeline.value(of: source, at: last),
      expected != value,
      // If the value has changed back to the last sent one, nothing is sent.
      let later = timeline.changes(of: source, after: last, upTo: now),
      !isDistinct || !later.contains(where: { $0.value == value })
    else { return }
    throw Violation(
      .stale, "\(name) was shown \(value), and it is \(expected) from \(last) to \(now)")
  }
}

/// A subscription to all sources of a pattern.
struct PatternWatch: Watch {
  private let name: String
  private let pattern: String
  private let isDistinct: Bool
  private let isPaced: Bool
  private let isCounted: Bool
  private let start: Int
  private var shown: [String: Int] = [:]

  /// - Parameter isCounted: Whether the number of skipped changes must be exact.
  init(
    _ name: String, _ pattern: String, isDistinct: Bool, isPaced: Bool, isCounted: Bool,
    at seq: Int
  ) {
    (self.name, self.pattern, start) = (name, pattern, seq)
    (self.isDistinct, self.isPaced, self.isCounted) = (isDistinct, isPaced, isCounted)
  }

  mutating func take(_ notice: Notice, _ timeline: Timeline) throws(Violation) {
    guard let source = notice.params["source"]?.string, source.matches(pattern) else {
      throw Violation(.value, "\(name) received \(notice.params["source"]?.text ?? "nothing")")
    }
    let last = shown[source] ?? start
    let place = try notice.position(after: last, name)
    try timeline.check(notice.params["value"], of: source, at: place, name)
    shown[source] = place
    guard let changes = timeline.changes(of: source, after: last, upTo: place) else { return }
    guard changes.last?.seq == place else {
      throw Violation(.value, "\(name) is shown a change at \(place), where there is none")
    }
    let left = leftOut(of: changes, since: timeline.value(of: source, at: last) ?? .none) ?? 0
    let isExact = isCounted && !source.hasPrefix("lists/") && !source.hasPrefix("maps/")
    guard isExact ? notice.skipped == left : notice.skipped < changes.count else {
      throw Violation(
        .skipped,
        "\(name) was informed at \(place) that \(notice.skipped) of \(source) were left out, and \(left) were"
      )
    }
  }

  /// Returns the number of changes that count as skipped when the last of them is sent.
  ///
  /// Changes to an equal value do not count, nor sources that were added and removed meanwhile.
  private func leftOut(of changes: [Timeline.Change], since first: Value) -> Int? {
    var (before, left, isNew) = (first, Int?.none, false)
    for change in changes {
      defer { before = change.value }
      guard !isDistinct || change.value != before else { continue }
      guard let count = left else {
        (left, isNew) = (0, before.isAbsent)
        continue
      }
      left = isNew && change.value.isAbsent ? nil : count + 1
    }
    return left
  }

  func checkShown(upTo seq: Int, asOf now: Int, _ timeline: Timeline) throws(Violation) {
    guard !isPaced else { return }
    for source in timeline.sources where source.matches(pattern) {
      let last = shown[source] ?? start
      guard last < seq, let then = timeline.value(of: source, at: last),
        let expected = timeline.value(of: source, at: seq), then != expected,
        // A source that was added and removed meanwhile is not sent.
        let later = timeline.changes(of: source, after: seq, upTo: now),
        !then.isAbsent || !later.contains(where: { $0.value.isAbsent })
      else { continue }
      throw Violation(
        .stale,
        "\(name) was shown \(source) as \(then), and it is \(expected) from \(seq) to \(now)")
    }
  }
}
