internal import Connections
internal import EventSourcing
internal import JSON
internal import Model
internal import Wire

/// The events of a filter as entries, each encoded once for all filters.
final class EventLogFeed: LogFeed {
  private let feed: EventFeed
  private let withOrigin: Bool

  init(_ feed: EventFeed, withOrigin: Bool) { (self.feed, self.withOrigin) = (feed, withOrigin) }

  var onNews: (() -> Void)? {
    get { feed.onNews }
    set { feed.onNews = newValue }
  }
  var hasNews: Bool { feed.hasNews }

  func collect(until isOver: () -> Bool, _ receive: (LogEntry) -> Void) -> UInt64? {
    feed.collect(until: isOver) { receive(entry(of: $0)) }
  }

  private func entry(of recent: RecentEvent) -> LogEntry {
    let known = withOrigin ? recent.lineWithOrigin : recent.line
    if let known { return LogEntry(seq: recent.seq, tail: known, data: recent.event.data) }
    let entry = LogEntry(recent.event, withOrigin: withOrigin)
    if withOrigin { recent.lineWithOrigin = entry.tail } else { recent.line = entry.tail }
    return entry
  }

  func end() { feed.end() }
}

/// Each change of the sources of a pattern as an entry.
final class ChangeLogFeed: LogFeed {
  private let feed: (any ChangeFeed)?
  private let isWanted: (String) -> Bool
  private let position: () -> UInt64

  /// - Parameters:
  ///   - feed: The changes; `nil` if there are none.
  ///   - position: Returns the position of the last durable event.
  init(
    _ feed: (any ChangeFeed)?, where isWanted: @escaping (String) -> Bool,
    position: @escaping () -> UInt64
  ) {
    (self.feed, self.isWanted, self.position) = (feed, isWanted, position)
  }

  var onNews: (() -> Void)? {
    get { feed?.onNews }
    set { feed?.onNews = newValue }
  }
  var hasNews: Bool { feed?.hasNews ?? false }

  func collect(until isOver: () -> Bool, _ receive: (LogEntry) -> Void) -> UInt64? {
    guard let feed else { return nil }
    if feed.hasJoined {
      // Not each change is there any more.
      feed.removeAll()
      return position()
    }
    while let change = feed.next(until: isOver)?.newest {
      feed.removeNext()
      if isWanted(change.source) { receive(LogEntry(change, false)) }
      if isOver() { break }
    }
    return nil
  }

  func end() { feed?.end() }
}
