internal import Journal

/// A durable event that readers with different filters share until all have collected it.
package final class RecentEvent {
  fileprivate let record: Record
  private let forms: [String: EventForms]
  package private(set) lazy var event = JournalEvent(record, forms)

  /// The event as clients get it, without and with its origin; encoded by the first reader.
  package var (line, lineWithOrigin): (String?, String?) = (nil, nil)

  fileprivate init(_ record: Record, _ forms: [String: EventForms]) {
    (self.record, self.forms) = (record, forms)
  }

  package var seq: UInt64 { record.seq }

  /// The approximate size in bytes, with the encoded lines.
  fileprivate var size: Int { 256 + 3 * record.data.utf8.count }
}

/// The events that readers with filters have not collected yet, each kept once.
///
/// If there are too many, the oldest are dropped; a reader that has not collected them reads the
/// journal.
final class RecentEvents {
  private static let mostBytes = 4 << 20

  /// Frees events that no reader collects any more, in the time of the user who recorded the last one.
  var free: (_ events: [RecentEvent], _ user: UInt32) -> Void = { _, _ in }

  private var events: [RecentEvent] = []

  /// The index of the first event among all.
  private(set) var start = 0

  /// The position of the last event that was dropped.
  private(set) var lastDropped: UInt64 = 0
  private var bytes = 0

  /// The number of feeds that have not collected all events.
  private var feedsBehind = 0

  var end: Int { start + events.count }

  subscript(place: Int) -> RecentEvent { events[place - start] }

  /// Adds an event and returns its index.
  func append(_ record: Record, _ forms: [String: EventForms]) -> Int {
    let event = RecentEvent(record, forms)
    events.append(event)
    bytes += event.size
    if bytes > Self.mostBytes { dropHalf() }
    return end - 1
  }

  private func dropHalf() {
    var count = 0
    while count < events.count - 1, bytes > Self.mostBytes / 2 {
      bytes -= events[count].size
      count += 1
    }
    guard count > 0 else { return }
    lastDropped = events[count - 1].seq
    let (dropped, kept) = (Array(events[..<count]), Array(events[count...]))
    events = kept
    start += count
    free(dropped)
  }

  private func free(_ events: consuming [RecentEvent]) {
    guard let user = events.last?.record.user else { return }
    free(events, user)
  }

  func feedFellBehind() { feedsBehind += 1 }

  func feedCaughtUp() {
    feedsBehind -= 1
    guard feedsBehind == 0 else { return }
    (start, bytes) = (end, 0)
    guard events.count > 64 else { return events.removeAll(keepingCapacity: true) }
    let collected = events
    events = []
    free(collected)
  }
}

/// The feeds with one pattern.
final class EventFeedPlace {
  private var feeds: [ObjectIdentifier: EventFeed] = [:]

  /// Whether each feed knows that there are events to collect.
  private(set) var isNoted = false

  var isEmpty: Bool { feeds.isEmpty }

  func append(_ feed: EventFeed) {
    feeds[ObjectIdentifier(feed)] = feed
    feed.places.append(self)
    isNoted = false
  }

  func remove(_ feed: EventFeed) { feeds[ObjectIdentifier(feed)] = nil }

  func announce(_ place: Int) {
    isNoted = true
    for feed in feeds.values { feed.announce(place) }
  }

  fileprivate func hasCollected() { isNoted = false }
}

/// The durable events that a filter wants, which a reader collects in its own time.
///
/// A commit only notes that there may be some, once for all filters with a pattern.
package final class EventFeed {
  let filter: EventFilter
  private let recent: RecentEvents
  private let onEnd: (EventFeed) -> Void

  /// The places at which the feed is noted.
  fileprivate var places: [EventFeedPlace] = []

  /// Called at the first event after all others were collected.
  package var onNews: (() -> Void)?

  /// The index of the next event to look at; `nil` if there is none.
  private var next: Int?

  init(_ filter: EventFilter, _ recent: RecentEvents, onEnd: @escaping (EventFeed) -> Void) {
    (self.filter, self.recent, self.onEnd) = (filter, recent, onEnd)
  }

  /// Whether events wait to be collected; the filter may refuse all of them.
  package var hasNews: Bool { next != nil }

  fileprivate func announce(_ place: Int) {
    guard next == nil else { return }
    next = place
    recent.feedFellBehind()
    onNews?()
  }

  /// Collects the next wanted events.
  ///
  /// - Parameters:
  ///   - isOver: Whether no time is left; the rest can be collected later.
  /// - Returns: The position of the last event that was dropped before it was collected; `nil` if
  ///   none was.
  package func collect(until isOver: () -> Bool, _ receive: (RecentEvent) -> Void) -> UInt64? {
    guard var place = next else { return nil }
    let dropped = place < recent.start ? recent.lastDropped : nil
    place = max(place, recent.start)
    while place < recent.end {
      let event = recent[place]
      if filter.wants(event.record, streams: filter.streams, types: filter.types) {
        receive(event)
      }
      place += 1
      if place < recent.end, isOver() {
        next = place
        return dropped
      }
    }
    catchUp()
    return dropped
  }

  private func catchUp() {
    guard next != nil else { return }
    next = nil
    for place in places { place.hasCollected() }
    recent.feedCaughtUp()
  }

  /// Ends the observation.
  package func end() {
    catchUp()
    onEnd(self)
    places = []
  }
}
