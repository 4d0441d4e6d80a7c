internal import Configuration
internal import EventSourcing
internal import Model
internal import Signals
internal import Wire

extension SourceProvider {
  /// Returns the sources restricted to those that a role may read; the others appear not to exist.
  ///
  /// - Returns: `nil` if the role may neither read nor write any of them.
  func restricted(to role: Role) -> SourceProvider? {
    guard !role.read.allowsAll else { return self }
    let visible = descriptions.filter { description in
      Pattern(description.name).map { role.read.mayAllow($0) || role.write.mayAllow($0) } ?? false
    }
    guard !visible.isEmpty else { return nil }
    return SourceProvider(
      descriptions: visible, isJournaled: isJournaled,
      exists: { [exists] in role.mayRead($0) && exists($0) },
      value: { [value] in role.mayRead($0) ? value($0) : nil },
      now: { [now] in role.mayRead($0) ? now($0) : nil },
      newest: { [newest] in role.mayRead($0) ? newest($0) : nil },
      collection: { [collection] in role.mayRead($0) ? collection($0) : nil },
      search: { [search] pattern, excluded, place, body throws(NameIndex.TooVain) in
        let excluded = excluded + role.read.deny.map(\.pattern)
        let allowed = role.read.allow.map(\.pattern)
        var isOver = false
        for (i, rule) in allowed.enumerated() where !isOver && i >= place.part {
          place.begin(part: i)
          guard let both = pattern.intersection(with: rule) else { continue }
          // Names that an earlier rule allows were already found.
          try search(both, excluded + allowed[..<i], &place) { name in
            isOver = !body(name)
            return !isOver
          }
        }
      },
      canSearchGoOn: canSearchGoOn,
      neighbours: { [neighbours] in neighbours($0).filter(role.mayRead) },
      changes: { [changes] in
        role.mayRead($0) ? changes($0) : Signal { _ in NonDisposable.instance }
      },
      changesMatching: { [changesMatching] pattern in
        changesMatching(pattern).filter { role.mayRead($0.source) }
      },
      collected: Collected(
        feeds: { [collected] in collected.feeds($0).map { ReadableFeed($0, role) } },
        others: { [collected] in collected.others($0).filter { role.mayRead($0.source) } }),
      hides: { [exists] in !role.mayRead($0) && exists($0) })
  }
}

/// The changes of a feed that a role may read.
private final class ReadableFeed: ChangeFeed {
  private let feed: any ChangeFeed
  private let role: Role

  init(_ feed: any ChangeFeed, _ role: Role) { (self.feed, self.role) = (feed, role) }

  var onNews: (() -> Void)? {
    get { feed.onNews }
    set { feed.onNews = newValue }
  }
  var hasNews: Bool { feed.hasNews }
  var hasJoined: Bool { feed.hasJoined }

  func next(until isOver: () -> Bool) -> ChangeRun? {
    while let changes = feed.next(until: isOver) {
      if role.mayRead(changes.newest.source) { return changes }
      feed.removeNext()
      if isOver() { return nil }
    }
    return nil
  }

  func removeNext() { feed.removeNext() }
  func removeAll() { feed.removeAll() }
  func end() { feed.end() }
}
