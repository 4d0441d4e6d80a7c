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
  init(_ names: Names) {
    self.names = names
  }

  /// The observers by the number of a source's name.
  private var bySource: [Int: Changes] = [:]
  private let byPattern = PatternIndex<Changes>()

  @usableFromInline
  var isEmpty: Bool { bySource.isEmpty && byPattern.isEmpty }

  /// Returns whether somebody observes the source with a number.
  @usableFromInline
  func isWatched(_ number: Int) -> Bool {
    if names.isHeld(number, by: .watcher) { return true }
    guard !byPattern.isEmpty else { return false }
    let names = names
    return byPattern.hasMatch(for: names[number])
  }

  /// Returns whether somebody observes a source.
  @usableFromInline
  func isWatched(_ source: String) -> Bool {
    if let number = names.number(of: source) { return isWatched(number) }
    return byPattern.hasMatch(for: source.utf8.span)
  }

  @usableFromInline
  func send(_ change: SourceChange) {
    if let number = names.number(of: change.source), names.isHeld(number, by: .watcher) {
      bySource[number]?.send(change)
    }
    guard !byPattern.isEmpty else { return }
    // Collected first, because observers may add or remove patterns.
    var changes: [Changes] = []
    byPattern.forEachMatch(for: change.source.utf8.span) { changes.append($0) }
    for changes in changes { changes.send(change) }
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
  }

  private let byStream = PatternIndex<Watches>()
  private let byType = PatternIndex<Watches>(separator: ".")

  /// The observers without a pattern for streams or types.
  private let others = Watches()
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
    forEachPlace(of: watch) { index, pattern in
      let watches = index[pattern] ?? Watches()
      watches.all[ObjectIdentifier(watch)] = watch
      index[pattern] = watches
    }
  }

  private func remove(_ watch: Watch) {
    count -= 1
    forEachPlace(of: watch) { index, pattern in
      guard let watches = index[pattern] else { return }
      watches.all[ObjectIdentifier(watch)] = nil
      if watches.all.isEmpty { index[pattern] = nil }
    }
    others.all[ObjectIdentifier(watch)] = nil
  }

  private func forEachPlace(
    of watch: Watch, _ body: (PatternIndex<Watches>, Pattern) -> Void
  ) {
    if let streams = watch.filter.streams {
      for pattern in streams { body(byStream, pattern) }
    } else if let types = watch.filter.types {
      for pattern in types { body(byType, pattern) }
    } else {
      others.all[ObjectIdentifier(watch)] = watch
    }
  }

  /// Delivers a record to its observers.
  func send(_ record: Record, _ forms: [String: EventForms]) {
    var wanting: [Watch] = []
    func deliver(_ watches: Watches, types: (EventFilter) -> [Pattern]?) {
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
    guard !wanting.isEmpty else { return }
    let event = JournalEvent(record, forms)
    for watch in wanting where watch.filter.holds(for: event.data) { watch.events.send(event) }
  }
}
