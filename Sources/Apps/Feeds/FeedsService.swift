package import Binder
internal import Signals

/// Podcasts and news: the subscribed feeds and their episodes.
///
/// Subscriptions, episodes and played marks are journaled. Loading states are not; see
/// ``states(of:)``.
package final class FeedsService {
  /// The maximum number of feeds, and of episodes in each; the oldest episodes are dropped.
  package static let maxCount = 1000
  package static let maxEpisodes = 500

  /// The maximum length of an address in bytes.
  package static let maxAddressBytes = 1024

  package let ledger: Ledger<Feeds>

  let host: Host
  let web: any WebClient
  let reader: any FeedReader

  /// Emits the ids of feeds to fetch now.
  let wanted = PassthroughSubject<String, Never>()
  let interval: Property<Double>

  /// The fetch loops since the start of the daemon; see ``key(of:_:)``.
  var loads: [String: FeedLoad] = [:]

  /// The number of fetches begun.
  var fetches = 0

  /// Emits the ids of feeds that were subscribed to or unsubscribed from.
  let subscriptions = PassthroughSubject<String, Never>()
  private let observation = SerialDisposable(otherDisposable: nil)

  /// Fetches that run without observers.
  private let bag = DisposeBag()
  private var unwatched: (any Disposable)?

  /// The schedule of fetches; in addition, a feed is fetched when its first observer arrives.
  package struct Schedule: Equatable {
    /// The interval between two fetches of a feed, in seconds.
    package var interval: Double

    /// Whether feeds without observers are fetched too.
    package var unwatched: Bool

    package init(interval: Double = 1800, unwatched: Bool = false) {
      (self.interval, self.unwatched) = (interval, unwatched)
    }
  }

  package init(
    in host: Host, web: any WebClient, reader: any FeedReader, schedule: Schedule = Schedule()
  ) {
    (self.host, self.web, self.reader, self.schedule) = (host, web, reader, schedule)
    interval = Property(schedule.interval)
    ledger = Ledger("feeds", in: host)
    let changes: SafeSignal<EventContext> = ledger.events.compactMap { event, context in
      switch event {
      case .subscribed, .unsubscribed: context
      default: nil
      }
    }
    observation.otherDisposable = changes.merge(with: ledger.restored)
      .observeNext { [subscriptions] context in
        if let id: String = context.key() { subscriptions.send(id) }
      }
    host.whileRunning { [unowned self] in
      start()
      return BlockDisposable { [unowned self] in stop() }
    }
  }

  /// The fetch schedule; a new interval takes effect at once and fetches all observed feeds.
  package var schedule: Schedule {
    didSet {
      if interval.value != schedule.interval { interval.value = schedule.interval }
      if unwatched != nil { start() }
    }
  }

  /// Begins to fetch unobserved feeds if the schedule requires it.
  private func start() {
    unwatched?.dispose()
    unwatched =
      schedule.unwatched
      ? states(where: { _ in true }).observeNext { _ in } : NonDisposable.instance
  }

  /// Ends all fetches that run without observers.
  package func stop() {
    unwatched?.dispose()
    unwatched = nil
    bag.dispose()
  }

  // MARK: Subscriptions

  /// Subscribes to a feed and fetches it once.
  ///
  /// - Parameter id: The id of the feed; `nil` for the next free number.
  /// - Returns: The id of the feed.
  package func subscribe(to url: String, as id: String? = nil) throws(FeedsError) -> String {
    let url = try FeedAddress(url).text
    let feeds = ledger.pending.feeds
    if let id {
      guard Self.isID(id) else { throw .badID }
      guard feeds[id] == nil else { throw .exists(id: id) }
    }
    if let known = feeds.keys.first(where: { feeds[$0]?.url == url }) {
      throw .subscribed(url: url, id: known)
    }
    guard feeds.count < Self.maxCount else { throw .tooMany(max: Self.maxCount) }
    if let max = host.exhaustedShare(
      of: Self.maxCount, { uid in feeds.rows.count { $0.maker == uid } })
    {
      throw .tooManyOfUser(max: max)
    }
    let id = id ?? freeNumber
    ledger.record(.subscribed(url: url), of: \.feeds, id)
    fetchWhenDurable(id)
    return id
  }

  /// Ends a subscription and removes its episodes.
  ///
  /// - Returns: The address of the feed.
  package func unsubscribe(_ id: String) throws(FeedsError) -> String {
    let url = try entry(id).url
    loads[key(of: id, url)] = nil
    ledger.record(.unsubscribed, of: \.feeds, id)
    return url
  }

  /// Fetches a feed or all wanted feeds now, observed or not.
  ///
  /// - Returns: The number of feeds.
  package func refresh(
    _ id: String? = nil, where isWanted: (String) -> Bool = { _ in true }
  ) throws(FeedsError) -> Int {
    if let id { _ = try entry(id) }
    let ids = id.map { [$0] } ?? ledger.pending.ids.filter(isWanted).sorted()
    for id in ids { fetch(id) }
    return ids.count
  }

  /// Marks an episode, or all episodes of a feed, as played or not.
  ///
  /// - Parameter number: The number of the episode; `nil` for all.
  /// - Returns: The number of changed episodes.
  package func mark(
    _ id: String, _ number: Int? = nil, played: Bool = true
  ) throws(FeedsError) -> Int {
    _ = try entry(id)
    let episodes = ledger.pending.episodes(of: id)
    if let number, !episodes.contains(where: { $0.id == number }) {
      throw .noEpisode(number, id: id)
    }
    var count = 0
    for (i, episode) in episodes.enumerated()
    where episode.played != played && (number == nil || number == episode.id) {
      ledger.record(.marked(at: i, id: episode.id, played: played), of: \.feeds, id)
      count += 1
    }
    return count
  }

  /// Returns a feed from the pending state, which includes events that are not durable yet.
  package func feed(_ id: String) throws(FeedsError) -> Feed {
    guard let feed = ledger.pending.feed(id) else { throw .unknown(id: id) }
    return feed
  }

  private func entry(_ id: String) throws(FeedsError) -> Feeds.Entry {
    guard let entry = ledger.pending.feeds[id] else { throw .unknown(id: id) }
    return entry
  }

  private var freeNumber: String {
    var number = ledger.pending.feeds.count + 1
    while ledger.pending.feeds.contains("\(number)") { number += 1 }
    return "\(number)"
  }

  // MARK: Unobserved fetches

  private func fetchWhenDurable(_ id: String) {
    // The subscription may never become durable: its command can still be rolled back.
    host.durability().observe { [unowned self] event in
      guard case .next = event, ledger.committed.feeds.contains(id) else { return }
      // Deferred until all services have handled the new events.
      host.scheduler.schedule { [unowned self] in fetch(id) }.dispose(in: bag)
    }
    .dispose(in: bag)
  }

  /// Fetches a feed; if it has no observers, observes it until the fetch is done.
  private func fetch(_ id: String) {
    let before = fetches
    wanted.send(id)
    guard fetches == before else { return }
    var hasBegun = false
    states(of: id).prefix(while: { state in
      let isLoading = state?.isLoading ?? false
      defer { hasBegun = hasBegun || isLoading }
      return isLoading || !hasBegun && state != nil
    })
    .observe { _ in }
    .dispose(in: bag)
  }

  /// Returns whether a text is a valid feed id.
  private static func isID(_ text: String) -> Bool {
    1...64 ~= text.utf8.count
      && text.unicodeScalars.allSatisfy {
        $0.isASCII && ($0.properties.isAlphabetic || "0123456789_.:-".unicodeScalars.contains($0))
      }
  }
}
