internal import Journal
public import Model
internal import Signals

/// The observers of changes, indexed by source and by pattern.
///
/// The cost of a change depends only on its observers.
@usableFromInline
final class Watchers {
  typealias Changes = PassthroughSubject<SourceChange, Never>

  /// The names of all streams; see ``Names/Holder/watcher``.
  private let names: Names

  @usableFromInline
  init(_ names: Names, in host: ServiceHost) {
    self.names = names
    log = ChangeLog { [weak host] in host?.free($0) }
  }

  /// The observers by the number of a source's name.
  private var bySource: [Int: Changes] = [:]
  private let byPattern = PatternIndex<Changes>()

  /// The observers of patterns that collect the changes in their own time.
  private let feeds = PatternIndex<FeedPlace>()
  private let log: ChangeLog

  /// The last source whose feeds all knew of changes, as long as none of them has collected.
  private var announced: (source: String, collections: UInt64)?

  @usableFromInline
  var isEmpty: Bool { bySource.isEmpty && byPattern.isEmpty && feeds.isEmpty }

  /// Returns whether somebody observes the source with a number.
  @usableFromInline
  func isWatched(_ number: Int) -> Bool {
    if names.isHeld(number, by: .watcher) { return true }
    guard !byPattern.isEmpty || !feeds.isEmpty else { return false }
    let names = names
    return byPattern.hasMatch(for: names[number]) || feeds.hasMatch(for: names[number])
  }

  /// Returns whether somebody observes a source.
  @usableFromInline
  func isWatched(_ source: String) -> Bool {
    if let number = names.number(of: source) { return isWatched(number) }
    return byPattern.hasMatch(for: source.utf8.span) || feeds.hasMatch(for: source.utf8.span)
  }

  @usableFromInline
  func send(_ change: SourceChange) {
    if let number = names.number(of: change.source), names.isHeld(number, by: .watcher) {
      bySource[number]?.send(change)
    }
    if !feeds.isEmpty { keep(change) }
    guard !byPattern.isEmpty else { return }
    // Collected first, because observers may add or remove patterns.
    var changes: [Changes] = []
    byPattern.forEachMatch(for: change.source.utf8.span) { changes.append($0) }
    for changes in changes { changes.send(change) }
  }

  /// Keeps a change for the feeds that want it.
  ///
  /// A feed that knows of changes already costs little: only its place is looked at.
  private func keep(_ change: SourceChange) {
    if let announced, announced.source == change.source,
      announced.collections == log.collections
    {
      _ = log.append(change)
      return
    }
    var (isWanted, places) = (false, [FeedPlace]())
    feeds.forEachMatch(for: change.source.utf8.span) { place in
      isWanted = true
      if !place.isNoted { places.append(place) }
    }
    guard isWanted else { return }
    let number = log.append(change)
    for place in places { place.announce(number) }
    announced = (change.source, log.collections)
  }

  /// Returns the changes of the sources that match a pattern, to be collected.
  func feed(of pattern: Pattern) -> PatternFeed {
    announced = nil
    let place = feeds[pattern] ?? FeedPlace()
    feeds[pattern] = place
    let feed = PatternFeed(pattern, log, at: place) { [weak self] feed in
      place.remove(feed)
      if place.feeds.isEmpty, self?.feeds[pattern] === place { self?.feeds[pattern] = nil }
    }
    place.append(feed)
    return feed
  }

  func changes(of source: String) -> Signal<SourceChange, Never> {
    Signal { [self] observer in
      let number = names.add(source)
      names.hold(number, by: .watcher)
      let changes = bySource[number] ?? Changes()
      bySource[number] = changes
      let observation = changes.observe(with: observer.on)
      return BlockDisposable { [self] in
        observation.dispose()
        guard !changes.hasObservers, bySource.removeValue(forKey: number) != nil else { return }
        names.drop(number, by: .watcher)
      }
    }
  }

  func changes(matching pattern: Pattern) -> Signal<SourceChange, Never> {
    guard !pattern.isLiteral else { return changes(of: pattern.text) }
    return Signal { [self] observer in
      let changes = byPattern[pattern] ?? Changes()
      byPattern[pattern] = changes
      let observation = changes.observe(with: observer.on)
      return BlockDisposable { [self] in
        observation.dispose()
        if !changes.hasObservers { byPattern[pattern] = nil }
      }
    }
  }
}

/// The observers of durable events, indexed by stream or by type.
///
/// The cost of an event depends only on the number of its observers.
final class EventWatchers {
  private final class Watch {
    let filter: EventFilter
    let events = PassthroughSubject<JournalEvent, Never>()

    /// The last delivered position; it prevents duplicates when several patterns match.
    var lastSeq: UInt64 = 0

    init(_ filter: EventFilter) {
      self.filter = filter
    }
  }

  /// The observers of one pattern.
  private final class Watches {
    var all: [ObjectIdentifier: Watch] = [:]

    /// The readers that collect the events in their own time.
    let feeds = EventFeedPlace()

    var isEmpty: Bool { all.isEmpty && feeds.isEmpty }
  }

  private let byStream = PatternIndex<Watches>()
  private let byType = PatternIndex<Watches>(separator: ".")

  /// The observers without a pattern for streams or types.
  private let others = Watches()
  let recent = RecentEvents()
  private var count = 0

  var isEmpty: Bool { count == 0 }

  /// Emits the matching events from now on.
  func events(_ filter: EventFilter) -> Signal<JournalEvent, Never> {
    Signal { [self] observer in
      let watch = Watch(filter)
      add(watch)
      let observation = watch.events.observe(with: observer.on)
      return BlockDisposable { [self] in
        observation.dispose()
        remove(watch)
      }
    }
  }

  private func add(_ watch: Watch) {
    count += 1
    forEachPlace(of: watch.filter) { index, pattern in
      let watches = index[pattern] ?? Watches()
      watches.all[ObjectIdentifier(watch)] = watch
      index[pattern] = watches
    } otherwise: {
      others.all[ObjectIdentifier(watch)] = watch
    }
  }

  private func remove(_ watch: Watch) {
    count -= 1
    forEachPlace(of: watch.filter) { index, pattern in
      guard let watches = index[pattern] else { return }
      watches.all[ObjectIdentifier(watch)] = nil
      if watches.isEmpty { index[pattern] = nil }
    } otherwise: {
      others.all[ObjectIdentifier(watch)] = nil
    }
  }

  private func forEachPlace(
    of filter: EventFilter, _ body: (PatternIndex<Watches>, Pattern) -> Void,
    otherwise other: () -> Void
  ) {
    if let streams = filter.streams {
      for pattern in streams { body(byStream, pattern) }
    } else if let types = filter.types {
      for pattern in types { body(byType, pattern) }
    } else {
      other()
    }
  }

  /// Returns the matching events from now on, to be collected.
  ///
  /// The conditions of the filter are left to the reader.
  func feed(_ filter: EventFilter) -> EventFeed {
    count += 1
    let feed = EventFeed(filter, recent) { [weak self] feed in self?.remove(feed) }
    forEachPlace(of: filter) { index, pattern in
      let watches = index[pattern] ?? Watches()
      watches.feeds.append(feed)
      index[pattern] = watches
    } otherwise: {
      others.feeds.append(feed)
    }
    return feed
  }

  private func remove(_ feed: EventFeed) {
    count -= 1
    forEachPlace(of: feed.filter) { index, pattern in
      guard let watches = index[pattern] else { return }
      watches.feeds.remove(feed)
      if watches.isEmpty { index[pattern] = nil }
    } otherwise: {
      others.feeds.remove(feed)
    }
  }

  /// Delivers a record to its observers.
  func send(_ record: Record, _ forms: [String: EventForms]) {
    var (wanting, isFed, places) = ([Watch](), false, [EventFeedPlace]())
    func deliver(_ watches: Watches, types: (EventFilter) -> [Pattern]?) {
      if !watches.feeds.isEmpty {
        isFed = true
        if !watches.feeds.isNoted { places.append(watches.feeds) }
      }
      for watch in watches.all.values
      where watch.lastSeq != record.seq
        && watch.filter.wants(record, streams: nil, types: types(watch.filter))
      {
        watch.lastSeq = record.seq
        wanting.append(watch)
      }
    }
    deliver(others) { _ in nil }
    byStream.forEachMatch(for: record.stream.utf8.span) { deliver($0, types: \.types) }
    if !byType.isEmpty {
      byType.forEachMatch(for: EventType.name(of: record.type).utf8.span) {
        deliver($0) { _ in nil }
      }
    }
    if isFed {
      let place = recent.append(record, forms)
      for feeds in places { feeds.announce(place) }
    }
    guard !wanting.isEmpty else { return }
    let event = JournalEvent(record, forms)
    for watch in wanting where watch.filter.holds(for: event.data) { watch.events.send(event) }
  }
}
