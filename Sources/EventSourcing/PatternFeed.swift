internal import Model

/// The feeds of one pattern.
final class FeedPlace {
  private(set) var feeds: [PatternFeed] = []

  /// Whether each feed knows that there are changes to collect.
  private(set) var isNoted = false

  func append(_ feed: PatternFeed) {
    feeds.append(feed)
    isNoted = false
  }

  func remove(_ feed: PatternFeed) { feeds.removeAll { $0 === feed } }

  /// Notes a change for all feeds.
  func announce(_ number: UInt64) {
    isNoted = true
    for feed in feeds { feed.announce(number) }
  }

  fileprivate func hasCollected() { isNoted = false }
}

/// The changes of the sources of a pattern, from the log of a ledger.
final class PatternFeed: ChangeFeed {
  private let pattern: Pattern
  private let log: ChangeLog
  private let place: FeedPlace
  private let onEnd: (PatternFeed) -> Void
  var onNews: (() -> Void)?

  /// The number of the first change that was not looked at; `nil` if there is none.
  private var from: UInt64?

  /// The number of the changes that are next.
  private var found: UInt64?

  init(
    _ pattern: Pattern, _ log: ChangeLog, at place: FeedPlace,
    onEnd: @escaping (PatternFeed) -> Void
  ) {
    (self.pattern, self.log, self.place, self.onEnd) = (pattern, log, place, onEnd)
  }

  var hasNews: Bool { from != nil }

  var hasJoined: Bool { from.map { $0 <= log.lastJoined } ?? false }

  fileprivate func announce(_ number: UInt64) {
    guard from == nil else { return }
    from = number
    log.feedFellBehind()
    onNews?()
  }

  func next(until isOver: () -> Bool) -> ChangeRun? {
    guard let from else { return nil }
    var next = log.place(from: from)
    while let place = next {
      let run = log[place]
      if run.number == found || pattern.matches(run.newest.source) {
        (self.from, found) = (run.number, run.number)
        return run
      }
      self.from = run.number + 1
      if run.number < log.last, isOver() { return nil }
      next = log.place(after: place)
    }
    removeAll()
    return nil
  }

  func removeNext() {
    guard let found else { return }
    self.found = nil
    if found >= log.last { removeAll() } else { from = found + 1 }
  }

  func removeAll() {
    guard from != nil else { return }
    (from, found) = (nil, nil)
    place.hasCollected()
    log.feedCaughtUp()
  }

  func end() {
    removeAll()
    onEnd(self)
  }
}
